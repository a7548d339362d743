//! Every thread in turn, by number: a short stretch each.

use super::{Candidate, Policy};

/// Accesses per turn.
const SLICE: u64 = 4;

/// The policy.
pub struct RoundRobin;

impl Policy for RoundRobin {
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize {
        // SAFETY: candidates are records of live threads.
        let id = |index: usize| unsafe { (*ready[index]).id };
        let mine = current.map(id);
        let after = (0..ready.len()).filter(|index| mine.is_some_and(|mine| id(*index) > mine));
        after
            .min_by_key(|index| id(*index))
            .or_else(|| (0..ready.len()).min_by_key(|index| id(*index)))
            .unwrap_or(0)
    }

    fn slice(&mut self) -> u64 {
        SLICE
    }
}
