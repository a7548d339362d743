//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatti, 2010).
//!
//! Threads get random priorities and the highest that can run does; at `depth - 1` random steps
//! the running thread falls below all others. A bug that needs `depth` ordering constraints is
//! found with probability at least 1 / (threads * length^(depth - 1)).
//!
//! Deviations: a step is a decision (a synchronisation, or the end of a slice), not an
//! instruction; a thread that yields or spins falls below the others too, or it would starve
//! them.

use super::{Candidate, Policy, Random};

/// The most change points.
const MOST: usize = 32;
/// Accesses between two decisions.
const SLICE: u64 = 4;
/// Decisions in a row for one thread after which it counts as spinning.
const PATIENCE: u64 = 10_000;

/// The policy.
pub struct Pct {
    random: Random,
    step: u64,
    changes: [u64; MOST],
    /// The next priority below all others.
    lowest: u64,
    /// The last choice, and how often in a row.
    last: Candidate,
    kept: u64,
    /// How often is too often.
    patience: u64,
}

impl Pct {
    /// Starts from a seed, for a program of about `length` steps.
    pub fn new(seed: u64, depth: u64, length: u64) -> Self {
        let mut random = Random::new(seed);
        let mut changes = [u64::MAX; MOST];
        for change in changes.iter_mut().take(depth.saturating_sub(1) as usize) {
            *change = random.below(length.max(1));
        }
        Pct {
            random,
            step: 0,
            changes,
            lowest: 1 << 32,
            last: core::ptr::null_mut(),
            kept: 0,
            patience: PATIENCE,
        }
    }

    /// The same with so much more patience at first: each time that it ends, half of that is left.
    pub(super) const fn patient(mut self, patience: u64) -> Self {
        self.patience = patience;
        self
    }

    /// A thread falls below all others.
    pub(super) fn demote(&mut self, thread: Candidate) {
        self.lowest -= 1;
        // SAFETY: candidates are records of live threads; the scheduler has the turn.
        unsafe { (*thread).task.priority = self.lowest };
    }
}

impl Policy for Pct {
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize {
        for thread in ready {
            // SAFETY: as in `demote`. Zero is what a new task has.
            unsafe {
                if (**thread).task.priority == 0 {
                    (**thread).task.priority = (1 << 32) + (self.random.next() >> 1);
                }
            }
        }
        self.step += 1;
        if let Some(current) = current
            && (self.changes.contains(&self.step) || self.kept >= self.patience)
        {
            if self.kept >= self.patience {
                self.patience = (self.patience / 2).max(PATIENCE);
            }
            self.demote(ready[current]);
        }
        // SAFETY: as in `demote`.
        let priority = |index: &usize| unsafe { (*ready[*index]).task.priority };
        let chosen = (0..ready.len()).max_by_key(priority).unwrap_or(0);
        self.kept = if ready[chosen] == self.last {
            self.kept + 1
        } else {
            0
        };
        self.last = ready[chosen];
        chosen
    }

    fn slice(&mut self) -> u64 {
        SLICE
    }

    fn waiter(&mut self, waiters: usize) -> usize {
        self.random.below(waiters as u64) as usize
    }

    fn yielded(&mut self, thread: Candidate) {
        self.demote(thread);
    }
}
