//! What a transition knows of others: vector clocks.
//!
//! A clock holds, for each thread, the place in the run behind the last of its transitions that is known. Places are those of the
//! run, not counts of the thread, so that a clock also says which transition is meant.

/// What is known of each thread. Threads are numbered by the [`super::path::Path`] that the clock belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    /// The place behind the last transition that is known of this thread; 0 if none is.
    #[inline]
    pub(super) fn of(&self, slot: usize) -> u32 {
        self.0.get(slot).copied().unwrap_or(0)
    }

    /// Whether the transition at this place, which is that thread's, is known.
    #[inline]
    pub(super) fn knows(&self, slot: usize, place: usize) -> bool {
        self.of(slot) as usize > place
    }

    /// Learns of one transition.
    pub(super) fn learn(&mut self, slot: usize, place: usize) {
        if self.0.len() <= slot {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = self.0[slot].max(place as u32 + 1);
    }

    /// Learns all that the other knows.
    pub(super) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// How many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<u32>()
    }
}
