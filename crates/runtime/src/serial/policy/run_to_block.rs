//! No switch unless the running thread cannot go on: the fewest switches, the plainest trace.

use super::{Candidate, Policy};

/// Accesses after which a thread that only spins lets others go first.
const PATIENCE: u64 = 1_000_000;

/// The policy.
pub struct RunToBlock;

impl Policy for RunToBlock {
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize {
        current.unwrap_or_else(|| {
            // SAFETY: candidates are records of live threads.
            (0..ready.len()).min_by_key(|index| unsafe { (*ready[*index]).id }).unwrap_or(0)
        })
    }

    fn slice(&mut self) -> u64 {
        PATIENCE
    }
}
