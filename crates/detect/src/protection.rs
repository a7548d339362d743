//! What protects an access: the locks that its thread holds there, as numbers.
//!
//! A *hold* is a lock and how it is held: two holds of the same lock exclude each other unless both are
//! for reading. Atomic accesses do not race with each other, as if each held one more lock that only
//! atomic accesses hold; so locks and atomics are one thing to those who compare.

use deadheat_history::Hold;
use deadheat_trace::{EventIndex, Step, ThreadId};
use smallvec::SmallVec;

use crate::{Change, HeldLocks};

/// The lock that all atomic accesses hold.
pub(crate) const ATOMIC: u32 = Hold::MAX_LOCK;

/// The holds of an access, by lock.
pub(crate) type Holds = SmallVec<[Hold; 4]>;

/// The locks of all threads, as holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protection {
    locks: HeldLocks,
    holds: Vec<Holds>,
    atomic: Vec<Holds>,
}

impl Protection {
    /// The next step.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step) -> Change {
        let change = self.locks.step(index, &step.event);
        if change != Change::None {
            self.renew(step.event.thread());
        }
        change
    }

    /// The locks behind.
    pub fn locks(&self) -> &HeldLocks {
        &self.locks
    }

    /// What protects an access by a thread now.
    #[inline]
    pub fn of(&self, thread: ThreadId, atomic: bool) -> &[Hold] {
        const ATOMIC_ONLY: [Hold; 1] = [Hold::exclusive(ATOMIC)];
        let (all, none): (_, &[Hold]) = match atomic {
            false => (&self.holds, &[]),
            true => (&self.atomic, &ATOMIC_ONLY),
        };
        all.get(thread.index()).map_or(none, SmallVec::as_slice)
    }

    fn renew(&mut self, thread: ThreadId) {
        let at = thread.index();
        if at >= self.holds.len() {
            self.holds.resize_with(at + 1, Holds::new);
            let alone = Holds::from_slice(&[Hold::exclusive(ATOMIC)]);
            self.atomic.resize(at + 1, alone);
        }
        let holds = &mut self.holds[at];
        holds.clear();
        for held in self.locks.of(thread) {
            holds.push(match held.shared {
                true => Hold::shared(held.lock.0),
                false => Hold::exclusive(held.lock.0),
            });
        }
        // Held both ways counts as held alone, which comes last.
        holds.sort_unstable();
        holds.reverse();
        holds.dedup_by_key(|hold| hold.lock());
        holds.reverse();
        let atomic = &mut self.atomic[at];
        atomic.clone_from(holds);
        atomic.push(Hold::exclusive(ATOMIC));
    }
}
