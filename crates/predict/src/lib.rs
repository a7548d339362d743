//! What one recorded run proves about other runs of the same program: the maximal causal model of
//! Huang, Meredith and Rosu (PLDI 2014), with schedules as proof.
//!
//! The question is always the same: can this *cut* be reached? A cut is a set of events of different threads
//! that are all next at once ([`Cut`]); a race is a cut of two conflicting accesses, a deadlock one of lock
//! requests that hold each other up. The answer "yes" is a [`Schedule`]: the events of a part of each
//! thread, in an order that every program which can do what was recorded can also follow, up to the cut.
//!
//! # The rules
//!
//! A schedule takes from each thread a prefix of its events in the window. It is feasible if, executed from
//! the window's [`Border`] one event after the other:
//!
//! | rule | asks |
//! |---|---|
//! | program order | each thread's events come in their order, without gaps |
//! | threads | a thread's first event comes after its `Fork`, a `Join` after the last event of the thread joined, or after its `Fork` if it has none, where the window has both. If that is no `End` (there are none in STD), its end may depend on all that it read: its reads see what they saw |
//! | locks | an `Acquire` finds the lock free (or the thread's own), a `ReadAcquire` finds it not held for writing by another; releases are the holder's. Re-entrant locks count. Nothing excuses an owner that has ended |
//! | conditions | a `Wake` comes after a `Notify` that no other `Wake` used, or after a `NotifyAll`, of its condition, that came after its own `Wait`: the `Notify` must have come after it too. (If its `Wait` lies before the window and the window has no notification before it, it is free) |
//! | semaphores | a `Take` needs a `Post` before it that no other used, or one of what the semaphore held to begin with: what its `Init` says if the window has that (and no attempt at it that was refused), else as little as the observed order needs |
//! | attempts | a `Refused` finds the lock held, by anybody; a `ReadRefused` finds it held for writing; a `TakeRefused` finds a semaphore that holds nothing, and did when it was observed (else nobody knows what it held). The predictor asks for more: see `model::refusals` |
//! | barriers | a `BarrierExit` comes after all `BarrierEnter`s of its round; a `BarrierEnter` after all those of the rounds before. Rounds are those observed: one is over when the first that entered in it leaves. Where they cannot be known (somebody leaves who entered before the window; the window has the barrier's count and a round another), an exit comes after all entries observed before it, an entry after all observed before the last exit before it |
//! | channels | a `Receive` comes after all `Send`s to its object that were observed before it |
//! | cancelling | a `Send` that cancels a thread comes after all events of that thread that were observed before it, and before all others of it. Where there is one, no wait for a condition, a semaphore or a barrier is known to be without end |
//! | futexes | a `FutexWoken` comes after some `FutexWake` between its `FutexWait` and it, if one was observed there |
//! | lives | what uses a synchronisation object or a heap block comes after the `Init` or `Alloc` and before the `Destroy` or `Free` of that life. Memory of different lives is different memory, in no order; a second life of the same object comes after all events of the first. A block that is neither allocated in the window nor known at the border has one byte, that at its address |
//! | gaps | all events observed before a `Lost` come before it and its followers, of all threads, and their reads see what they saw: what is missing depended on them |
//! | values | every read that somebody *needs* sees what it saw |
//! | counts | an operation on a reference count goes on as [`counts`] says; what only the last owner does may be skipped |
//!
//! **Values.** Each byte has a content: that of the last write to it (or of the border). A write of a thread
//! all of whose reads so far saw what they saw in the recording writes what it wrote there; any other write
//! leaves an unknown content that equals nothing. A read *sees what it saw* if all its bytes have the
//! content that it had: the same value where values are known, else that of the same write. (The first read of what was there
//! from the beginning tells its value.) What a read needs
//! to be the same for is in [`Window::needed_by`]: the first event of its thread that would perhaps not be
//! there, or be another, if it had seen something else. That event can neither be executed nor be next
//! in the cut unless the read saw what it saw. An `ExternalWrite` (by code that nobody saw) writes what it wrote
//! only if, besides, all events of other threads observed from the last access to those bytes before it (of the byte whose last access lies
//! furthest back; from the window's start if one had none, or is accessed atomically) up to itself have
//! been executed, all reads of their threads up to there having seen what they saw; unless only its own thread accesses these bytes in the window, and never atomically.
//!
//! The value that the recording has for a read counts: if it is not what the last write is known to have written, only that value will do. If what the
//! last write wrote is not known, both the value and that write will do. Bytes that accesses never take apart are known together or not at all.
//!
//! Atomic accesses are single events; their reads are needed by themselves, as whether a
//! compare-and-swap writes depends on what it sees. Next in a race they need not see what they saw: an atomic
//! access reads in any case, and whether it writes too matters only for an `AtomicRmw` against a read, which therefore must.
//! A lock that was only tried for is no request that waits, and neither is one of which the time was up. Fences order nothing here: the model is sequential
//! consistency, and what races in it races in C, C++ and Rust.

mod ask;
mod candidates;
pub mod check;
mod closure;
mod code_needs;
pub mod counts;
mod deadlocks;
mod effort;
pub mod interleave;
mod leave_out;
mod model;
mod needs;
mod question;
mod recorded;
mod reduce;
mod run;
mod saturate;
mod search;
mod standstill;
mod tidy;
mod window;

pub use ask::{Answer, Asker, Stage};
pub use candidates::{Candidates, Places, candidates};
pub use code_needs::{AboutEvent, CodeNeeds};
pub use counts::{Count, Release};
pub use deadlocks::{Cycles, cycles};
pub use effort::{Budget, Effort};
pub use leave_out::{Constraining, Left, Sieve, Survey};
pub use model::Model;
pub use needs::{BranchNeeds, Reads, needed_by};
pub use recorded::{Ended, Ending};
pub use reduce::Reduced;
pub use run::{
    Observer, Options, Prediction, Predictor, Proven, Refused, Size, Source, StageFigures,
    Statistics, predict,
};
pub use standstill::{Standstill, standstills};
pub use window::{Block, Border, Content, Cut, Goal, Hold, Holding, NOBODY, Schedule, Window};
