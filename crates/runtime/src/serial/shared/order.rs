//! What creation and join of threads and the rounds of barriers order: the order that every schedule keeps.
//!
//! A thread's time goes on where it creates a thread, joins one, or leaves a barrier. A *moment* is a stretch
//! of a thread between two of those, and has a number once something has happened in it. An *epoch* is a
//! stretch of the whole run: a new one begins wherever a thread's time goes on.
//!
//! Who leaves a barrier comes after all who came to its round: schedules keep the rounds of the run
//! (`deadheat_predict`'s `model/barriers`). A barrier orders nothing here if its making was not seen, or if more
//! than one round has ended since its thread came.

use super::barriers::Barriers;
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
    barriers: Barriers,
    /// The present epoch.
    epoch: u32,
    /// For each thread: the last of its times in which anything has happened, the epoch in which that began, and
    /// the time before; of times one more, 0: there is none.
    active: *mut [u32; 3],
    /// For each thread, of each other: all that that one did before this epoch is before what it does now.
    horizons: *mut u32,
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
            barriers: Barriers::none(),
            epoch: 1,
            active: core::ptr::null_mut(),
            horizons: core::ptr::null_mut(),
        }
    }

    /// Takes memory; false if there is none.
    pub fn begin(&mut self) -> bool {
        self.clocks = memory::pages(THREADS * THREADS);
        self.times = memory::pages(THREADS);
        self.joined = memory::pages(THREADS);
        self.present = memory::pages(THREADS);
        self.moments = memory::pages(MOMENTS);
        self.active = memory::pages(THREADS);
        self.horizons = memory::pages(THREADS * THREADS);
        let all = [self.times, self.present, self.clocks, self.horizons];
        let all_there = all.iter().all(|part| !part.is_null());
        let others = !self.joined.is_null() && !self.moments.is_null() && !self.active.is_null();
        all_there && others && self.barriers.begin()
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

    /// Of each other thread: all that it did before this epoch is before what a thread does now.
    fn horizon(&mut self, thread: usize) -> &mut [u32; THREADS] {
        // SAFETY: as in `clock`.
        unsafe { &mut *self.horizons.add(thread * THREADS).cast() }
    }

    fn is_joined(&self, thread: usize) -> bool {
        // SAFETY: as in `clock`.
        unsafe { *self.joined.add(thread) != 0 }
    }

    fn goes_on(&mut self, thread: usize) {
        *self.time(thread) += 1;
        // SAFETY: as in `clock`.
        unsafe { *self.present.add(thread) = 0 };
        self.threads = self.threads.max(thread + 1);
    }

    /// A thread has learned what another one's clock says, and that this one is so far.
    fn learn(&mut self, thread: usize, known: &[u32; THREADS]) {
        let threads = self.threads;
        let clock = self.clock(thread);
        for (mine, theirs) in clock.iter_mut().zip(known).take(threads) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Works out anew how far a thread knows what others did, by epochs.
    fn look_back(&mut self, thread: usize) {
        for other in (0..self.threads).filter(|other| *other != thread) {
            let (known, time) = (self.clock(thread)[other], *self.time(other));
            // SAFETY: as in `clock`.
            let [last, since, before] = unsafe { *self.active.add(other) };
            let horizon = match (last <= known, before <= known) {
                (true, _) if self.is_joined(other) && time < known => u32::MAX,
                // It has done nothing since; what it does next is in this epoch.
                (true, _) => self.epoch,
                (false, true) => since,
                (false, false) => 0,
            };
            let old = &mut self.horizon(thread)[other];
            *old = (*old).max(horizon);
        }
    }

    /// A thread creates another.
    pub fn fork(&mut self, parent: u32, child: u32) {
        let (parent, child) = (parent as usize, child as usize);
        if parent.max(child) >= THREADS || parent == child {
            return;
        }
        self.epoch += 1;
        self.threads = self.threads.max(parent.max(child) + 1);
        let now = *self.time(parent);
        let known = *self.clock(parent);
        self.learn(child, &known);
        let clock = self.clock(child);
        clock[parent] = clock[parent].max(now + 1);
        *self.horizon(child) = *self.horizon(parent);
        self.look_back(child);
        self.goes_on(child);
        self.goes_on(parent);
    }

    /// A thread has waited for another one's end.
    pub fn join(&mut self, parent: u32, child: u32) {
        let (parent, child) = (parent as usize, child as usize);
        if parent.max(child) >= THREADS || parent == child {
            return;
        }
        self.epoch += 1;
        self.threads = self.threads.max(parent.max(child) + 1);
        let last = *self.time(child);
        let known = *self.clock(child);
        self.learn(parent, &known);
        let clock = self.clock(parent);
        clock[child] = clock[child].max(last + 1);
        // SAFETY: as in `clock`.
        unsafe { *self.joined.add(child) = 1 };
        self.look_back(parent);
        self.goes_on(parent);
    }

    /// A barrier is made for so many threads, or is none any more.
    pub fn barrier(&mut self, object: usize, count: u64) {
        self.barriers.make(object, count);
    }

    /// A thread comes to a barrier.
    pub fn enter(&mut self, thread: u32, object: usize) {
        let thread = thread as usize;
        if thread >= THREADS {
            // Whom it waits for is not known.
            return self.barriers.make(object, 0);
        }
        let mut known = *self.clock(thread);
        known[thread] = *self.time(thread) + 1;
        self.barriers.enter(thread, object, &known);
    }

    /// A thread leaves a barrier.
    pub fn exit(&mut self, thread: u32, object: usize) {
        let thread = thread as usize;
        if thread >= THREADS {
            return;
        }
        self.epoch += 1;
        if let Some(mut known) = self.barriers.exit(thread, object) {
            known[thread] = 0;
            self.learn(thread, &known);
            self.look_back(thread);
        }
        // Others know what it did up to here, whatever it has learned.
        self.goes_on(thread);
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
            let active = &mut *self.active.add(thread);
            *active = [time + 1, self.epoch, active[0]];
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

    /// The present epoch, if it can be kept.
    #[inline]
    pub fn epoch(&self) -> Option<Moment> {
        ((self.epoch as usize) < MOMENTS).then_some(Moment(self.epoch))
    }

    /// Whether all that these threads have done in an epoch, and before, is before what a thread does now.
    #[inline]
    pub fn knows(&mut self, epoch: Moment, of: Threads, thread: u32) -> bool {
        let thread = thread as usize;
        thread < THREADS
            && (0..self.threads).all(|other| {
                other == thread || !of.has(other) || epoch.0 < self.horizon(thread)[other]
            })
    }
}

/// Some threads, and perhaps others that it does not tell from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(pub u16);

/// The bits of [`Threads`].
pub const THREADS_BITS: u32 = 12;

impl Threads {
    /// One.
    pub fn one(thread: u32) -> Self {
        Threads(1 << (thread % THREADS_BITS))
    }

    /// Those of both.
    pub fn with(self, other: Threads) -> Self {
        Threads(self.0 | other.0)
    }

    fn has(self, thread: usize) -> bool {
        self.0 >> (thread as u32 % THREADS_BITS) & 1 != 0
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
        let epoch = order.epoch().unwrap();
        let [parent, child] = [0, 1].map(Threads::one);
        assert!(!order.knows(epoch, child, 0) && !order.knows(epoch, parent, 1));
        order.join(0, 1);
        assert!(order.is_before(of_child, 0));
        assert!(order.knows(order.epoch().unwrap(), child, 0));
        order.fork(0, 2);
        let epoch = order.epoch().unwrap();
        assert!(order.is_before(of_child, 2) && order.knows(epoch, child, 2));
        assert!(!order.knows(epoch, Threads::one(2), 0) && !order.knows(epoch, parent, 2));
    }

    #[test]
    fn rounds_of_barriers_order() {
        let mut order = Order::none();
        assert!(order.begin());
        order.fork(0, 1);
        order.fork(0, 2);
        order.barrier(0x40, 2);
        let before = [order.now(1).unwrap(), order.now(2).unwrap()];
        let epoch = order.epoch().unwrap();
        order.enter(1, 0x40);
        order.enter(2, 0x40);
        order.exit(2, 0x40);
        assert!(order.is_before(before[0], 2) && !order.is_before(before[1], 1));
        let after = order.now(2).unwrap();
        // It may come again before others have left.
        order.enter(2, 0x40);
        order.exit(1, 0x40);
        assert!(order.is_before(before[1], 1) && !order.is_before(after, 1));
        order.join(0, 2);
        let one = Threads::one(1);
        assert!(order.knows(epoch, one, 0), "by the round");
        assert!(
            !order.knows(order.epoch().unwrap(), one, 0),
            "it was not joined"
        );
    }

    #[test]
    fn barriers_of_which_nothing_is_known_order_nothing() {
        let mut order = Order::none();
        assert!(order.begin());
        order.fork(0, 1);
        let before = order.now(1).unwrap();
        for thread in [0, 1] {
            order.enter(thread, 0x40);
        }
        order.exit(0, 0x40);
        assert!(!order.is_before(before, 0));
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
