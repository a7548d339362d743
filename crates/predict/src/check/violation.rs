//! What is wrong with a schedule, in words.

use deadheat_trace::{LockId, SyncId, ThreadId};
use thiserror::Error;

/// Where a schedule breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// An event cannot be executed when the schedule says so.
    #[error("step {step} of the schedule, event {event}: {broken}")]
    Step {
        /// Which step, from 0.
        step: usize,
        /// The position of the event.
        event: u32,
        /// Why not.
        broken: Broken,
    },
    /// An event of the cut is not next after the schedule.
    #[error("after {steps} steps, event {event} of the cut is not next: {broken}")]
    NotNext {
        /// How long the schedule is.
        steps: usize,
        /// The position of the event.
        event: u32,
        /// Why not.
        broken: Broken,
    },
    /// The cut has too few or too many events for what it is to be.
    #[error("a cut of {0} events is none")]
    Size(usize),
    /// Two events of the cut are of the same thread.
    #[error("events {0} and {1} of the cut are both of {2}")]
    SameThread(u32, u32, ThreadId),
    /// The two events of a race do not conflict.
    #[error("events {0} and {1} are no race: {2}")]
    NoRace(u32, u32, &'static str),
    /// An event of a deadlock does not ask for a lock, nor wait for a thread in the cut, nor for anything else.
    #[error("event {0} does not wait for anything")]
    NoRequest(u32),
    /// Something that is waited for is there, or it is not known whether it is.
    #[error("event {0} waits for something that may be there")]
    NotInVain(u32),
    /// A thread outside of the cut can go on, and might end a wait.
    #[error("{0} is neither in the cut nor at its end")]
    StillRuns(ThreadId),
    /// Nobody knows who else there is.
    #[error("the window does not have everything from the start, or threads are cancelled")]
    NotAll,
    /// A lock that is asked for could be taken.
    #[error("event {event} asks for {lock}, which no other thread of the cut holds against it")]
    NotBlocked {
        /// The position of the request.
        event: u32,
        /// The lock.
        lock: LockId,
    },
}

/// The rule that an event breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Broken {
    /// There is no such event.
    #[error("the window has only {0} events")]
    OutOfRange(usize),
    /// Program order: it has been executed.
    #[error("it was executed before")]
    Again,
    /// Program order: others of its thread come first.
    #[error("event {0} of the same thread comes first")]
    NotInTurn(u32),
    /// Threads: its thread has not been created.
    #[error("its thread is created by event {0}, which has not been executed")]
    NotForked(u32),
    /// Threads: the thread that it joins still has something to do.
    #[error("the thread that it joins still has to execute event {0}")]
    NotEnded(u32),
    /// Gaps: something before a gap has not been executed, or saw something else.
    #[error(
        "event {0} was observed before a gap that this one comes after, and was not executed as it was"
    )]
    BeforeGap(u32),
    /// Locks: another thread holds it.
    #[error("{lock} is held by {holder}")]
    Held {
        /// The lock.
        lock: LockId,
        /// Who holds it.
        holder: ThreadId,
    },
    /// Locks: released by a thread that does not hold it (in this way).
    #[error("{0} is not held by the thread that releases it")]
    NotHeld(LockId),
    /// Attempts: nobody holds it so that the attempt would be refused.
    #[error("nobody holds {0}, so the attempt would not be refused")]
    NotRefused(LockId),
    /// Conditions: nothing wakes it.
    #[error("no notification of {0} that it can use came after its wait")]
    NotNotified(SyncId),
    /// Semaphores: nothing to take.
    #[error("nothing is left of {0}")]
    NothingPosted(SyncId),
    /// Attempts: the semaphore is not known to be at zero.
    #[error("{0} is not known to be at zero, so the attempt might not be refused")]
    SomethingPosted(SyncId),
    /// Barriers: a thread that belongs to its round, or to one before, has not entered.
    #[error("event {0} has to enter the barrier first")]
    NotEntered(u32),
    /// Channels: a message is missing.
    #[error("event {0} has to send first")]
    NotSent(u32),
    /// A thread is cancelled at another place among its events.
    #[error("a thread would be cancelled by event {0} where it was not")]
    Cancelled(u32),
    /// Futexes: nobody woke it.
    #[error("no wake-up of {0} came after its wait")]
    NotWoken(SyncId),
    /// Lives: what it uses is not there yet.
    #[error("what it uses begins with event {0}, which has not been executed")]
    NotBorn(u32),
    /// Lives: what it uses is gone.
    #[error("what it uses ended with event {0}")]
    Gone(u32),
    /// Lives: what it uses may be gone, as nobody knows whether somebody was the last owner.
    #[error("what it uses may have ended in a release that may or may not have been skipped")]
    PerhapsGone,
    /// Lives: the object's life before is not over.
    #[error("event {0} belongs to an earlier life of the object and has not been executed")]
    EarlierLife(u32),
    /// Values: a read that decides whether it is there saw something else.
    #[error("event {0}, on which it depends, read something else than was observed")]
    ReadElse(u32),
    /// Values: it reads, nothing may be otherwise, and memory holds something else.
    #[error("it would read something else than was observed")]
    WouldReadElse,
}
