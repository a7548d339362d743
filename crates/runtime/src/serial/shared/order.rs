//! What the creation and the join of threads order: the one order that every schedule keeps.
//!
//! A thread's time goes on where it creates a thread or joins one. A *moment* is a stretch of a thread
//! between two of those, and has a number once something has happened in it.

use crate::memory;

/// Threads with larger numbers are not followed.
pub const THREADS: usize = 1024;
/// The bits of a moment's number.
pub const MOMENT_BITS: u32 = 20;
const MOMENTS: usize = 1 << MOMENT_BITS;

/// A moment; [`Moment::BEGINNING`] is before all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u32);

impl Moment {
    /// Before any thread ran.
    pub const BEGINNING: Moment = Moment(0);
}

/// What is before what.
pub struct Order {
    /// For each thread: up to which time of each thread all is before what it does now.
    clocks: *mut u32,
    times: *mut u32,
    /// 1 for threads that were joined.
    joined: *mut u8,
    /// The present moment of each thread, 0 if it has none yet.
    present: *mut u32,
    /// Of each moment: the thread and its time.
    moments: *mut [u32; 2],
    made: usize,
    threads: usize,
}

impl Order {
    /// Nothing, in no memory.
    pub const fn none() -> Self {
        Order {
            clocks: core::ptr::null_mut(),
            times: core::ptr::null_mut(),
            joined: core::ptr::null_mut(),
            present: core::ptr::null_mut(),
            moments: core::ptr::null_mut(),
            made: 1,
            threads: 1,
        }
    }

    /// Takes memory; false if there is none.
    pub fn begin(&mut self) -> bool {
        self.clocks = memory::pages(THREADS * THREADS);
        self.times = memory::pages(THREADS);
        self.joined = memory::pages(THREADS);
        self.present = memory::pages(THREADS);
        self.moments = memory::pages(MOMENTS);
        let all = [self.times, self.present, self.clocks];
        let all_there = all.iter().all(|part| !part.is_null());
        all_there && !self.joined.is_null() && !self.moments.is_null()
    }

    /// A part of the tables, which have room for all threads.
    fn clock(&mut self, thread: usize) -> &mut [u32; THREADS] {
        // SAFETY: callers have checked that the thread is below THREADS, `begin` has taken memory for so
        // many clocks, and only the thread that has the turn comes here.
        unsafe { &mut *self.clocks.add(thread * THREADS).cast() }
    }

    fn time(&mut self, thread: usize) -> &mut u32 {
        // SAFETY: as in `clock`.
        unsafe { &mut *self.times.add(thread) }
    }

    fn goes_on(&mut self, thread: usize) {
        *self.time(thread) += 1;
        // SAFETY: as in `clock`.
        unsafe { *self.present.add(thread) = 0 };
        self.threads = self.threads.max(thread + 1);
    }

    /// A thread creates another.
    pub fn fork(&mut self, parent: u32, child: u32) {
        let (parent, child) = (parent as usize, child as usize);
        if parent.max(child) >= THREADS || parent == child {
            return;
        }
        let now = *self.time(parent);
        let known = *self.clock(parent);
        let clock = self.clock(child);
        for (mine, theirs) in clock.iter_mut().zip(&known) {
            *mine = (*mine).max(*theirs);
        }
        clock[parent] = clock[parent].max(now + 1);
        self.goes_on(child);
        self.goes_on(parent);
    }

    /// A thread has waited for another one's end.
    pub fn join(&mut self, parent: u32, child: u32) {
        let (parent, child) = (parent as usize, child as usize);
        if parent.max(child) >= THREADS || parent == child {
            return;
        }
        let last = *self.time(child);
        let known = *self.clock(child);
        let clock = self.clock(parent);
        for (mine, theirs) in clock.iter_mut().zip(&known) {
            *mine = (*mine).max(*theirs);
        }
        clock[child] = clock[child].max(last + 1);
        // SAFETY: as in `clock`.
        unsafe { *self.joined.add(child) = 1 };
        self.goes_on(parent);
    }

    /// One more than the largest number of a thread that was seen.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The present moment of a thread; `None` if it is not followed.
    #[inline]
    pub fn now(&mut self, thread: u32) -> Option<Moment> {
        let thread = thread as usize;
        if thread >= THREADS {
            return None;
        }
        // SAFETY: as in `clock`.
        let present = unsafe { &mut *self.present.add(thread) };
        if *present == 0 {
            return self.begin_moment(thread);
        }
        Some(Moment(*present))
    }

    #[cold]
    fn begin_moment(&mut self, thread: usize) -> Option<Moment> {
        if self.made == MOMENTS {
            return None;
        }
        let (number, time) = (self.made, *self.time(thread));
        self.made += 1;
        self.threads = self.threads.max(thread + 1);
        // SAFETY: below MOMENTS, of which there are so many; as in `clock`.
        unsafe {
            *self.moments.add(number) = [thread as u32, time];
            *self.present.add(thread) = number as u32;
        }
        Some(Moment(number as u32))
    }

    /// Whose moment it is.
    #[inline]
    pub fn thread_of(&self, moment: Moment) -> u32 {
        // SAFETY: moments' numbers come from `begin_moment`, and the first one has a place, too.
        unsafe { (*self.moments.add(moment.0 as usize))[0] }
    }

    /// Whether all of a moment is before what a thread does now. (A moment of its own is.)
    #[inline]
    pub fn is_before(&mut self, moment: Moment, thread: u32) -> bool {
        if moment == Moment::BEGINNING {
            return true;
        }
        // SAFETY: moments' numbers come from `begin_moment`.
        let [other, time] = unsafe { *self.moments.add(moment.0 as usize) };
        other == thread || self.clock(thread as usize)[other as usize] > time
    }

    /// Whether all other threads were joined, and that is before what this one does now.
    pub fn is_alone(&mut self, thread: u32) -> bool {
        (0..self.threads).all(|other| {
            // SAFETY: as in `clock`.
            let is_joined = unsafe { *self.joined.add(other) } != 0;
            let last = *self.time(other);
            other == thread as usize || is_joined && self.clock(thread as usize)[other] > last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_and_join_order() {
        let mut order = Order::none();
        assert!(order.begin());
        let first = order.now(0).unwrap();
        order.fork(0, 1);
        let second = order.now(0).unwrap();
        assert_ne!(first, second);
        let of_child = order.now(1).unwrap();
        assert!(order.is_before(first, 1) && !order.is_before(second, 1));
        assert!(!order.is_before(of_child, 0) && order.is_before(of_child, 1));
        assert!(!order.is_alone(0) && !order.is_alone(1));
        order.join(0, 1);
        assert!(order.is_before(of_child, 0) && order.is_alone(0));
        order.fork(0, 2);
        assert!(order.is_before(of_child, 2) && !order.is_alone(0) && !order.is_alone(2));
    }

    #[test]
    fn threads_beyond_the_tables_are_not_followed() {
        let mut order = Order::none();
        assert!(order.begin());
        order.fork(0, THREADS as u32);
        order.join(0, THREADS as u32 + 1);
        assert_eq!(order.now(THREADS as u32), None);
    }
}
