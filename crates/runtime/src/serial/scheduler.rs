//! Who may run and who waits for what.
//!
//! Only the thread that has the turn touches any of this; so there are no locks, and the same
//! decisions give the same run. Nothing here hands the turn on: methods say who is next, and the
//! caller, who keeps no reference to the scheduler meanwhile, does (see [`super::turn`]). Time is counted in steps: a sleeper wakes after some, or as soon
//! as nobody else can run.

mod follow;
mod idle;
mod search;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::CHANNELS_END;
use deadheat_wire::explore::standing::{GONE, READY};

use super::endings::Kind;
use super::explore::Explorer;
use super::hang::Quiet;
use super::log::Log;
use super::policy::Chosen;
use super::replay::Replay;
use super::rounds::Rounds;
use super::task::{State, Task, Waited};
use super::{Limit, signals, timers, turn};
use crate::threads::{self, Thread};
use crate::{message, options, record, sys};

/// The most threads that may exist at one time.
const MOST: usize = 16 * 1024;
/// How much time a step takes.
const STEP_NANOSECONDS: u64 = 1000;
/// How many accesses a thread may make in a row where only synchronisation gives others a chance:
/// it may be spinning.
const PATIENCE: u64 = 1_000_000;
/// How many steps others may take before a thread that ends the process does so. Natively it is a
/// matter of luck how many there are; a thread that never ends must not keep the process alive.
const STEPS_BEFORE_END: u64 = 20_000;
/// What sleepers wait for.
pub const ASLEEP: usize = 2;
/// What those wait for who wait for a signal.
pub const SIGNALS: usize = 3;
/// How many steps are between two looks at the world outside by those who wait for it.
const LOOK_AROUND: u64 = 4096;

/// What kind of step a thread takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A synchronisation: the policy is always asked.
    Sync,
    /// An access: the policy is asked at the end of a slice.
    Access,
}

/// A signal handler changed something that threads may wait for.
pub static LOOK_AGAIN: AtomicU32 = AtomicU32::new(0);
/// Steps taken, for the watchdog.
pub static STEPS: AtomicU64 = AtomicU64::new(0);

/// The scheduler's state. What is used lies close together: a copy of the program has to copy each page of it again.
#[repr(C, align(4096))]
pub struct Scheduler {
    pub(super) count: usize,
    pub(super) ready: usize,
    pub(super) away: usize,
    policy: Option<Chosen>,
    /// Accesses left until the policy is asked.
    slice: u64,
    /// The running thread stands at one of the policy's points.
    pub(super) is_at_point: bool,
    pub(super) steps: u64,
    waits: u64,
    /// How many events there were when all who could were told to look again.
    looked_at: u64,
    /// The step at which those who wait for the world outside were last told to look.
    looked_around_at: u64,
    /// Since when others are waited for who share memory: how many events there were then, and the time in milliseconds.
    hopes_since: (u64, u64),
    /// Since when threads have only asked the same, in a search: after how many changes, and at what time.
    vain_since: (u64, u64),
    /// Whether somebody outside could have ended that when it was looked last.
    had_hope: bool,
    preempt_accesses: bool,
    /// For how long nothing has changed.
    pub(super) quiet: Quiet,
    /// For how long threads have only waited in loops.
    pub(super) rounds: Rounds,
    /// The schedule that is enforced.
    pub(super) replay: Replay,
    /// The search that this process is a run of.
    pub explorer: Explorer,
    /// The recording.
    pub log: Log,
    /// All threads that have not ended; those that can run come first.
    pub(super) tasks: [*mut Thread; MOST],
}

struct Shared(UnsafeCell<Scheduler>);
// SAFETY: only the thread that has the turn uses it, and the turn is handed on with release and
// acquire (a token, or the same kernel thread).
unsafe impl Sync for Shared {}

static SCHEDULER: Shared = Shared(UnsafeCell::new(Scheduler {
    count: 0,
    ready: 0,
    away: 0,
    policy: None,
    slice: 0,
    is_at_point: false,
    steps: 0,
    waits: 0,
    looked_at: 0,
    looked_around_at: u64::MAX,
    hopes_since: (u64::MAX, 0),
    vain_since: (u64::MAX, 0),
    had_hope: false,
    preempt_accesses: true,
    quiet: Quiet::new(),
    rounds: Rounds::new(),
    replay: Replay::none(),
    explorer: Explorer::none(),
    log: Log::new(),
    tasks: [core::ptr::null_mut(); MOST],
}));

/// The scheduler.
///
/// # Safety
/// The caller has the turn, and no other reference is in use.
pub unsafe fn scheduler() -> &'static mut Scheduler {
    // SAFETY: as the caller says.
    unsafe { &mut *SCHEDULER.0.get() }
}

impl Scheduler {
    /// Starts anew, with the running thread only.
    pub fn start(&mut self) {
        self.count = 0;
        self.ready = 0;
        self.away = 0;
        self.slice = 1;
        self.steps = 0;
        self.looked_at = u64::MAX;
        self.looked_around_at = u64::MAX;
        self.hopes_since = (u64::MAX, 0);
        self.preempt_accesses = options::PREEMPT.get() == 1;
        self.policy = Some(Chosen::from_options(
            options::POLICY.get(),
            options::SEED.get(),
            options::DEPTH.get(),
            options::LENGTH.get(),
        ));
        if let Some(path) = options::EXPLORE.path() {
            self.explorer.open(path);
        }
        if self.explorer.is_silent() || options::SILENT.get() == 1 {
            self.log.keep_silent();
        } else {
            self.log.open();
        }
        if options::PLAN
            .path()
            .is_some_and(|path| self.replay.open(&path[..path.len() - 1]))
        {
            threads::count_from(self.replay.threads_end());
        }
        // SAFETY: the running thread has its record. Asks for a number: the kernel puts that above all frames of the
        // first thread.
        unsafe {
            let first = (*crate::local::local()).thread;
            if (*first).id == 0 {
                (*first)
                    .task
                    .stack_begins(libc::getauxval(libc::AT_RANDOM) as usize);
            }
            self.add(first);
        }
    }

    /// Counts in a thread that can run.
    pub fn add(&mut self, thread: *mut Thread) {
        if self.count == MOST {
            message::say(format_args!("more than {MOST} threads at one time"));
            record::close("too many threads", true);
            sys::exit_group(101);
        }
        // SAFETY: the record is in use. A forked process follows no schedule, though the thread that forked may have.
        unsafe { (*thread).task.follower = 0 };
        if self.replay.is_on() {
            self.bind(thread);
        }
        // SAFETY: as above.
        self.explorer.stands(unsafe { (*thread).id }, READY);
        self.tasks[self.count] = thread;
        self.count += 1;
        self.away += 1;
        self.make_ready(self.count - 1);
    }

    pub(super) fn task(&mut self, index: usize) -> &mut Task {
        // SAFETY: records of threads that have not ended are valid; we have the turn.
        unsafe { &mut (*self.tasks[index]).task }
    }

    fn index(&self, thread: *mut Thread) -> usize {
        self.tasks[..self.count]
            .iter()
            .position(|task| *task == thread)
            .unwrap_or(0)
    }

    fn make_ready(&mut self, index: usize) {
        if self.task(index).state == State::Away {
            self.away -= 1;
        }
        let task = self.task(index);
        task.state = State::Ready;
        if !task.interrupted {
            task.until = u64::MAX;
        }
        self.tasks.swap(index, self.ready);
        self.ready += 1;
    }

    fn make_waiting(&mut self, thread: *mut Thread, state: State) {
        let index = self.index(thread);
        self.task(index).state = state;
        self.ready -= 1;
        self.tasks.swap(index, self.ready);
        if state == State::Away {
            self.away += 1;
        }
    }

    /// A thread leaves the turn for a call that may block.
    pub fn leave(&mut self, thread: *mut Thread) {
        self.make_waiting(thread, State::Away);
        // SAFETY: the record is in use, and we have the turn.
        unsafe { (*thread).task.was_idle = false };
    }

    /// A thread that had left has the turn again after all.
    pub fn come_back(&mut self, thread: *mut Thread) {
        let index = self.index(thread);
        self.make_ready(index);
    }

    /// Whether all threads have ended.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there are other threads, whatever they do.
    pub fn has_several(&self) -> bool {
        self.count > 1
    }

    /// Whether a thread besides the running one can run.
    pub fn somebody_else(&self) -> bool {
        self.ready > 1
    }

    /// A thread has ended: it is counted out, and whoever waits for that is woken.
    pub fn remove(&mut self, thread: *mut Thread) {
        self.log.settle();
        if self.replay.is_on() {
            self.unbind(thread);
        }
        // SAFETY: the record is in use.
        self.explorer.stands(unsafe { (*thread).id }, GONE);
        self.make_waiting(thread, State::Ended);
        let index = self.index(thread);
        self.tasks.copy_within(index + 1..self.count, index);
        self.count -= 1;
        self.wake(thread as usize, usize::MAX);
        signals::ended(thread);
        if turn::is_green() {
            signals::masks_changed(self.threads());
        }
        self.look_again(Waited::Woken); // A robust mutex may have lost its owner.
    }

    /// A step of the running thread: who goes first.
    pub fn step(&mut self, me: *mut Thread, kind: Step) -> *mut Thread {
        self.count_step();
        if self.replay.is_on()
            && let Some(next) = self.follow(Some(me), true)
        {
            return next;
        }
        if self.is_searched()
            && let Some(next) = self.search(Some(me), true)
        {
            return next;
        }
        self.goes_on();
        if let Some(next) = self.look_for_hang(me) {
            return next;
        }
        let falls = core::mem::take(&mut self.is_at_point)
            && (kind == Step::Sync || self.preempt_accesses)
            && self
                .policy
                .as_mut()
                .is_some_and(|policy| policy.get().reached(me));
        if kind == Step::Access {
            self.slice = self.slice.saturating_sub(1);
            if self.slice > 0 && !falls {
                return me;
            }
            if let Some(policy) = &mut self.policy {
                policy.get().used_up();
            }
        }
        self.collect();
        let current = self.index(me);
        self.choose(Some(current))
    }

    /// The running thread calls a function at one of the policy's points, which is no step: who goes first.
    pub fn reach(&mut self, me: *mut Thread) -> *mut Thread {
        let reached = |policy: &mut Chosen| policy.get().reached(me);
        if self.replay.is_on() || self.is_searched() || !self.policy.as_mut().is_some_and(reached) {
            return me;
        }
        self.collect();
        let current = self.index(me);
        self.choose(Some(current))
    }

    /// Steps taken or skipped by waiting: the program's time. In a search it is each thread's own, or it would tell of others' steps.
    pub fn time(&mut self, me: *mut Thread) -> u64 {
        self.count_step();
        match self.explorer.is_on() {
            true => {
                let index = self.index(me);
                self.task(index).deeds += 1;
                self.task(index).deeds
            }
            false => self.steps,
        }
    }

    /// The scheduler's time, in nanoseconds.
    pub fn passed(&self) -> u64 {
        self.steps * STEP_NANOSECONDS
    }

    fn count_step(&mut self) {
        self.steps += 1;
        STEPS.store(self.steps, Ordering::Relaxed);
    }

    /// Asks the policy; there must be somebody.
    fn choose(&mut self, current: Option<usize>) -> *mut Thread {
        let Some(policy) = &mut self.policy else {
            return self.tasks[0];
        };
        let policy = policy.get();
        self.slice = if self.preempt_accesses {
            policy.slice().max(1)
        } else {
            PATIENCE
        };
        let chosen = policy.next(&self.tasks[..self.ready], current);
        self.tasks[chosen.min(self.ready - 1)]
    }

    /// Counts in those who came back, those whose time is up, those who should look again, and
    /// those who have a signal to handle.
    fn collect(&mut self) {
        if LOOK_AGAIN.swap(0, Ordering::AcqRel) != 0 {
            self.heed_outside();
        }
        timers::fire(self.steps);
        signals::route(self);
        if self.count == self.ready {
            return;
        }
        // Once: who has looked in vain and waits again takes no step.
        if self.steps.is_multiple_of(LOOK_AROUND) && self.looked_around_at != self.steps {
            self.looked_around_at = self.steps;
            self.look_outside(Waited::Woken);
        }
        for index in self.ready..self.count {
            let steps = self.steps;
            let task = self.task(index);
            match task.state {
                State::Away if task.context.parked.load(Ordering::Acquire) != 0 => {
                    self.make_ready(index);
                }
                State::Blocked if task.until <= steps => {
                    task.outcome = Waited::TimedOut;
                    self.make_ready(index);
                }
                _ => {}
            }
        }
    }

    /// Lets everybody try again who can.
    fn look_again(&mut self, outcome: Waited) -> bool {
        let mut any = false;
        for index in self.ready..self.count {
            let task = self.task(index);
            if task.state == State::Blocked && task.retries {
                task.outcome = outcome;
                self.make_ready(index);
                any = true;
            }
        }
        any
    }

    /// Lets those look again who wait for the world outside.
    fn look_outside(&mut self, outcome: Waited) -> bool {
        let mut any = false;
        let steps = self.steps;
        for index in self.ready..self.count {
            let task = self.task(index);
            let is_outside = task.retries && task.object < CHANNELS_END;
            if task.state == State::Blocked && is_outside && task.until > steps {
                task.outcome = outcome;
                self.make_ready(index);
                any = true;
            }
        }
        any
    }

    /// Who runs next, now that the running thread cannot; waits if need be. `None` if that
    /// takes waiting and the caller cannot wait here, or if nobody is left.
    pub fn next(&mut self, can_wait: bool) -> Option<*mut Thread> {
        if self.replay.is_on() && self.count > 0 {
            return self.follow(None, can_wait);
        }
        if self.is_searched() {
            return self.search(None, can_wait);
        }
        loop {
            let arrivals = turn::arrivals();
            if self.count == 0 {
                return None;
            }
            self.collect();
            if self.ready > 0 {
                return Some(self.choose(None));
            }
            if !self.is_idle(arrivals, can_wait) {
                return None;
            }
        }
    }

    /// The running thread starts to wait for an object; false if it has been cancelled.
    pub fn begin_wait(
        &mut self,
        me: *mut Thread,
        object: usize,
        kind: Kind,
        limit: Limit,
        retries: bool,
    ) -> bool {
        self.log.settle();
        self.waits += 1;
        let (since, steps) = (self.waits, self.steps);
        let index = self.index(me);
        let task = self.task(index);
        task.interrupted = false;
        if task.is_cancelled_in(kind) && turn::can_be_cancelled() {
            return false;
        }
        task.object = object;
        task.kind = kind;
        task.until = match limit {
            Limit::None => u64::MAX,
            Limit::After(time) => steps + (time / STEP_NANOSECONDS).max(1),
        };
        task.retries = retries;
        task.is_limited = limit != Limit::None;
        task.since = since;
        task.outcome = Waited::Woken;
        self.make_waiting(me, State::Blocked);
        true
    }

    /// How the running thread's last wait ended.
    pub fn outcome(&mut self, me: *mut Thread) -> Waited {
        let index = self.index(me);
        self.task(index).outcome
    }

    /// The running thread was interrupted in a wait that is not over: it goes on.
    pub fn resume_wait(&mut self, me: *mut Thread) {
        let index = self.index(me);
        self.task(index).interrupted = false;
        self.make_waiting(me, State::Blocked);
    }

    /// A thread that waits, or not, has a signal to handle. If it waits it can run, but its wait is
    /// not over.
    pub fn interrupt(&mut self, index: usize) {
        let task = self.task(index);
        if task.state == State::Blocked {
            task.interrupted = true;
            self.make_ready(index);
        }
    }

    /// All threads that have not ended.
    pub fn threads(&self) -> &[*mut Thread] {
        &self.tasks[..self.count]
    }

    /// How many wait for an object.
    pub fn waiting_for(&mut self, object: usize) -> usize {
        (0..self.count)
            .filter(|index| self.waits_for(*index, object))
            .count()
    }

    fn waits_for(&mut self, index: usize, object: usize) -> bool {
        let task = self.task(index);
        (task.state == State::Blocked || task.interrupted) && task.object == object
    }

    /// Ends a wait for the reason that somebody woke the thread.
    fn awaken(&mut self, index: usize) {
        let task = self.task(index);
        task.outcome = Waited::Woken;
        task.interrupted = false;
        task.was_idle = false;
        match task.state {
            State::Blocked => self.make_ready(index),
            _ => task.until = u64::MAX,
        }
    }

    /// Wakes up to `count` of those who wait for an object; how many.
    pub fn wake(&mut self, object: usize, count: usize) -> usize {
        let mut woken = 0;
        while woken < count {
            let waiters = self.waiting_for(object);
            if waiters == 0 {
                break;
            }
            if self.replay.is_on() {
                let Some(index) = self.planned_waiter(object) else {
                    break;
                };
                self.awaken(index);
                woken += 1;
                continue;
            }
            let rank = match &mut self.policy {
                _ if self.explorer.is_on() => match waiters > 1 && count != usize::MAX {
                    true => self.explorer.waiter(waiters),
                    false => 0,
                },
                Some(policy) if waiters > 1 && count != usize::MAX => policy.get().waiter(waiters),
                _ => 0,
            };
            let Some(index) = self.waiter(object, rank) else {
                break;
            };
            self.awaken(index);
            woken += 1;
        }
        woken
    }

    /// The waiter of this rank, in the order in which they came.
    fn waiter(&mut self, object: usize, rank: usize) -> Option<usize> {
        let mut last = 0;
        let mut found = None;
        for _ in 0..=rank {
            let mut first = u64::MAX;
            for index in 0..self.count {
                let since = self.task(index).since;
                if self.waits_for(index, object) && since > last && since < first {
                    first = since;
                    found = Some(index);
                }
            }
            last = first;
        }
        found
    }

    /// The running thread lets others go first: who does.
    pub fn yielded(&mut self, me: *mut Thread) -> *mut Thread {
        self.log.settle();
        self.count_step();
        if self.replay.is_on()
            && let Some(next) = self.follow(Some(me), true)
        {
            return next;
        }
        if self.is_searched() {
            let changes = self.explorer.changes;
            let index = self.index(me);
            let task = self.task(index);
            task.spin.yielded(changes);
            task.yields = task.yields.saturating_add(1);
            self.explorer.yielded(me);
            return self.search(Some(me), true).unwrap_or(me);
        }
        if let Some(policy) = &mut self.policy {
            policy.get().yielded(me);
        }
        self.pauses(me);
        self.collect();
        if self.ready < 2 {
            return me;
        }
        let index = self.index(me);
        self.tasks.swap(index, self.ready - 1);
        self.ready -= 1;
        let next = self.choose(None);
        self.ready += 1;
        next
    }

    /// The running thread is about to end the process: how many steps there were by then.
    pub fn begin_end(&self) -> u64 {
        self.steps
    }

    /// Who goes on before the process ends; `None` if nobody can, or others had their chance.
    /// Time does not pass meanwhile: who sleeps has not been waited for.
    pub fn before_end(&mut self, me: *mut Thread, begun: u64) -> Option<*mut Thread> {
        self.collect();
        if self.ready < 2 || self.steps - begun >= STEPS_BEFORE_END {
            return None;
        }
        Some(self.yielded(me))
    }

    /// A thread was cancelled: its wait, or its next one, ends.
    pub fn cancel(&mut self, thread: *mut Thread) {
        let index = self.index(thread);
        if self.tasks[index] != thread {
            return;
        }
        let task = self.task(index);
        task.cancelled = true;
        if task.state == State::Blocked && task.is_cancelled_in(task.kind) {
            task.outcome = Waited::Cancelled;
            self.make_ready(index);
        }
    }

    /// Nobody can run, ever: says who waits for what, closes the recording and ends the program.
    fn deadlock(&mut self) -> ! {
        if record::has_ended() {
            self.hangs_at_end();
        }
        self.drained();
        message::say(format_args!("deadlock: no thread can go on"));
        self.say_waits();
        record::close("deadlock", true);
        sys::exit_group(66)
    }

    /// The same after the end of the recording: destructors of libraries wait for what nobody does.
    pub(super) fn hangs_at_end(&mut self) -> ! {
        message::say(format_args!(
            "the program had ended, but what it runs at its exit waits for ever and was stopped"
        ));
        self.say_waits();
        sys::exit_group(124)
    }

    /// Says who waits for what, and writes it down.
    fn say_waits(&mut self) {
        for index in 0..self.count {
            self.say_wait(index);
        }
    }

    /// The same for one thread.
    pub(super) fn say_wait(&mut self, index: usize) {
        // SAFETY: records of threads that have not ended.
        let thread = unsafe { &*self.tasks[index] };
        if thread.task.state == State::Away {
            message::say(format_args!(
                "  T{} is in a call that takes no turn",
                thread.id
            ));
        } else {
            message::say(format_args!(
                "  T{} waits for {} {:#x}",
                thread.id,
                thread.task.kind.name(),
                thread.task.object
            ));
        }
        if let Some(wait) = &thread.task.unended {
            // SAFETY: it has not ended, so its state is there.
            unsafe { self.log.open_frames_of(thread.id, thread.local) };
            self.log.sync(thread.id, wait, [0; 2], [0; 2]);
        }
    }

    /// Something outside has changed: whoever waits for the world outside looks again.
    pub fn wake_outside(&mut self) {
        self.look_outside(Waited::Woken);
    }
}
