//! What something in a program's code depends on.

use std::sync::Arc;

/// What a branch, or the address of an access, depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Depends {
    /// On nothing that was read: it is the same in every run that comes here.
    Nothing,
    /// On some reads.
    On(Arc<Sources>),
    /// On whatever the thread has read so far. Also whatever is not understood.
    Everything,
}

/// Reads that something depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sources {
    /// Sites of the same function, by their pcs in ascending order: every read that the present
    /// activation of the function has made there so far.
    pub reads: Vec<u64>,
    /// Whether it depends on what the function was given: arguments, registers, its caller's
    /// memory, and so on everything that the thread had read before this activation began.
    pub before: bool,
}

impl Depends {
    /// On these reads; [`Depends::Nothing`] if there are none.
    pub fn on(mut reads: Vec<u64>, before: bool) -> Depends {
        if reads.is_empty() && !before {
            return Depends::Nothing;
        }
        reads.sort_unstable();
        reads.dedup();
        Depends::On(Arc::new(Sources { reads, before }))
    }

    /// Whether it may depend on a read at `pc` in the same activation.
    pub fn has(&self, pc: u64) -> bool {
        match self {
            Depends::Nothing => false,
            Depends::On(sources) => sources.reads.binary_search(&pc).is_ok(),
            Depends::Everything => true,
        }
    }

    /// Whether it may depend on what was read before the activation began.
    pub fn has_before(&self) -> bool {
        match self {
            Depends::Nothing => false,
            Depends::On(sources) => sources.before,
            Depends::Everything => true,
        }
    }
}

/// What lies between two consecutive events of one activation of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Passed {
    /// Nothing that decides: the second event follows the first, whatever was read.
    Straight,
    /// Branches, or calls of code that is not known; they depend on this.
    Branched(Depends),
}

impl Passed {
    /// The answer where nothing is known.
    pub const UNKNOWN: Passed = Passed::Branched(Depends::Everything);
}

/// A place between the events of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// At the event with this pc, the address behind the call that announced it. If a function of
    /// the program is called there, such an event was made inside it: by code without hooks, or by
    /// what a function jumped to at its end.
    After(u64),
    /// At the entry of a function with hooks that is called at this pc.
    Into(u64),
    /// At the entry of the function that this address lies in.
    Entry(u64),
    /// At the exit of the function that this address lies in.
    Exit(u64),
}
