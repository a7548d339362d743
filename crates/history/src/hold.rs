//! A lock in somebody's hands.

use core::fmt;

/// A lock, and whether it is held for reading only. Ordered by lock.
///
/// ```
/// use deadheat_history::Hold;
/// let (reader, writer) = (Hold::shared(7), Hold::exclusive(7));
/// assert!(reader.excludes(writer) && !reader.excludes(reader));
/// assert!(reader.is_within(writer) && !writer.is_within(reader));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hold(u32);

impl Hold {
    /// The largest number that a lock may have.
    pub const MAX_LOCK: u32 = u32::MAX >> 1;

    /// Nobody else holds it.
    #[inline]
    pub const fn exclusive(lock: u32) -> Self {
        Hold((lock & Self::MAX_LOCK) << 1 | 1)
    }

    /// Others may hold it for reading.
    #[inline]
    pub const fn shared(lock: u32) -> Self {
        Hold((lock & Self::MAX_LOCK) << 1)
    }

    /// The lock.
    #[inline]
    pub const fn lock(self) -> u32 {
        self.0 >> 1
    }

    /// Whether nobody else holds it.
    #[inline]
    pub const fn is_exclusive(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether two threads cannot hold it like this at once.
    #[inline]
    pub const fn excludes(self, other: Hold) -> bool {
        self.lock() == other.lock() && (self.is_exclusive() || other.is_exclusive())
    }

    /// Whether the other hold excludes everything that this one does.
    #[inline]
    pub const fn is_within(self, other: Hold) -> bool {
        self.lock() == other.lock() && (other.is_exclusive() || !self.is_exclusive())
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_exclusive() { "" } else { "r" };
        write!(f, "{kind}{}", self.lock())
    }
}

/// The hold of a lock in a set, which is in ascending order.
#[inline]
pub(crate) fn hold_of(lock: u32, holds: &[Hold]) -> Option<Hold> {
    // Sets are small.
    holds.iter().copied().find(|hold| hold.lock() == lock)
}
