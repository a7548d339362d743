//! Preemptions where they are likely to matter: the idea of AtomFuzzer (Park and Sen, 2008) and its kin, which hold a thread
//! where another one may come in between.
//!
//! Threads get random priorities, as in [`super::pct`], and the highest that can run does. A thread that reaches a place
//! which the tool has listed falls below all others if a coin shows heads so many times in a row. So it stands there while others
//! run on, until they wait, end, or reach such a place themselves.
//!
//! Deviations: nobody looks whether what others do meanwhile is what was hoped for; nobody is held by force, so no thrashing has to be
//! resolved; which places these are comes from a recorded run, not from static analysis.

use super::pct::Pct;
use super::{Candidate, Policy, Random};

/// Decisions in a row for one thread after which it counts as spinning, the first time: while one thread stands at a point, others are to
/// do much.
const PATIENCE: u64 = 1 << 19;

/// The policy.
pub struct Points {
    priorities: Pct,
    random: Random,
    /// So many bits of a random number have to be zero.
    mask: u64,
}

impl Points {
    /// Starts from a seed.
    pub fn new(seed: u64, tosses: u64) -> Self {
        Points {
            priorities: Pct::new(seed, 1, 1).patient(PATIENCE),
            random: Random::new(seed ^ 0x9016_7500),
            mask: (1 << tosses.min(32)) - 1,
        }
    }
}

impl Policy for Points {
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize {
        self.priorities.next(ready, current)
    }

    fn slice(&mut self) -> u64 {
        self.priorities.slice()
    }

    fn waiter(&mut self, waiters: usize) -> usize {
        self.priorities.waiter(waiters)
    }

    fn yielded(&mut self, thread: Candidate) {
        self.priorities.yielded(thread);
    }

    fn reached(&mut self, thread: Candidate) -> bool {
        let falls = self.random.next() & self.mask == 0;
        if falls {
            self.priorities.demote(thread);
        }
        falls
    }
}
