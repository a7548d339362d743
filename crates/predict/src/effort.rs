//! How much a search may take: counted work, so that the same question has the same answer on any machine, however busy. A limit in
//! time is for those who ask for one, and whoever hits it is told.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// About how much work is done in a second: an event that a stage looks at, a literal whose consequences are drawn, a station that a
/// search for a cycle comes by.
const A_SECOND: u64 = 20_000_000;

/// How much something may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// So much work; `u64::MAX` is without end.
    pub work: u64,
    /// Besides, so long.
    pub time: Option<Duration>,
}

impl Effort {
    /// As much as it takes.
    pub const ALL: Effort = Effort {
        work: u64::MAX,
        time: None,
    };

    /// Nothing at all.
    pub const NONE: Effort = Effort {
        work: 0,
        time: None,
    };

    /// As much work as is done in about this time.
    ///
    /// ```
    /// use deadheat_predict::Effort;
    /// use std::time::Duration;
    ///
    /// assert!(Effort::about(Duration::from_secs(2)).work > Effort::about(Duration::from_secs(1)).work);
    /// assert_eq!(Effort::about(Duration::MAX).time, None);
    /// ```
    pub const fn about(time: Duration) -> Effort {
        let work = A_SECOND as u128 * time.as_millis() / 1000;
        Effort {
            work: if work > u64::MAX as u128 {
                u64::MAX
            } else {
                work as u64
            },
            time: None,
        }
    }

    /// As long as this, whatever comes of it.
    pub const fn within(time: Duration) -> Effort {
        Effort {
            work: u64::MAX,
            time: Some(time),
        }
    }

    /// When it is over, if it begins now. A time that is too far away to be told has no end.
    pub fn deadline(&self) -> Option<Instant> {
        self.time.and_then(|time| Instant::now().checked_add(time))
    }
}

/// What is left of an effort.
#[derive(Clone, Debug, Default)]
pub struct Budget<'a> {
    /// So much work, if that has an end.
    pub work: Option<u64>,
    /// Until when.
    pub deadline: Option<Instant>,
    /// Stop when this becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// How much work was done.
    pub spent: Cell<u64>,
}

impl Budget<'_> {
    /// So much was done.
    #[inline]
    pub fn spend(&self, work: u64) {
        self.spent.set(self.spent.get().saturating_add(work));
    }

    /// How much work is left; `None` if it has no end.
    pub fn left(&self) -> Option<u64> {
        self.work.map(|work| work.saturating_sub(self.spent.get()))
    }

    /// Whether it is used up.
    pub fn is_over(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.left() == Some(0)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }
}
