//! Vector clocks and epochs.

use deadheat_trace::ThreadId;

/// A moment of one thread: which, and its time. The zero epoch is before everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epoch {
    /// The thread.
    pub thread: u32,
    /// Its time; 0 is before its first event.
    pub time: u32,
}

/// For each thread how much of it is known to lie before. Threads that are not mentioned are at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorClock {
    times: Vec<u32>,
}

impl VectorClock {
    /// Nothing lies before.
    pub const fn new() -> Self {
        VectorClock { times: Vec::new() }
    }

    /// With these times by thread.
    pub const fn of(times: Vec<u32>) -> Self {
        VectorClock { times }
    }

    /// The time of a thread.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.times.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets the time of a thread.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, time: u32) {
        if thread.index() >= self.times.len() {
            self.times.resize(thread.index() + 1, 0);
        }
        self.times[thread.index()] = time;
    }

    /// Whether an epoch lies before.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.time <= self.get(ThreadId(epoch.thread))
    }

    /// Takes over what another clock knows.
    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        if other.times.len() > self.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes the same as another clock, in the memory that is there.
    #[inline]
    pub fn copy_from(&mut self, other: &VectorClock) {
        self.times.clone_from(&other.times);
    }

    /// Whether all that this clock knows is known to the other.
    #[inline]
    pub fn is_within(&self, other: &VectorClock) -> bool {
        let known = self.times.len().min(other.times.len());
        let (mine, rest) = self.times.split_at(known);
        mine.iter().zip(&other.times).all(|(a, b)| a <= b) && rest.iter().all(|time| *time == 0)
    }

    /// Forgets everything, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// The times by thread.
    pub fn times(&self) -> &[u32] {
        &self.times
    }

    /// How many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        self.times.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_different_lengths() {
        let mut a = VectorClock::new();
        a.set(ThreadId(2), 5);
        let mut b = VectorClock::new();
        b.set(ThreadId(0), 1);
        assert!(!a.is_within(&b) && !b.is_within(&a));
        b.join(&a);
        assert!(a.is_within(&b) && !b.is_within(&a));
        assert_eq!(b.times(), [1, 0, 5]);
        assert!(b.covers(Epoch { thread: 2, time: 5 }) && !b.covers(Epoch { thread: 2, time: 6 }));
        assert!(b.covers(Epoch::default()) && b.covers(Epoch { thread: 9, time: 0 }));
        let mut longer = VectorClock::new();
        longer.set(ThreadId(9), 0);
        assert!(longer.is_within(&VectorClock::new()));
    }
}
