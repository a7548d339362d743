//! Do all threads only wait in loops, for something that nobody is left to do?
//!
//! Whether a loop ends that asks for the time, yields or sleeps cannot be told from what it does: it may wait
//! for a moment to come. (Loops that nothing varying goes into are judged in [`super::hang`].) But that
//! threads do nothing else can be seen. Each time a thread *pauses* (asks for the time, yields,
//! sleeps, gives up a wait whose time is over), the memory that others can look at is compared with
//! what it was at earlier pauses, by a sum over what was changed. If it is always as it was once
//! before, if nothing else happens that others could notice, and if every thread that could go on
//! pauses again and again, then the threads go round.
//!
//! Then time passes faster and faster, so that whoever waits for a moment to come sees it soon, as when all
//! threads sleep. After [`MOST`] steps of that the run is ended, if nobody outside could change anything. That is
//! no finding: the recording says how it was closed. What a thread writes to its own stack does not
//! count, nor does the time. Whoever counts attempts in memory that others can look at, or waits for
//! a descriptor, goes on.

use super::endings::World;
use super::scheduler::Scheduler;
use super::task::State;
use crate::threads::Thread;
use crate::{message, record, sys};

/// In this many steps every thread that could go on has to pause.
const WINDOW: u64 = 50_000;
/// So many steps are enough.
const MOST: u64 = 1_500_000;
/// How much time passes at most behind a window, in microseconds.
const LONGEST_LEAP: u64 = 600_000_000;
/// A wait that only time has ended counts as so many steps: nobody could go on meanwhile.
const STEPS_OF_WAIT: u64 = 20;
/// How many states of the memory may alternate.
const STATES: usize = 32;

/// For how long threads have done nothing but wait.
pub struct Rounds {
    /// What others could notice, when that was counted last.
    stirs: u64,
    /// Steps of this window, and of all windows before.
    steps: u64,
    before: u64,
    /// The number of the window.
    window: u32,
    /// What memory was like at the last pauses.
    states: [u64; STATES],
    /// How many there are, or were.
    known: usize,
}

impl Rounds {
    /// Something has just happened.
    pub const fn new() -> Self {
        Rounds {
            stirs: 0,
            steps: 0,
            before: 0,
            window: 1,
            states: [0; STATES],
            known: 0,
        }
    }

    /// Whether memory was as it is now; if not, that is known from now on.
    fn is_known(&mut self, state: u64) -> bool {
        if self.states[..self.known.min(STATES)].contains(&state) {
            return true;
        }
        self.states[self.known % STATES] = state;
        self.known += 1;
        false
    }

    fn begin_again(&mut self) {
        self.steps = 0;
        self.before = 0;
        self.window = self.window.wrapping_add(1);
    }
}

impl Scheduler {
    /// The running thread has slept, or waited for too long.
    pub fn has_waited(&mut self, me: *mut Thread) {
        self.rounds.steps = (self.rounds.steps + STEPS_OF_WAIT).min(WINDOW - 1);
        self.pauses(me);
    }

    /// The running thread asks for the time, yields, or has waited.
    pub fn pauses(&mut self, me: *mut Thread) {
        self.log.settle();
        if !self.rounds.is_known(self.log.visible) {
            self.rounds.begin_again();
        }
        // SAFETY: the running thread's own record.
        unsafe { (*me).task.paused_in = self.rounds.window };
        self.goes_on();
    }

    /// One more step, or pause.
    #[inline]
    pub(super) fn goes_on(&mut self) {
        if self.rounds.stirs != self.log.stirs {
            self.rounds.stirs = self.log.stirs;
            self.rounds.begin_again();
        }
        self.rounds.steps += 1;
        if self.rounds.steps == WINDOW {
            self.look_at_window();
        }
    }

    #[cold]
    fn look_at_window(&mut self) {
        let window = self.rounds.window;
        for index in 0..self.count {
            let task = self.task(index);
            let goes_on = task.state != State::Blocked || task.until != u64::MAX;
            if goes_on && task.paused_in != window {
                self.rounds.begin_again();
                return;
            }
        }
        self.rounds.before += self.rounds.steps;
        self.rounds.steps = 0;
        self.rounds.window = window.wrapping_add(1);
        if self.may_leap() {
            self.steps += leap(self.rounds.before / WINDOW);
        }
        if self.rounds.before >= MOST && self.can_hang() {
            self.goes_round();
        }
    }

    /// Whether nobody has a time of their own: a schedule, a search, or whoever is outside.
    fn may_leap(&mut self) -> bool {
        let is_free = !self.replay.is_on() && !self.explorer.is_on();
        is_free && self.away == 0 && !World::now(false).children
    }

    /// Says so, closes the recording and ends the program.
    fn goes_round(&mut self) -> ! {
        message::say(format_args!(
            "for {MOST} steps no thread has done anything that others could notice: each one waits, \
             or goes round in a loop that asks for the time, yields or sleeps. The program was ended"
        ));
        for index in 0..self.count {
            // SAFETY: records of threads that have not ended.
            let thread = unsafe { &*self.tasks[index] };
            match thread.task.state {
                State::Blocked if thread.task.until == u64::MAX => self.say_wait(index),
                _ => message::say(format_args!("  T{} goes round in a loop", thread.id)),
            }
        }
        record::close(deadheat_wire::ROUNDS, true);
        sys::exit_group(124)
    }
}

/// How much time passes behind so many windows: twice as much each time.
fn leap(windows: u64) -> u64 {
    (WINDOW << windows.min(20)).min(LONGEST_LEAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_faster_and_faster() {
        assert_eq!(leap(1), 2 * WINDOW);
        assert!((1..200).all(|at| leap(at) <= leap(at + 1) && leap(at) <= LONGEST_LEAP));
        // An hour and more, before the run is ended.
        let all: u64 = (1..MOST / WINDOW).map(leap).sum();
        assert!(all > 3_600_000_000, "{all}");
    }

    #[test]
    fn states_that_alternate_are_known_and_others_are_not() {
        let mut rounds = Rounds::new();
        assert!(!rounds.is_known(0) && !rounds.is_known(7));
        for _ in 0..3 {
            assert!(rounds.is_known(0) && rounds.is_known(7));
        }
        // What counts up is always new.
        assert!((100..1000).all(|state| !rounds.is_known(state)));
        assert!(!rounds.is_known(0));
    }
}
