//! A schedule that is enforced: every thread does what the plan says, in its order, or the run is over.
//!
//! * [`plan`]: the file.
//! * [`verdict`]: what came of it.
//! * [`compare`]: is what a thread does what it should do?
//! * this file: how far each thread is.
//!
//! Who goes next is the scheduler's business: see `scheduler::follow`. The order is enforced where a thread
//! announces what it is about to do; a thread whose part is done goes on up to there. What it does on the way without
//! announcing it (entering functions, allocating) is nobody else's business.

mod compare;
pub mod plan;
pub mod verdict;

use deadheat_wire::Op;
use deadheat_wire::plan::GoalKind;

use self::plan::{Plan, Planned};
use crate::memory;
use crate::threads::Thread;

/// Something that a thread does or is about to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deed {
    /// An [`Op`].
    pub op: u8,
    /// To what.
    pub addr: usize,
    /// How many bytes.
    pub size: usize,
    /// From where.
    pub pc: usize,
    /// A function of the C library does it for the program.
    pub is_range: bool,
    /// The memory order of an atomic access or fence; a schedule does not compare it.
    pub order: u8,
}

impl Deed {
    /// Does it access memory, atomically or not, or give back a block?
    fn touches(&self, other: &Deed) -> bool {
        self.addr < other.addr.saturating_add(other.size.max(1))
            && other.addr < self.addr.saturating_add(self.size.max(1))
    }
}

/// How far a schedule has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is none.
    Off,
    /// Threads follow it.
    Following,
    /// Its order is through; the threads of the goals go on until they stand before them.
    Gathering,
    /// They stand there, and are let into the requests that must wait for ever.
    Locking,
    /// They wait for something that others might still bring about: the others go on until none of them can.
    Draining,
    /// The goals are reached; one thread goes first.
    Leading,
    /// Everybody goes on.
    Free,
}

/// A thread of the plan.
pub struct Follower {
    /// Null before it is there.
    pub thread: *mut Thread,
    /// It was there and has ended.
    pub ended: bool,
    /// How many of its events have happened.
    pub done: u64,
    /// What it is about to do, if it has said so.
    next: Option<Deed>,
    /// A write that was announced before the read of the same copy.
    put_off: Option<Deed>,
    /// It stands before its goal.
    stands: bool,
    /// What it has done since it was let into a request that must wait for ever.
    struggles: u32,
}

/// A schedule and how far it has come.
pub struct Replay {
    /// How far.
    pub phase: Phase,
    /// The schedule.
    pub plan: Option<Plan>,
    followers: *mut Follower,
    segment: usize,
    /// Which of the plan's offshoots is next.
    offshoot: usize,
    /// The thread that goes first has done what it stood before.
    pub led: bool,
}

impl Replay {
    /// No schedule.
    pub const fn none() -> Self {
        Replay {
            phase: Phase::Off,
            plan: None,
            followers: core::ptr::null_mut(),
            segment: 0,
            offshoot: 0,
            led: false,
        }
    }

    /// Takes up the schedule at `path`; false if there is none to follow.
    pub fn open(&mut self, path: &[u8]) -> bool {
        *self = Replay::none();
        let Some(plan) = Plan::open(path) else {
            return false;
        };
        let followers: *mut Follower = memory::pages(plan.threads.len().max(1));
        if followers.is_null() {
            return false;
        }
        for index in 0..plan.threads.len() {
            // SAFETY: there is room for so many, and nobody else knows of it.
            unsafe {
                followers.add(index).write(Follower {
                    thread: core::ptr::null_mut(),
                    ended: false,
                    done: 0,
                    next: None,
                    put_off: None,
                    stands: false,
                    struggles: 0,
                });
            }
        }
        self.followers = followers;
        self.plan = Some(plan);
        self.phase = Phase::Following;
        true
    }

    /// Whether threads are held to it.
    #[inline]
    pub fn is_on(&self) -> bool {
        !matches!(self.phase, Phase::Off | Phase::Draining | Phase::Free)
    }

    /// A thread of the plan.
    pub fn follower(&mut self, index: usize) -> &mut Follower {
        // SAFETY: callers have the index from the plan, whose threads all have one; only the
        // thread that has the turn comes here, and keeps no reference beyond its next call.
        unsafe { &mut *self.followers.add(index) }
    }

    fn seen(&self, index: usize) -> &Follower {
        // SAFETY: as in `follower`.
        unsafe { &*self.followers.add(index) }
    }

    /// The number in the program of one of the plan's threads.
    pub fn id(&self, index: usize) -> u32 {
        self.plan.as_ref().map_or(0, |plan| plan.threads[index].id)
    }

    /// Which of the plan's threads has this number.
    pub fn index_of(&self, id: u32) -> Option<usize> {
        let plan = self.plan.as_ref()?;
        plan.threads.iter().position(|thread| thread.id == id)
    }

    /// One more than the largest number of a thread.
    pub fn threads_end(&self) -> u32 {
        let Some(plan) = &self.plan else {
            return 0;
        };
        let events = plan.events.iter().map(|event| plan.planned(event));
        let forks = events.filter(|event| event.op == Op::Fork as u8);
        let numbers = plan
            .threads
            .iter()
            .map(|thread| thread.id)
            .chain(forks.map(|event| event.target as u32));
        numbers.max().map_or(0, |last| last.saturating_add(1))
    }

    /// The thread that goes on now by the schedule's order; `None` behind its end.
    #[inline]
    pub fn wanted(&mut self) -> Option<usize> {
        loop {
            let segment = *self.plan.as_ref()?.segments.get(self.segment)?;
            let index = segment.thread as usize;
            if self.seen(index).done < segment.upto {
                return Some(index);
            }
            self.segment += 1;
        }
    }

    /// The offshoot that leaves the trunk here, once [`Replay::wanted`] has said how far the trunk is; each is named once.
    #[inline]
    pub fn due(&mut self) -> Option<usize> {
        let number = self.offshoot;
        let next = self.plan.as_ref()?.offshoots.get(number)?;
        (next.at <= self.segment as u64).then(|| {
            self.offshoot += 1;
            number
        })
    }

    /// Follows an offshoot from here on; false if that is not possible.
    pub fn leave_trunk(&mut self, number: usize) -> bool {
        // What a thread had to do on the trunk so far it has done.
        let (followers, segment) = (self.followers, self.segment);
        let Some(plan) = &mut self.plan else {
            return false;
        };
        let passed = &plan.segments[..segment.min(plan.segments.len())];
        let count = |index: usize| {
            let mut own = passed
                .iter()
                .rev()
                .filter(|segment| segment.thread as usize == index);
            // SAFETY: as in `follower`.
            let done = unsafe { (*followers.add(index)).done };
            own.next().map_or(done, |last| last.upto)
        };
        self.segment = 0;
        plan.leave_trunk(number, count)
    }

    /// What a thread should do next.
    pub fn expected(&self, index: usize) -> Option<Planned> {
        let plan = self.plan.as_ref()?;
        plan.event(index, self.seen(index).done)
    }

    /// What a thread stands before in the end, if it has a goal.
    fn goal(&self, index: usize) -> Option<Planned> {
        self.plan.as_ref()?.goal(index)
    }

    /// Where in the order a thread goes on next.
    pub fn place_in_order(&self, index: usize) -> usize {
        let segments = self.plan.as_ref().map_or(&[][..], |plan| plan.segments);
        let done = self.seen(index).done;
        let ahead = segments.iter().enumerate().skip(self.segment);
        let mut own = ahead.filter(|(_, segment)| segment.thread as usize == index);
        let next = own.find(|(_, segment)| segment.upto > done);
        next.map_or(usize::MAX, |(place, _)| place)
    }

    /// A goal whose thread does not stand before it yet: which thread.
    pub fn missing(&self) -> Option<usize> {
        let goals = self.plan.as_ref().map_or(&[][..], |plan| plan.goals);
        let mut threads = goals.iter().map(|goal| goal.thread as usize);
        threads.find(|index| !self.seen(*index).stands)
    }

    /// What a thread stands before.
    pub fn stands_before(&self, index: usize) -> Option<Deed> {
        self.seen(index).next
    }

    /// A goal that is the end of a wait: its thread stands before it once it waits. Whether a thread has such a goal, and nothing else to do
    /// before.
    pub fn waits_for_goal(&self, index: usize) -> bool {
        let goal = self.goal(index);
        goal.is_some_and(|goal| is_end_of_wait(goal.op)) && self.expected(index).is_none()
    }

    /// Whether a goal is a thread's.
    pub fn has_goal(&self, index: usize) -> bool {
        self.goal(index).is_some()
    }

    /// A thread stands before its goal, which it does not announce: it waits for it.
    pub fn stand(&mut self, index: usize) {
        let deed = self.goal(index).map(|goal| Deed {
            op: goal.op,
            addr: self.address(&goal).unwrap_or(0),
            size: 0,
            pc: goal.pc as usize,
            ..Deed::default()
        });
        let follower = self.follower(index);
        follower.next = deed;
        follower.stands = true;
    }

    /// Whether the goals hold each other up by themselves: locks that their threads have, and joins among them. What else they may wait for
    /// somebody else could still bring about.
    pub fn is_closed(&self) -> bool {
        let closes = |goal: Planned| {
            let op = Op::from_number(goal.op);
            matches!(op, Some(Op::Acquire | Op::ReadAcquire | Op::Join)) || is_atomic(goal.op)
        };
        self.plan.as_ref().is_none_or(|plan| {
            let goals = plan.goals.iter();
            goals.map(|goal| plan.planned(&goal.event)).all(closes)
        })
    }

    /// A thread that was let into its request does something. Whoever asks for a lock that is made of atomics does much before it
    /// waits; whether it has got it shows when it does not wait after all.
    pub fn struggles(&mut self, index: usize) -> bool {
        const MOST: u32 = 10_000;
        let goal = self.goal(index);
        let follower = self.follower(index);
        follower.struggles += 1;
        goal.is_some_and(|goal| is_atomic(goal.op)) && follower.struggles < MOST
    }

    /// What the goals are.
    pub fn goal_kind(&self) -> u32 {
        self.plan
            .as_ref()
            .map_or(GoalKind::None as u32, |plan| plan.header.goal)
    }

    /// A thread says what it is about to do (`None`: something that is no event).
    pub fn announce(&mut self, index: usize, deed: Option<Deed>) {
        self.follower(index).next = deed;
    }

    /// Whether a thread that has announced something stands before its goal with it; `Err` if it will never.
    pub fn arrive(&mut self, index: usize) -> Result<bool, Deed> {
        let Some(deed) = self.seen(index).next else {
            return Ok(false);
        };
        let Some(plan) = &self.plan else {
            return Ok(false);
        };
        let Some(goal) = plan.goal(index) else {
            return Ok(false);
        };
        let done = self.seen(index).done;
        let left = (done..plan.threads[index].count).map_while(|number| plan.event(index, number));
        // A range is several events; the goal may be a later one of them.
        let inside = |event: &Planned| {
            let first = self.address(event);
            let same_op = event.op == deed.op || is_atomic(event.op) && is_atomic(deed.op);
            same_op
                && self.same_place(event, deed.pc)
                && first.is_none_or(|first| first.wrapping_sub(deed.addr) < deed.size.max(1))
        };
        // Code without hooks may do something on the way, or not.
        if !left.clone().all(|event| event.soft || inside(&event)) {
            return Ok(false);
        }
        if !inside(&goal) {
            // A copy may be announced by its write first, and who has to wait at a pipe by what it waits to do.
            let comes_to_wait = goal.op == Op::Take as u8
                && matches!(Op::from_number(deed.op), Some(Op::Receive | Op::Send))
                && self.same_place(&goal, deed.pc);
            let passes = self.is_unsaid(&deed);
            return match is_write_of_copy(&goal, &deed) || comes_to_wait || passes {
                true => Ok(false),
                false => Err(deed),
            };
        }
        let all = left.count() as u64;
        let follower = self.follower(index);
        follower.done += all;
        follower.stands = true;
        Ok(true)
    }

    /// The same before the thread's part is through: its goal may be a later piece of the range that it has announced.
    #[inline]
    pub fn arrives_early(&mut self, index: usize) -> bool {
        /// What is longer is written down in pieces.
        const ONE_PIECE: usize = 8;
        let Some(deed) = self.seen(index).next else {
            return false;
        };
        if !deed.is_range && deed.size <= ONE_PIECE {
            return false;
        }
        let is_longer = |event: &Planned| usize::from(event.size) < deed.size;
        let expected = self.expected(index);
        deed.op <= Op::Write as u8
            && expected.is_some_and(|event| is_longer(&event))
            && self.arrive(index) == Ok(true)
    }

    /// Whether what the goals' threads stand before meets: two accesses to common bytes.
    pub fn meet(&self) -> Result<(), (usize, Deed)> {
        let goals = self.plan.as_ref().map_or(&[][..], |plan| plan.goals);
        let [first, second] = goals else {
            return Ok(());
        };
        let deed = |index: u32| self.seen(index as usize).next.unwrap_or_default();
        let (one, other) = (deed(first.thread), deed(second.thread));
        match one.touches(&other) {
            true => Ok(()),
            false => Err((second.thread as usize, other)),
        }
    }
}

/// Whether something may be the write of a copy whose read is expected.
fn is_write_of_copy(expected: &Planned, deed: &Deed) -> bool {
    deed.op == Op::Write as u8 && expected.op == Op::Read as u8
}

/// Whether it is the end of a wait that has begun with another event.
fn is_end_of_wait(op: u8) -> bool {
    let op = Op::from_number(op);
    matches!(op, Some(Op::Wake | Op::BarrierExit | Op::FutexWoken))
}

fn is_atomic(op: u8) -> bool {
    Op::from_number(op).is_some_and(Op::is_atomic)
}
