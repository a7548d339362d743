//! The events of a plan in one row, and how they are recognised.
//!
//! An object in a module is known by its address; any other by its first use: a region that no event defines
//! is the object that the first event which names it is done to. Where addresses of modules differ from run to run,
//! their last twelve bits do not.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::Op;
use deadheat_wire::plan::Region;

use crate::memory;
pub use crate::serial::replay::Deed;
pub use crate::serial::replay::plan::Plan;
use crate::serial::replay::plan::Planned;

/// What stays the same of an address when its module is loaded elsewhere.
const WITHIN_PAGE: usize = 0xFFF;

/// A plan, with the place of each event in its order.
pub struct Row {
    /// The plan.
    pub plan: Plan,
    /// The place of each event.
    places: *mut u32,
    /// The event at each place, and whose it is.
    events: *mut u32,
    owners: *mut u32,
    length: usize,
    /// Changes when a thread of the plan is called.
    calls: *const AtomicU32,
    /// The objects, by region; 0 while unknown.
    objects: *const AtomicU64,
}

impl Row {
    /// The events of a wait at a condition: the lock's release, the wait, its end, the lock's acquisition.
    pub const WAIT: usize = 4;

    /// The size of a deed that gives a lock back in order to wait.
    pub const FOR_WAIT: usize = 1;

    /// Lays out a plan. `None` if it makes no sense, or there is no memory.
    pub fn of(plan: Plan) -> Option<Row> {
        let count = plan.events.len();
        (count < u32::MAX as usize).then_some(())?;
        let places: *mut u32 = memory::pages(count.max(1));
        let events: *mut u32 = memory::pages(count.max(1));
        let owners: *mut u32 = memory::pages(count.max(1));
        let calls: *const AtomicU32 = memory::pages(plan.threads.len().max(1));
        let done: *mut u64 = memory::pages(plan.threads.len().max(1));
        let objects: *const AtomicU64 = memory::pages(plan.header.regions.max(2) as usize);
        let missing = [places, events, owners].iter().any(|part| part.is_null())
            || done.is_null()
            || calls.is_null()
            || objects.is_null();
        (!missing).then_some(())?;
        let mut length = 0;
        for segment in plan.segments {
            let thread = &plan.threads[segment.thread as usize];
            (segment.upto <= thread.count).then_some(())?;
            // SAFETY: the plan's threads and events are as many as was mapped for; places are handed out once for
            // each event, so there are no more of them.
            unsafe {
                let done = &mut *done.add(segment.thread as usize);
                while *done < segment.upto {
                    let event = (thread.first + *done) as usize;
                    *places.add(event) = length as u32;
                    *events.add(length) = event as u32;
                    *owners.add(length) = segment.thread;
                    length += 1;
                    *done += 1;
                }
            }
        }
        (length == count).then_some(Row {
            plan,
            places,
            events,
            owners,
            length,
            calls,
            objects,
        })
    }

    /// How many events there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The number in the plan of one of its threads.
    pub fn id(&self, thread: usize) -> u32 {
        self.plan.threads[thread].id
    }

    /// The `number`th event of a thread.
    pub fn event(&self, thread: usize, number: u32) -> Option<usize> {
        let thread = &self.plan.threads[thread];
        (u64::from(number) < thread.count).then(|| thread.first as usize + number as usize)
    }

    /// When an event's turn is.
    pub fn place(&self, event: usize) -> u32 {
        // SAFETY: there are as many as events.
        unsafe { *self.places.add(event) }
    }

    /// Which of the plan's threads has the turn after so many events; none if there are no more.
    pub fn owner(&self, happened: u32) -> Option<usize> {
        // SAFETY: there are `length` places.
        ((happened as usize) < self.length)
            .then(|| unsafe { *self.owners.add(happened as usize) } as usize)
    }

    /// What a thread of the plan sleeps on.
    pub fn call(&self, thread: usize) -> &AtomicU32 {
        // SAFETY: callers have the index from the plan, whose threads all have one.
        unsafe { &*self.calls.add(thread) }
    }

    /// Whose turn it is after so many events, and how many of its own have happened then. The last thread's, if
    /// there are no more.
    pub fn whose(&self, happened: u32) -> (u32, u64) {
        if self.length == 0 {
            return (0, 0);
        }
        let place = (happened as usize).min(self.length - 1);
        // SAFETY: there are `length` places.
        let event = u64::from(unsafe { *self.events.add(place) });
        let mut threads = self.plan.threads.iter();
        let thread =
            threads.find(|thread| (thread.first..thread.first + thread.count).contains(&event));
        thread.map_or((0, 0), |thread| (thread.id, event - thread.first))
    }

    /// An event's operation.
    pub fn op(&self, event: usize) -> u8 {
        self.plan.planned(&self.plan.events[event]).op
    }

    /// The thread that an event creates or waits for.
    pub fn peer(&self, event: usize) -> u32 {
        self.plan.events[event].target as u32
    }

    /// Whether an event is an attempt in vain.
    pub fn is_refused(&self, event: usize) -> bool {
        let op = self.op(event);
        [Op::Refused, Op::ReadRefused, Op::TakeRefused]
            .iter()
            .any(|refused| *refused as u8 == op)
    }

    /// Whether a wait at a condition begins with an event.
    pub fn is_wait(&self, event: usize) -> bool {
        let is_there = event + 1 < self.plan.events.len();
        self.op(event) == Op::Release as u8 && is_there && self.op(event + 1) == Op::Wait as u8
    }

    /// Whether what a thread is about to do is this event.
    pub fn is_it(&self, event: usize, deed: &Deed) -> bool {
        // A lock is given back by itself, or for a wait. What follows the last event of a thread is not known.
        let fits = deed.op != Op::Release as u8
            || self.is_wait(event) == (deed.size == Self::FOR_WAIT)
            || self.is_last(event);
        fits && self.is_like(&self.plan.planned(&self.plan.events[event]), deed)
    }

    fn is_last(&self, event: usize) -> bool {
        let mut threads = self.plan.threads.iter();
        threads.any(|thread| thread.first + thread.count == event as u64 + 1)
    }

    /// The same for an event that has no place in the order.
    pub fn is_like(&self, event: &Planned, deed: &Deed) -> bool {
        let as_tried = |op: u8| match Op::from_number(op) {
            Some(Op::Refused) => Op::Acquire as u8,
            Some(Op::ReadRefused) => Op::ReadAcquire as u8,
            Some(Op::TakeRefused) => Op::Take as u8,
            _ => op,
        };
        as_tried(event.op) == deed.op
            && (event.pc == 0 || self.is_same(event.pc as usize, deed.pc))
            && self.is_object(event, deed.addr)
    }

    fn is_same(&self, planned: usize, actual: usize) -> bool {
        let mask = match self.plan.header.steady {
            0 => WITHIN_PAGE,
            _ => usize::MAX,
        };
        planned & mask == actual & mask
    }

    fn is_object(&self, event: &Planned, object: usize) -> bool {
        let op = Op::from_number(event.op);
        if matches!(op, Some(Op::Fork | Op::Begin | Op::End)) {
            return true;
        }
        match event.region {
            _ if op == Some(Op::Join) => event.target as usize == object,
            region if region == Region::ANY.0 => true,
            region if region == Region::FIXED.0 => self.is_same(event.target as usize, object),
            region => match self.object(region).load(Ordering::Relaxed) {
                0 => true,
                known => known as usize == object,
            },
        }
    }

    fn object(&self, region: u32) -> &AtomicU64 {
        // SAFETY: the plan was found whole, so it has no larger regions than it says.
        unsafe { &*self.objects.add(region as usize) }
    }

    /// Remembers which object an event is done to.
    pub fn bind(&self, event: usize, deed: &Deed) {
        let region = self.plan.events[event].region;
        if region >= Region::FIRST_BLOCK {
            self.object(region)
                .store(deed.addr as u64, Ordering::Relaxed);
        }
    }
}
