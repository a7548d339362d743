//! A whole trace in a few figures, for plots: what happened when, who waited for which lock, how much each thread did.

use serde::{Deserialize, Serialize};

/// A trace in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// How many events it has.
    pub events: u64,
    /// The trace in slices of the same number of events.
    pub slices: Vec<Slice>,
    /// Its locks, those that are waited for most first.
    pub locks: Vec<LockUse>,
    /// Its threads, by their numbers.
    pub threads: Vec<ThreadUse>,
}

/// What happened in one slice of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Accesses to memory.
    pub accesses: u64,
    /// Synchronisation.
    pub syncs: u64,
    /// How often another thread went on.
    pub switches: u64,
}

/// How a lock was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockUse {
    /// Its name.
    pub name: String,
    /// How often it was taken.
    pub taken: u64,
    /// How often it was taken by another thread than the one before.
    pub handed_over: u64,
    /// How often a thread asked for it while another held it.
    pub waited: u64,
    /// How many threads took it.
    pub threads: u64,
}

/// What a thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its first event.
    pub first: u64,
    /// Its last event.
    pub last: u64,
    /// Its accesses to memory.
    pub accesses: u64,
    /// Its synchronisation.
    pub syncs: u64,
}
