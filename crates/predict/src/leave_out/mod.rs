//! Leaves out of a trace, while it is read, accesses that constrain no schedule: those to memory whose conflicting accesses
//! every schedule has in one order.
//!
//! That is what program order, the creation and the join of threads, and barriers order (the *must order*). Such memory belongs to
//! one thread at a time: a thread's own variables, what is set up before threads are created, what is looked at after they were
//! joined, each thread's part of a field between two barriers; and what nobody writes. A first reading of the trace finds it ([`Survey`]); a second one leaves out its accesses ([`Sieve`]), and
//! entries, exits, branches and fences, of which nobody but the needs has to know. It is [`Reduced`](crate::Reduced), for the whole trace
//! at once.
//!
//! **Why nothing is lost.** What is left out is executed right before its thread's next event that is kept. Its conflicting
//! accesses have the same order in every schedule, so it is no race, it sees the same write in each, and other threads cannot notice
//! when it happens. So every schedule of the whole trace is one of what is kept.
//!
//! **Why nothing else is found.** Take a schedule of what is kept, with what is left out put back. Order, locks, tokens are as they should
//! be, as all of that is kept. What is left to show is that each read that somebody needs sees what it saw. Of reads that are kept that
//! is asked anyway. A read that is left out sees the last write before it, w, which is the same in every schedule; it sees what it saw if w
//! wrote what it wrote, for which all reads before w of w's thread must have seen what they saw. So whoever needs the read, needs those:
//!
//! * *w is its own thread's*: all reads of the thread before w are needed by whoever needs the read ([`Left::Out`]).
//! * *w is another thread's*: something leads from w to the read in the must order, and it leaves w's thread by its end, which a join
//!   waits for, by a creation, or by its arrival at a barrier. An end needs all that its thread has read. A creation, an arrival (or an end of which
//!   nothing is known) is told what its thread had read when it last wrote memory that others look at, too, and needs that ([`Left::Kept`]). So the
//!   reader is not there unless w wrote what it wrote.
//!
//! Reads before w that are left out themselves see what they saw by the same argument, as the writes that they see come before w. And since
//! each thread's kept reads decide what it writes, what kept writes wrote is judged as before.
//!
//! A creation or an arrival so needs more than it does in the whole trace, where a thread may be created, or go on behind the barrier, with memory that is
//! not as it was as long as nobody needs it. That is the one thing that may cost a schedule.
//!
//! **Barriers.** Whoever leaves comes after all who came to its round ([`Rounds`](deadheat_detect::Rounds)), and nothing else is taken from a barrier. Arrivals and
//! departures are kept, so what is kept has to order them as well, in every window: those who look at a window take whoever leaves to come after all of its round
//! that the window has, or, where rounds are not known, after all who came before it in the trace. Both are more than is needed here: the arrivals of a round all
//! come before its first departure, and what comes before the window happens before it. That rounds are those of every schedule is not so if more threads
//! use a barrier than it waits for, and may not be if the trace does not have all of it. Where anything like that shows, barriers order nothing
//! ([`Survey::is_misled`]).
//!
//! **What is not understood is kept.** Everything in a trace with gaps; memory that is accessed atomically or written by code that nobody saw;
//! what the release of a reference count touches, as that may be skipped; blocks with kept memory, their allocation and release (which
//! write to all of it that is accessed); what hangs together with kept memory by accesses to both. Conditions that count events of other
//! threads (an external write, a cancelled thread, a join without an end) find the last event before them: if it would be left out,
//! a fence stands for it.

use std::ops::RangeInclusive;

mod histories;
mod shadow;
mod sieve;
mod survey;

pub use sieve::{Left, Sieve};
pub use survey::{Constraining, Survey};

/// The words of eight bytes that an access touches.
fn words(addr: u64, size: u64) -> RangeInclusive<u64> {
    addr >> 3..=addr.saturating_add(size.max(1) - 1) >> 3
}
