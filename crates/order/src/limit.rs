//! How long to try, and what came of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::literal::Lit;
use crate::model::Model;

/// How long [`Solver::solve`](crate::Solver::solve) may try. The default has no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit<'a> {
    /// When to give up.
    pub deadline: Option<Instant>,
    /// After how many conflicts of this call to give up.
    pub conflicts: Option<u64>,
    /// After how much [work](Statistics::work) of this call to give up.
    pub work: Option<u64>,
    /// Give up when this becomes true.
    pub stop: Option<&'a AtomicBool>,
}

impl Limit<'_> {
    /// Why to give up now, after so many conflicts and so much work; `None` to go on.
    pub(crate) fn reached(&self, conflicts: u64, work: u64) -> Option<GaveUp> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(GaveUp::Stopped)
        } else if self.conflicts.is_some_and(|most| conflicts >= most) {
            Some(GaveUp::Conflicts)
        } else if self.work.is_some_and(|most| work >= most) {
            Some(GaveUp::Work)
        } else if self.deadline.is_some_and(|end| Instant::now() >= end) {
            Some(GaveUp::Deadline)
        } else {
            None
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// The deadline passed.
    Deadline,
    /// There were as many conflicts as allowed.
    Conflicts,
    /// As much work was done as allowed.
    Work,
    /// All that was asked for and learned takes too much memory.
    Memory,
    /// Somebody asked to stop.
    Stopped,
}

/// What came of [`Solver::solve`](crate::Solver::solve).
#[derive(Debug)]
pub enum Outcome {
    /// There is an order; this is one.
    Solved(Model),
    /// There is none, under these assumptions: already these together cannot hold. None named
    /// means that nothing can be solved any more, whatever is assumed.
    Impossible(Vec<Lit>),
    /// Not known. The solver can be used further, and what it learned it keeps.
    GaveUp(GaveUp),
}

/// What a solver did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Calls of `solve`.
    pub solves: u64,
    /// Literals that were tried.
    pub decisions: u64,
    /// Literals whose consequences were drawn.
    pub propagations: u64,
    /// Times that what was tried could not hold.
    pub conflicts: u64,
    /// Those of them that were cycles in the order.
    pub cycles: u64,
    /// Literals that were ruled out before they were tried, as they would have closed a cycle.
    pub ruled_out: u64,
    /// Edges that were put into the order, by literals.
    pub edges: u64,
    /// Stations that the searches for cycles looked at.
    pub visited: u64,
    /// Times that the search began anew.
    pub restarts: u64,
}

impl Statistics {
    /// How much was done, in steps of about the same length: the same on every machine.
    pub fn work(&self) -> u64 {
        let Statistics {
            decisions,
            propagations,
            edges,
            visited,
            ..
        } = self;
        // A conflict is explained and learned from.
        decisions + propagations + edges + visited + 16 * self.conflicts
    }
}
