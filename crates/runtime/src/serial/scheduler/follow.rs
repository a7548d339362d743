//! Who goes next while a schedule is enforced.

use core::sync::atomic::Ordering;

use deadheat_wire::Op;
use deadheat_wire::plan::{After, GoalKind};

use super::super::explore::server;
use super::super::replay::plan::Planned;
use super::super::replay::verdict::{self, Verdict};
use super::super::replay::{Deed, Phase};
use super::super::task::{State, Waited};
use super::super::{signals, timers, turn};
use super::{ASLEEP, Scheduler};
use crate::threads::Thread;
use crate::{options, record, sys};

/// What the process ends with when its goals were reached, and when the schedule could not be followed.
const REACHED: i32 = 66;
const NOT_FOLLOWED: i32 = 4;

/// A debugger sets it to let the program go on that waits at its goals.
#[cfg_attr(not(test), unsafe(export_name = "__deadheat_go"))]
static GO: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

/// Waits until a debugger lets the program go on, or the tool is gone.
fn wait_for_debugger() {
    let tool = options::TOOL.get() as usize;
    while GO.load(Ordering::Acquire) == 0 {
        sys::futex_wait(&GO, 0, 20);
        let gone = -(libc::ESRCH as isize);
        if tool != 0 && sys::call(libc::SYS_kill, [tool, 0, 0, 0, 0, 0]) == gone {
            break;
        }
    }
}

impl Scheduler {
    /// Who goes next by the schedule. `me`: the running thread, if it can go on. `None` as in `next`.
    pub(super) fn follow(
        &mut self,
        me: Option<*mut Thread>,
        can_wait: bool,
    ) -> Option<*mut Thread> {
        loop {
            match self.replay.phase {
                Phase::Following => match self.replay.wanted() {
                    _ if self.branches_off() => {}
                    Some(index) if self.replay.arrives_early(index) => {}
                    Some(index) => return self.obtain(index, me, can_wait),
                    None if self.replay.goal_kind() == GoalKind::None as u32 => {
                        self.followed();
                    }
                    None => self.replay.phase = Phase::Gathering,
                },
                Phase::Gathering => match self.missing() {
                    Some(index) => return self.obtain(index, me, can_wait),
                    None => self.gathered(),
                },
                Phase::Locking => match self.unlocked() {
                    Some(thread) => return Some(thread),
                    None if self.replay.is_closed() => self.reached(),
                    None => self.replay.phase = Phase::Draining,
                },
                Phase::Leading => match self.lead(me) {
                    Some(thread) => return Some(thread),
                    None => self.replay.phase = Phase::Free,
                },
                Phase::Off | Phase::Draining | Phase::Free => return self.next(can_wait),
            }
        }
    }

    /// Has copies of the program follow the offshoots that leave the trunk here. Whether this is such a copy, or one may
    /// have been made.
    fn branches_off(&mut self) -> bool {
        let Some(number) = self.replay.due() else {
            return false;
        };
        if server::copy_for_offshoot(number, self.away) && !self.replay.leave_trunk(number) {
            sys::exit_group(NOT_FOLLOWED);
        }
        true
    }

    /// A goal's thread that does not stand before it yet.
    fn missing(&mut self) -> Option<usize> {
        loop {
            let index = self.replay.missing()?;
            match self.replay.arrive(index) {
                Ok(true) => {}
                Ok(false) if self.replay.waits_for_goal(index) && self.is_blocked(index) => {
                    self.replay.stand(index);
                }
                Ok(false) => return Some(index),
                Err(deed) => self.diverged(index, deed),
            }
        }
    }

    /// Whether one of the plan's threads waits, and not for time to pass.
    fn is_blocked(&mut self, index: usize) -> bool {
        let thread = self.replay.follower(index).thread;
        if thread.is_null() {
            return false;
        }
        let place = self.index(thread);
        let task = self.task(place);
        task.state == State::Blocked && task.until == u64::MAX
    }

    /// Nobody can go on. If that is what the schedule was to lead to, it has.
    pub(super) fn drained(&mut self) {
        if self.replay.phase == Phase::Draining {
            self.reached();
        }
    }

    /// Makes one of the plan's threads one that can run.
    fn obtain(
        &mut self,
        index: usize,
        me: Option<*mut Thread>,
        can_wait: bool,
    ) -> Option<*mut Thread> {
        let follower = self.replay.follower(index);
        let (thread, done) = (follower.thread, follower.done);
        let id = self.replay.id(index);
        if thread.is_null() {
            let verdict = match self.replay.follower(index).ended {
                true => Verdict::Ended(id, done),
                false => Verdict::Blocked(id, done, 0),
            };
            self.conclude(&verdict);
        }
        if me == Some(thread) {
            // It may be about to handle a timer's signal.
            self.signal_is_due(index);
            signals::route(self);
            return me;
        }
        loop {
            let arrivals = turn::arrivals();
            self.signal_is_due(index);
            signals::route(self);
            let place = self.index(thread);
            let task = self.task(place);
            match task.state {
                State::Ready => return Some(thread),
                State::Ended => self.conclude(&Verdict::Ended(id, done)),
                State::Away if task.context.parked.load(Ordering::Acquire) != 0 => {
                    self.make_ready(place);
                }
                State::Away if !can_wait => return None,
                State::Away => {
                    let patience = options::WATCHDOG.get().max(1) * 1000;
                    if !turn::wait_for_arrivals_until(arrivals, patience) {
                        self.conclude(&Verdict::Passed(id, done));
                    }
                }
                State::Blocked => self.unblock(index, place),
            }
        }
    }

    /// The schedule wants a thread to go on that waits: its time is up, or it may look again, or the schedule cannot
    /// be followed.
    fn unblock(&mut self, index: usize, place: usize) {
        let expected = self.replay.expected(index).map_or(0, |event| event.op);
        let (events, looked_at) = (self.log.events, self.looked_at);
        let task = self.task(place);
        let (limited, object, retries) = (task.until != u64::MAX, task.object, task.retries);
        if limited && (expected != Op::Wake as u8 || object == ASLEEP) {
            task.outcome = Waited::TimedOut;
            let until = task.until;
            self.steps = self.steps.max(until);
            self.make_ready(place);
        } else if retries && events != looked_at {
            task.outcome = Waited::Idle;
            self.looked_at = events;
            self.make_ready(place);
        } else {
            let done = self.replay.follower(index).done;
            let id = self.replay.id(index);
            self.conclude(&Verdict::Blocked(id, done, object));
        }
    }

    /// If the schedule has a thread handle a timer's signal next, that timer fires.
    fn signal_is_due(&mut self, index: usize) {
        let Some(event) = self.replay.expected(index) else {
            return;
        };
        if event.op == Op::Receive as u8
            && let Some(channel) = self.replay.address(&event)
        {
            timers::fire_for(channel, self.steps);
        }
    }

    /// Whether a thread may handle a signal now: an enforced schedule says when.
    pub fn may_interrupt(&mut self, thread: *mut Thread, channel: usize) -> bool {
        // SAFETY: the record is in use.
        let follower = unsafe { (*thread).task.follower.checked_sub(1) };
        let Some(index) = follower.filter(|_| self.replay.is_on()) else {
            return true;
        };
        let expected = self.replay.expected(index as usize);
        expected.is_none_or(|event| {
            let at = self.replay.address(&event);
            event.op == Op::Receive as u8 && at.is_none_or(|at| at == channel)
        })
    }

    /// All goals' threads stand before them.
    fn gathered(&mut self) {
        if self.replay.goal_kind() == GoalKind::Deadlock as u32 {
            self.replay.phase = Phase::Locking;
            return;
        }
        match self.replay.meet() {
            Ok(()) => self.reached(),
            Err((index, deed)) => self.diverged(index, deed),
        }
    }

    /// A goal's thread that does not wait yet.
    fn unlocked(&mut self) -> Option<*mut Thread> {
        let goals = self.replay.plan.as_ref().map_or(&[][..], |plan| plan.goals);
        for goal in goals {
            let thread = self.replay.follower(goal.thread as usize).thread;
            let place = self.index(thread);
            if self.task(place).state != State::Blocked {
                return Some(thread);
            }
        }
        None
    }

    /// All events have happened, and there is no goal.
    fn followed(&mut self) {
        if let Some(plan) = &self.replay.plan {
            verdict::write(plan, &self.replay, &Verdict::Reached);
            if plan.header.after == After::Stop as u32 && !self.explorer.is_wanted() {
                self.replay.phase = Phase::Free;
                record::close("the schedule is through", true);
                sys::exit_group(REACHED);
            }
            if plan.header.after == After::Wait as u32 {
                wait_for_debugger();
            }
        }
        self.replay.phase = Phase::Free;
        self.begin_search();
    }

    /// The goals are reached.
    fn reached(&mut self) {
        let Some(plan) = &self.replay.plan else {
            return;
        };
        verdict::write(plan, &self.replay, &Verdict::Reached);
        let after = plan.header.after;
        let is_deadlock = self.replay.goal_kind() == GoalKind::Deadlock as u32;
        self.replay.phase = match is_deadlock {
            true => Phase::Free,
            false => Phase::Leading,
        };
        if self.explorer.is_wanted() {
            self.replay.phase = Phase::Free;
            self.begin_search();
            return;
        }
        if after == After::Stop as u32 {
            self.replay.phase = Phase::Free;
            record::close("the schedule's goal is reached", true);
            sys::exit_group(REACHED);
        }
        if after == After::Wait as u32 {
            wait_for_debugger();
        }
    }

    /// Who goes first from the goals, and then who comes second.
    fn lead(&mut self, me: Option<*mut Thread>) -> Option<*mut Thread> {
        let (first, goals) = match &self.replay.plan {
            Some(plan) => (plan.header.first as usize, plan.goals),
            None => (0, &[][..]),
        };
        let thread = |scheduler: &mut Self, goal: usize| {
            let index = goals.get(goal).map_or(0, |goal| goal.thread as usize);
            scheduler.replay.follower(index).thread
        };
        let leader = thread(self, first);
        if !self.replay.led {
            return Some(leader);
        }
        self.replay.phase = Phase::Free;
        let second = thread(self, 1 - first.min(1));
        let place = self.index(second);
        match self.task(place).state {
            State::Ready => Some(second),
            _ => me,
        }
    }

    /// A thread is about to do something, and lets others go first if the schedule says so.
    #[inline]
    pub fn announce(&mut self, me: *mut Thread, deed: Option<Deed>) {
        self.is_at_point = deed.is_some_and(|deed| crate::record::points::has(deed.pc));
        if let (Some(plan), Some(deed)) = (&self.replay.plan, deed) {
            plan.tell_place(deed.pc);
        }
        if self.explorer.is_wanted() || self.explorer.is_on() {
            self.explorer.announce(me, deed);
        }
        // SAFETY: the running thread's own record.
        if let Some(index) = unsafe { (*me).task.follower.checked_sub(1) } {
            self.replay.announce(index as usize, deed);
        }
    }

    /// A thread does something: is it what the schedule says?
    #[inline]
    pub fn happened(&mut self, me: *mut Thread, deed: Deed) {
        let phase = self.replay.phase;
        if !self.replay.is_on() && phase != Phase::Draining {
            return;
        }
        // SAFETY: the running thread's own record.
        let Some(index) = (unsafe { (*me).task.follower.checked_sub(1) }) else {
            return;
        };
        let index = index as usize;
        if phase == Phase::Draining && !self.replay.has_goal(index) {
            return;
        }
        if matches!(phase, Phase::Locking | Phase::Draining) {
            if self.replay.struggles(index) {
                return;
            }
            let id = self.replay.id(index);
            self.conclude(&Verdict::Got(id, deed.addr));
        }
        if let Err(deed) = self.replay.happened(index, deed) {
            self.diverged(index, deed);
        }
    }

    #[cold]
    fn diverged(&mut self, index: usize, deed: Deed) -> ! {
        let done = self.replay.follower(index).done;
        let id = self.replay.id(index);
        self.conclude(&Verdict::Diverged(id, done, deed))
    }

    /// The schedule cannot be followed: says why, closes the recording and ends the program.
    #[cold]
    fn conclude(&mut self, verdict: &Verdict) -> ! {
        if let Some(plan) = &self.replay.plan {
            verdict::write(plan, &self.replay, verdict);
        }
        self.replay.phase = Phase::Free;
        record::close("the schedule could not be followed", true);
        sys::exit_group(NOT_FOLLOWED)
    }

    /// The process ends before the goals are reached, or nobody makes a step any more (`passed`).
    /// Whether it was so.
    pub fn cut_short(&mut self, passed: bool) -> bool {
        self.search_ends();
        if self.replay.led
            && let Some(plan) = &self.replay.plan
        {
            plan.tell_value();
        }
        if !matches!(
            self.replay.phase,
            Phase::Following | Phase::Gathering | Phase::Locking | Phase::Draining
        ) {
            return false;
        }
        let index = self.replay.wanted().or_else(|| self.replay.missing());
        if index.is_none() && self.replay.goal_kind() == GoalKind::None as u32 {
            // The end of the process was the schedule's last event.
            if let Some(plan) = &self.replay.plan {
                verdict::write(plan, &self.replay, &Verdict::Reached);
            }
            self.replay.phase = Phase::Free;
            return false;
        }
        let index = index.unwrap_or(0);
        let done = self.replay.follower(index).done;
        let id = self.replay.id(index);
        let verdict = match passed {
            true => Verdict::Passed(id, done),
            false => Verdict::Ended(id, done),
        };
        if let Some(plan) = &self.replay.plan {
            verdict::write(plan, &self.replay, &verdict);
        }
        self.replay.phase = Phase::Free;
        true
    }

    /// Whether a schedule is enforced.
    pub fn is_replayed(&self) -> bool {
        self.replay.is_on()
    }

    /// Whether the schedule has a thread do something else next.
    pub fn passes_over(&mut self, me: *mut Thread, op: Op) -> bool {
        // SAFETY: the running thread's own record.
        let index = unsafe { (*me).task.follower.checked_sub(1) };
        let Some(index) = index.filter(|_| self.replay.phase == Phase::Following) else {
            return false;
        };
        let expected = self.replay.expected(index as usize);
        expected.is_some_and(|event| !event.soft && event.op != op as u8)
    }

    /// Whether everything that others can notice is announced: a schedule is enforced, or searched for.
    pub fn is_enforced(&self) -> bool {
        self.replay.is_on() || self.explorer.is_on()
    }

    /// Which of those who wait for an object is woken by the schedule, and whether any may be: one that times out or is cancelled is not.
    pub(super) fn planned_waiter(&mut self, object: usize) -> Option<usize> {
        let mut best = None;
        for place in 0..self.count {
            if !self.waits_for(place, object) {
                continue;
            }
            let order = match self.task(place).follower.checked_sub(1) {
                None => usize::MAX,
                Some(index) => {
                    let expected = self.replay.expected(index as usize);
                    // A cancelled one receives something else than it waits for.
                    let is_cancelled = |event: &Planned| {
                        let told = self.replay.address(event);
                        event.op == Op::Receive as u8 && told.is_some_and(|told| told != object)
                    };
                    if expected
                        .is_some_and(|event| event.op == Op::Timeout as u8 || is_cancelled(&event))
                    {
                        continue;
                    }
                    self.replay.place_in_order(index as usize)
                }
            };
            if best.is_none_or(|(known, _)| order < known) {
                best = Some((order, place));
            }
        }
        best.map(|(_, place)| place)
    }

    /// Takes a thread into the schedule.
    pub(super) fn bind(&mut self, thread: *mut Thread) {
        // SAFETY: the record is in use.
        let id = unsafe { (*thread).id };
        if let Some(index) = self.replay.index_of(id) {
            self.replay.follower(index).thread = thread;
            // SAFETY: as above.
            unsafe { (*thread).task.follower = index as u32 + 1 };
        }
    }

    /// Lets it go at its end.
    pub(super) fn unbind(&mut self, thread: *mut Thread) {
        // SAFETY: the record is in use.
        if let Some(index) = unsafe { (*thread).task.follower.checked_sub(1) } {
            let follower = self.replay.follower(index as usize);
            follower.thread = core::ptr::null_mut();
            follower.ended = true;
        }
    }

    /// The number that the schedule has for the thread that the running one creates.
    pub fn planned_fork(&mut self, me: *mut Thread) -> Option<u32> {
        // SAFETY: the running thread's own record.
        let index = unsafe { (*me).task.follower.checked_sub(1) }?;
        // The C library takes memory for it, and stores its handle before it starts.
        let is_on_the_way = |event: &Planned| {
            matches!(
                Op::from_number(event.op),
                Some(Op::Write | Op::Alloc | Op::Free)
            )
        };
        let done = self.replay.follower(index as usize).done;
        let plan = self.replay.plan.as_ref()?;
        let mut ahead = (done..).map_while(|number| plan.event(index as usize, number));
        let expected = ahead.find(|event| !is_on_the_way(event))?;
        (expected.op == Op::Fork as u8).then_some(expected.target as u32)
    }
}
