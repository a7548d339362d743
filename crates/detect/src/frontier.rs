//! The accesses to a cell of memory that may race with later ones.
//!
//! An access that is ordered before a later one which everything conflicts with that it conflicts with
//! need not be remembered: what races with the earlier one races with the later one. So what is left are
//! accesses that are unordered, or of different kinds. Every access that races with any earlier one
//! is found, together with at least one partner.

use deadheat_trace::{Event, ThreadId};
use smallvec::SmallVec;

use crate::Access;

/// An access, and when it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past {
    /// The access.
    pub access: Access,
    /// Its thread's time.
    pub time: u32,
    /// The segment of its thread: between two synchronisations nothing changes.
    segment: u32,
    /// It raced with something.
    racy: bool,
}

/// The accesses, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    accesses: SmallVec<[Past; 1]>,
}

impl Frontier {
    /// Whether an access repeats one of the same segment, which raced with nothing, and nothing came in between
    /// that it could race with: it finds nothing new, and need not be remembered.
    #[inline]
    pub fn repeats(&self, event: &Event, segment: u32) -> bool {
        for past in self.accesses.iter().rev() {
            let earlier = &past.access.event;
            if earlier.thread() == event.thread() {
                if past.segment == segment && covers_kind(event, earlier) {
                    return !past.racy;
                }
            } else if earlier.op().writes() || event.op().writes() {
                return false;
            }
        }
        false
    }

    /// Adds an access. Those that it races with are given to `race`: of other threads, in conflict with it, and
    /// with a time that `is_before` does not say to lie before.
    #[inline]
    pub fn add(
        &mut self,
        access: Access,
        time: u32,
        segment: u32,
        is_before: impl Fn(ThreadId, u32) -> bool,
        mut race: impl FnMut(&Past),
    ) {
        let event = &access.event;
        let mut racy = false;
        self.accesses.retain(|past| {
            let earlier = &past.access.event;
            let own = earlier.thread() == event.thread();
            if own || is_before(earlier.thread(), past.time) {
                return !covers_kind(earlier, event);
            }
            let conflict = (earlier.op().writes() || event.op().writes())
                && !(earlier.op().is_atomic() && event.op().is_atomic());
            if conflict {
                racy = true;
                race(past);
            }
            true
        });
        self.accesses.push(Past {
            access,
            time,
            segment,
            racy,
        });
    }
}

/// Whether everything that conflicts with `one` conflicts with `other`, as far as kinds go.
#[inline]
fn covers_kind(one: &Event, other: &Event) -> bool {
    (other.op().writes() || !one.op().writes()) && (one.op().is_atomic() || !other.op().is_atomic())
}
