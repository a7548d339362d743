//! A random walk: at every synchronisation, and at accesses after a random stretch, any thread
//! that can run may be next.

use super::{Candidate, Policy, Random};

/// The mean number of accesses between two decisions.
const MEAN_SLICE: u64 = 16;

/// The policy.
pub struct RandomWalk {
    random: Random,
}

impl RandomWalk {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        RandomWalk {
            random: Random::new(seed),
        }
    }
}

impl Policy for RandomWalk {
    fn next(&mut self, ready: &[Candidate], _current: Option<usize>) -> usize {
        self.random.below(ready.len() as u64) as usize
    }

    fn slice(&mut self) -> u64 {
        1 + self.random.below(2 * MEAN_SLICE)
    }

    fn waiter(&mut self, waiters: usize) -> usize {
        self.random.below(waiters as u64) as usize
    }
}
