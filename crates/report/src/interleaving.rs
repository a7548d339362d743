//! The way to a finding: the end of the schedule that leads there, step by step, as people read it.

use serde::{Deserialize, Serialize};

use crate::finding::Frame;

/// The last steps of a schedule, up to where all sides of the finding are next at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interleaving {
    /// The threads that take part, by their numbers: one column or lane each.
    pub threads: Vec<Lane>,
    /// How many steps of the schedule lie before the first that is told.
    pub earlier: u64,
    /// The steps, the last of which are the finding's own sides, in the order of the schedule.
    pub steps: Vec<Step>,
}

/// A thread of an interleaving.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The locks that it holds before the first step that is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// Reads memory.
    Read,
    /// Writes memory, or reads and writes it at once.
    Write,
    /// Takes a lock.
    Take,
    /// Gives a lock back.
    Release,
    /// Anything else: creates a thread, waits, wakes.
    Other,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whose: a [`Lane::number`].
    pub thread: u32,
    /// What kind of step it is.
    pub does: Does,
    /// In words: `read`, `atomic write`, `lock`, `unlock`, `create`, `join`, `wait`, ...
    pub op: String,
    /// On what: the variable, the lock, the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// What was read or written, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// Where.
    #[serde(flatten)]
    pub place: Frame,
    /// Where it stands in the trace.
    pub index: u64,
    /// Which side of the finding it is, as an index into its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<usize>,
    /// Whether it is worth telling where there is room for a few lines only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key: bool,
}
