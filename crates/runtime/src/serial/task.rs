//! A thread, as the scheduler sees it.

use core::sync::atomic::AtomicI32;

use super::context::Context;
use super::endings::Kind;
use super::explore::spin::Spin;
use super::hang::Loop;
use crate::record::event::Sync;

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// Somebody woke it.
    Woken,
    /// Time was up.
    TimedOut,
    /// The thread was cancelled.
    Cancelled,
    /// A signal handler ran, and the call is to fail with `EINTR`.
    Interrupted,
    /// A signal handler ran, and the call is to begin anew.
    Restarted,
    /// Nobody else could run: whatever it waits for can only come from outside.
    Idle,
}

/// Where in its life a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Ready,
    /// Waits for an object, see [`Task::object`] and [`Task::kind`].
    Blocked,
    /// In a call without the turn.
    Away,
    Ended,
}

/// A thread, as the scheduler sees it.
pub struct Task {
    pub(super) state: State,
    pub(super) object: usize,
    /// What kind of wait that is.
    pub(super) kind: Kind,
    /// It can run to handle a signal, but its wait is not over: whoever wakes waiters counts it in.
    pub(super) interrupted: bool,
    /// It has been told that nobody else can run, and waits all the same.
    pub(super) was_idle: bool,
    pub(super) outcome: Waited,
    /// The wait may end without a reason, to try again.
    pub(super) retries: bool,
    /// The step at which its time is up; `u64::MAX` for never.
    pub(super) until: u64,
    /// Its last wait may have ended by time.
    pub(super) is_limited: bool,
    /// The order in which waits began.
    pub(super) since: u64,
    pub(super) cancelled: bool,
    /// It may be cancelled at any time, not only where it waits.
    pub(super) asynchronous: bool,
    /// What is written down of its wait if that never ends, and nothing says yet that it has begun.
    pub(super) unended: Option<Sync>,
    /// For policies that have priorities; 0: none given yet.
    pub priority: u64,
    /// Which of an enforced schedule's threads it is, plus one; 0: none.
    pub follower: u32,
    /// It is in a call that waits for something outside.
    pub waits_outside: bool,
    /// The carrier on which it was when the watchdog took the turn from it; 0: it has not, or the thread is back.
    pub lost_on: AtomicI32,
    /// How many operations it has done in a run of a search.
    pub deeds: u64,
    /// How many threads it has created.
    pub children: u32,
    /// Whether it asks the same over and over.
    pub spin: Spin,
    /// How often it has let others go first, in a search.
    pub yields: u32,
    /// What is known of the loop that it is in.
    pub turns: Loop,
    /// In which window of [`super::rounds`] it has paused last.
    pub paused_in: u32,
    /// Which copy of the program has made its home, see `explore::server`.
    pub copy: u32,
    /// The kernel thread of its home, if a copy has made it.
    pub home: i32,
    /// Which signals it does not want.
    pub mask: u64,
    /// Which signals it waits for (`sigwait` and its kin).
    pub accepts: u64,
    /// Where its handlers run if they want to be elsewhere than on its stack.
    pub alternate: super::signals::Alternate,
    /// Who waits for its end.
    pub joiner: *mut crate::threads::Thread,
    /// Its stack and registers, while it does not run.
    pub context: Context,
}

impl Task {
    /// A task that does not run yet.
    pub fn new(context: Context) -> Self {
        Task {
            state: State::Away,
            object: 0,
            kind: Kind::Sleep,
            interrupted: false,
            was_idle: false,
            outcome: Waited::Woken,
            retries: false,
            until: u64::MAX,
            is_limited: false,
            since: 0,
            cancelled: false,
            asynchronous: false,
            unended: None,
            priority: 0,
            follower: 0,
            waits_outside: false,
            lost_on: AtomicI32::new(0),
            deeds: 0,
            children: 0,
            spin: Spin::new(),
            yields: 0,
            turns: Loop::new(),
            paused_in: 0,
            copy: super::explore::server::copy(),
            home: 0,
            mask: 0,
            accepts: 0,
            alternate: super::signals::Alternate::NONE,
            joiner: core::ptr::null_mut(),
            context,
        }
    }

    /// Whether its wait of this kind ends because it was cancelled, if it lets itself be.
    pub(super) fn is_cancelled_in(&self, kind: Kind) -> bool {
        let is_lock = self.asynchronous && kind == Kind::Lock;
        self.cancelled && (kind.is_cancellation_point() || is_lock)
    }

    /// Its own code's frames lie below.
    pub fn stack_begins(&mut self, at: usize) {
        self.turns.stack = at & !7;
    }

    /// Where its stack begins; 0: not known.
    pub fn stack_top(&self) -> usize {
        self.turns.stack
    }

    /// Whether its last event has happened.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }
}
