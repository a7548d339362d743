//! Vector clocks for a handful of threads, and who accessed a variable.

use super::program::THREADS;

/// What a thread, or a place where threads leave what they know, knows of each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Clock(pub [u8; THREADS]);

impl Clock {
    /// Learns what another clock knows.
    pub fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Whether this knows of a thread's doings up to an epoch.
    #[must_use]
    pub fn knows(&self, thread: usize, epoch: u8) -> bool {
        self.0.get(thread).is_some_and(|known| *known >= epoch)
    }

    /// A thread's own component grows.
    pub fn tick(&mut self, thread: usize) {
        if let Some(own) = self.0.get_mut(thread) {
            *own = own.saturating_add(1);
        }
    }

    /// A thread's component.
    #[must_use]
    pub fn of(&self, thread: usize) -> u8 {
        self.0.get(thread).copied().unwrap_or(0)
    }
}

/// The latest access of one kind by one statement of a thread. An earlier one that is unordered with
/// something leaves this unordered, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seen {
    /// Who.
    pub thread: u8,
    /// Where.
    pub id: u32,
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was atomic.
    pub atomic: bool,
    /// The first byte.
    pub at: u8,
    /// How many bytes.
    pub width: u8,
    /// When, by its own clock.
    pub epoch: u8,
}

impl Seen {
    /// Whether the two are accesses that race if nothing orders them.
    #[must_use]
    pub fn conflicts_with(&self, other: &Seen) -> bool {
        self.thread != other.thread
            && (self.write || other.write)
            && !(self.atomic && other.atomic)
            && self.overlaps(other)
    }

    fn overlaps(&self, other: &Seen) -> bool {
        self.at < other.at + other.width && other.at < self.at + self.width
    }
}
