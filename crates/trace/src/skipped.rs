//! What a thread leaves out in another schedule.

use crate::{EventIndex, ThreadId};

/// A part of a recorded thread that a schedule skips: all its events between these, both included.
///
/// ```
/// use deadheat_trace::{EventIndex, Skipped, ThreadId};
///
/// let skipped = Skipped { thread: ThreadId(1), first: EventIndex(4), last: EventIndex(9) };
/// assert!(skipped.has(ThreadId(1), EventIndex(9)));
/// assert!(!skipped.has(ThreadId(0), EventIndex(5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Whose.
    pub thread: ThreadId,
    /// Its first event.
    pub first: EventIndex,
    /// Its last event.
    pub last: EventIndex,
}

impl Skipped {
    /// Whether it has this event.
    pub fn has(&self, thread: ThreadId, index: EventIndex) -> bool {
        self.thread == thread && self.first <= index && index <= self.last
    }
}
