//! No switch unless the running thread cannot go on: the fewest switches, the plainest trace.

use super::round_robin::RoundRobin;
use super::{Candidate, Policy};

/// Accesses, and decisions, after which a thread that only spins lets others go first.
const ACCESSES: u64 = 1_000_000;
const DECISIONS: u64 = 100_000;

/// The policy.
#[derive(Default)]
pub struct RunToBlock {
    /// Decisions in favour of the running thread, one after the other.
    kept: u64,
}

impl Policy for RunToBlock {
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize {
        self.kept += 1;
        match current {
            Some(current) if self.kept < DECISIONS => current,
            _ => {
                self.kept = 0;
                RoundRobin.next(ready, current)
            }
        }
    }

    fn slice(&mut self) -> u64 {
        ACCESSES
    }

    fn used_up(&mut self) {
        self.kept = DECISIONS;
    }
}
