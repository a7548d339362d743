//! Nobody can run: lets time pass, waits for the world outside, or says that it is a deadlock.

use deadheat_wire::explore::ending;

use super::super::endings::{self, Hope, Wait, World};
use super::super::rest;
use super::super::task::{State, Task, Waited};
use super::super::{timers, turn};
use super::Scheduler;
use crate::intercept::condition;
use crate::threads::Thread;
use crate::{message, options, record, sys};

/// How long a thread that is in a call may stay there before those who wait for the world outside
/// go there, too, in milliseconds. A call that returns sooner leaves the order to the scheduler.
const GRACE: u64 = 10;
/// How long whoever is busy in a call is waited for at a time, in milliseconds: it may come to rest there.
const LOOK: u64 = 50;
/// How many steps a millisecond has.
const STEPS_PER_MILLISECOND: u64 = 1000;

impl Scheduler {
    /// Nobody can run. Does what there is to do about that; false if the caller must wait for
    /// arrivals elsewhere.
    pub(super) fn is_idle(&mut self, arrivals: u32, can_wait: bool) -> bool {
        let first = self.first_limit();
        if first != u64::MAX {
            let is_alone = self.away == 0 && endings::is_alone();
            if is_alone || !can_wait && !turn::is_green() {
                self.pass_time(first);
                return true;
            }
            if !can_wait {
                return false;
            }
            if !self.wait_really(arrivals, first) {
                return true;
            }
        }
        if self.away > 0 && !can_wait {
            return false;
        }
        if self.away > 0 && turn::wait_for_arrivals_until(arrivals, GRACE) {
            return true;
        }
        if self.looked_at != self.log.events && self.look_again(Waited::Idle) {
            // Somebody whom we do not see may have changed something. Unless an event shows
            // that it was so, this is not tried twice.
            self.looked_at = self.log.events;
            return true;
        }
        if self.look_for_first_time() {
            return true;
        }
        self.hope_for_others(arrivals, can_wait)
    }

    /// Who waits for the world outside, and has not been told since that nobody else can run, is
    /// told so.
    pub(super) fn look_for_first_time(&mut self) -> bool {
        let mut any = false;
        for index in self.ready..self.count {
            let task = self.task(index);
            let is_new = !task.was_idle && task.state == State::Blocked && task.retries;
            if is_new && task.object < super::CHANNELS_END {
                task.was_idle = true;
                task.outcome = Waited::Idle;
                self.make_ready(index);
                any = true;
            }
        }
        any
    }

    /// A signal handler or a thread of libc's own has changed something: everybody looks again who can, and who waits for a condition
    /// that was notified goes on.
    pub(super) fn heed_outside(&mut self) {
        self.look_again(Waited::Woken);
        while let Some(condition) = condition::notified() {
            self.wake(condition, usize::MAX);
        }
    }

    /// The step at which the first time limit is; `u64::MAX` if there is none.
    pub(super) fn first_limit(&mut self) -> u64 {
        let mut first = timers::first();
        for index in self.ready..self.count {
            if self.task(index).state == State::Blocked {
                first = first.min(self.task(index).until);
            }
        }
        first
    }

    /// Lets time pass until a limit, and who waits for the world outside look again.
    fn pass_time(&mut self, until: u64) {
        self.steps = self.steps.max(until);
        // Others, whom we do not see, have had that time, too.
        self.look_outside(Waited::Woken);
    }

    /// Somebody outside may act before the first time limit: waits for that. False if somebody did,
    /// or the limit is reached.
    fn wait_really(&mut self, arrivals: u32, first: u64) -> bool {
        let left = first.saturating_sub(self.steps) / STEPS_PER_MILLISECOND;
        if left > GRACE && self.look_for_first_time() {
            return false;
        }
        let start = sys::milliseconds();
        turn::wait_for_arrivals_until(arrivals, left.max(1));
        let passed = (sys::milliseconds() - start).min(left);
        self.steps += passed * STEPS_PER_MILLISECOND;
        if turn::arrivals() == arrivals {
            self.pass_time(first);
        }
        false
    }

    /// Whether a thread is in a call, and does not merely wait there for something outside, or for others that wait, too. As
    /// long as any kernel thread runs, a sleeper may only wait for that.
    pub(super) fn is_busy_away(&self) -> bool {
        // SAFETY: records of threads that have not ended; we have the turn.
        let is_away = |thread: &&*mut Thread| unsafe {
            (***thread).task.state == State::Away && !(***thread).task.waits_outside
        };
        let mut away = self.tasks[self.ready..self.count]
            .iter()
            .filter(is_away)
            .peekable();
        // SAFETY: as above.
        away.peek().is_some()
            && (away.any(|thread| unsafe { !turn::sleeps_away(*thread) }) || !rest::is_reached())
    }

    /// Nobody has had the turn for a while. If nobody can come back to it by itself, an enforced schedule has failed, and
    /// a recording ends, if that has lasted for long.
    pub fn nobody_comes(&mut self, long: bool) {
        if self.count == 0 || self.is_busy_away() {
            return;
        }
        if self.cut_short(true) {
            sys::exit_group(4);
        }
        if long {
            self.waits_outside();
        }
    }

    /// What may still end the waits of those who cannot run.
    pub(super) fn hope(&self, world: &World) -> Hope {
        self.hope_of(world, |_| true)
    }

    /// The same of those who do not wait for time, too.
    pub fn hope_of_limitless(&self, world: &World) -> Hope {
        self.hope_of(world, |task| task.until == u64::MAX)
    }

    fn hope_of(&self, world: &World, is_asked: impl Fn(&Task) -> bool) -> Hope {
        let waits = self.tasks[self.ready..self.count].iter().map(|thread| {
            // SAFETY: records of threads that have not ended; we have the turn.
            unsafe { &(**thread).task }
        });
        let waits = waits.filter(|task| is_asked(task)).map(|task| Wait {
            kind: task.kind,
            object: task.object,
        });
        let hope = endings::hope(world, waits);
        // What a call that nobody intercepts waits for may be none of the threads: a lock of the C library that one
        // has which is about to end, a kernel thread that the program has made by itself.
        match self.away {
            0 => hope,
            _ => hope.max(Hope::Perhaps),
        }
    }

    /// How long somebody outside is waited for who may exist or not, in milliseconds; 0: as long as it takes. Runs of
    /// a search are many, and nobody outside knows of them.
    pub(super) fn patience(&self) -> u64 {
        const OF_SEARCH: u64 = 300;
        let patience = options::WATCHDOG.get() * 1000;
        match self.explorer.is_on() && self.explorer.is_silent() {
            true if patience > 0 => patience.min(OF_SEARCH),
            _ => patience,
        }
    }

    /// No time limit is left. Whoever may still end a wait is waited for.
    pub(super) fn hope_for_others(&mut self, arrivals: u32, can_wait: bool) -> bool {
        let world = World::now(self.is_busy_away());
        let hope = self.hope(&world);
        if hope != Hope::None && !can_wait {
            return false;
        }
        let patience = self.patience();
        let is_certain = hope == Hope::Somebody || patience == 0;
        if world.shared && hope != Hope::None {
            let waited = self.wait_for_sharers(arrivals);
            if is_certain || waited < patience {
                return true;
            }
        }
        match hope {
            _ if world.shared && hope == Hope::Perhaps => self.waits_outside(),
            Hope::None => self.is_deadlock(),
            Hope::Somebody if self.away > 0 => _ = turn::wait_for_arrivals_until(arrivals, LOOK),
            Hope::Somebody => turn::wait_for_arrivals(arrivals),
            Hope::Perhaps | Hope::Unlikely if patience == 0 => turn::wait_for_arrivals(arrivals),
            Hope::Perhaps | Hope::Unlikely => {
                if turn::wait_for_arrivals_until(arrivals, patience) {
                    return true;
                }
                match hope {
                    Hope::Unlikely => self.is_deadlock(),
                    _ => self.waits_outside(),
                }
            }
        }
        true
    }

    /// Another process that shares memory may have changed what threads wait for, which nobody is told: they look again after a moment. For how long
    /// that has gone on by now, without any event, in milliseconds.
    pub(super) fn wait_for_sharers(&mut self, arrivals: u32) -> u64 {
        const PAUSE: u64 = 5;
        let now = sys::milliseconds();
        if self.hopes_since.0 != self.log.events {
            self.hopes_since = (self.log.events, now);
        }
        if !turn::wait_for_arrivals_until(arrivals, PAUSE) {
            self.look_again(Waited::Woken);
        }
        now - self.hopes_since.1
    }

    /// It is a deadlock, in a run of a search or not.
    fn is_deadlock(&mut self) -> ! {
        if self.explorer.is_on() {
            self.tell_places();
            self.ends_with(ending::DEADLOCK);
        }
        self.deadlock()
    }

    /// Everybody waits, and only the world outside could have ended that: says so, closes the
    /// recording and ends the program.
    pub(super) fn waits_outside(&mut self) -> ! {
        if record::has_ended() {
            self.hangs_at_end();
        }
        self.drained();
        if self.explorer.is_on() {
            self.tell_places();
            if !self.explorer.is_silent() {
                record::close(deadheat_wire::OUTSIDE, true);
            }
            self.explorer.waits_outside();
        }
        message::say(format_args!(
            "no thread can go on, and nothing came from outside for {} s: the program waits for \
             something outside, such as a signal or another process",
            options::WATCHDOG.get()
        ));
        self.say_waits();
        record::close(deadheat_wire::OUTSIDE, true);
        sys::exit_group(124)
    }
}
