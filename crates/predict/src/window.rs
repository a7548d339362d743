//! The part of a trace about which questions are asked, and what questions and answers look like.

use deadheat_trace::{Addr, EventIndex, LockId, Step, ThreadId};
use rustc_hash::FxHashMap;

use crate::Count;

/// A part of a trace, with all that is known of its events. Positions are indexes into `steps`.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Where it begins in the trace.
    pub start: EventIndex,
    /// The events, in the order in which they were observed.
    pub steps: Vec<Step>,
    /// For each position that reads: the position of the first event of its thread that depends on
    /// what was read, [`NOBODY`] if there is none in the window. (For others it means nothing.)
    pub needed_by: Vec<u32>,
    /// How things stood before the first event.
    pub border: Border,
    /// Its operations on reference counts, by position: what they read is asked for only so far as
    /// [`crate::counts`] says. None: every value counts.
    pub counts: Vec<(u32, Count)>,
}

/// Nobody needs what was read.
pub const NOBODY: u32 = u32::MAX;

/// How things stood where a window begins. Empty at the beginning of a trace.
#[derive(Clone, Debug, Default)]
pub struct Border {
    /// The locks that were held.
    pub held: Vec<Holding>,
    /// What memory held, as far as it is known: by the address divided by eight.
    pub memory: FxHashMap<u64, Content>,
    /// The heap blocks that were alive.
    pub blocks: Vec<Block>,
}

/// A block of heap memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first byte.
    pub start: Addr,
    /// Its length.
    pub bytes: u64,
}

/// A thread holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub lock: LockId,
    /// How.
    pub hold: Hold,
    /// How many times.
    pub times: u32,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// By nobody else.
    Write,
    /// By readers.
    Read,
}

/// Eight bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The bytes, the first in the lowest bits.
    pub bytes: u64,
    /// Which of them are known: one bit each.
    pub known: u8,
}

/// Events of different threads that are all next: what a schedule leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What it is.
    pub goal: Goal,
    /// Their positions.
    pub next: Vec<u32>,
}

/// What a cut is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Two accesses to common bytes, of which one writes (a `Free` writes to its whole block) and not both are atomic.
    Race,
    /// Requests (`Acquire`, `ReadAcquire`, or `Request`, `ReadRequest` where the window has no acquisition that follows)
    /// of locks that other threads of the cut hold, and `Join`s of threads of the cut. Also waits without a time limit for what others give
    /// (`Wake`, `Take`, `BarrierExit`) and that is not there, if all threads that have begun and not ended are in the cut.
    Deadlock,
}

/// The positions of events in the order in which they are executed.
pub type Schedule = Vec<u32>;
