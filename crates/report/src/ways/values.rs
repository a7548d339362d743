//! Which of the recorded values hold in another order of the same events.
//!
//! A read that sees another write than it saw reads something else, and what its thread writes from then on may be something else, too.
//! What cannot be known is not told.

use deadheat_trace::{Event, EventIndex, ThreadId};
use rustc_hash::FxHashSet;

use super::schedule::{Follower, Kept};

/// Follows the values of memory along a schedule.
pub struct Values<'a> {
    follower: &'a Follower,
    /// All writes that are looked at, wherever they stand in the schedule.
    writes: Vec<(EventIndex, Event)>,
    /// What was written last where, the latest behind.
    written: Vec<(Event, Option<u64>)>,
    /// Threads that have read something else than they did.
    astray: FxHashSet<ThreadId>,
}

impl<'a> Values<'a> {
    /// Before all that is looked at of a schedule.
    pub fn of(follower: &'a Follower) -> Self {
        let kept = follower.kept().map(|(_, kept)| kept);
        let next = follower.next().unwrap_or_default();
        let all = kept.chain(next);
        let writes = all.filter(|kept| kept.context.step.event.op().writes());
        Values {
            follower,
            writes: writes
                .map(|kept| (kept.index, kept.context.step.event))
                .collect(),
            written: Vec::new(),
            astray: FxHashSet::default(),
        }
    }

    /// What the next step of the schedule reads or writes, if that is known.
    pub fn next(&mut self, kept: &Kept) -> Option<u64> {
        let step = &kept.context.step;
        let event = &step.event;
        let mut seen = None;
        if event.op().reads() && self.follower.is_recorded(kept.index) {
            seen = step.read();
        } else if event.op().reads() {
            seen = self.seen(kept);
            if seen != step.read() || seen.is_none() {
                self.astray.insert(event.thread());
            }
        }
        if !event.op().writes() {
            return seen;
        }
        let value = self.would_write(kept);
        self.written.retain(|(other, _)| !is_covered(other, event));
        self.written.push((*event, value));
        value
    }

    /// What a step would write, if that is known.
    pub fn would_write(&self, kept: &Kept) -> Option<u64> {
        let step = &kept.context.step;
        let is_astray = self.astray.contains(&step.event.thread());
        match step.event.op() {
            op if op.writes() && !is_astray => step.written(),
            _ => None,
        }
    }

    fn seen(&self, kept: &Kept) -> Option<u64> {
        let step = &kept.context.step;
        let event = &step.event;
        let last = self
            .written
            .iter()
            .rfind(|(other, _)| other.overlaps(event));
        match last {
            Some((other, value)) if is_same(other, event) => *value,
            Some(_) => None,
            None if kept.is_doubtful || self.follower.is_hidden(event) => None,
            None if self.has_not_come(kept) => None,
            None => step.read(),
        }
    }

    /// Whether a read saw a write in the recorded run that comes only later in the schedule.
    fn has_not_come(&self, kept: &Kept) -> bool {
        let event = &kept.context.step.event;
        let mut writes = self.writes.iter();
        writes.any(|(index, other)| *index < kept.index && other.overlaps(event))
    }
}

fn is_same(one: &Event, other: &Event) -> bool {
    one.addr() == other.addr() && one.size() == other.size()
}

fn is_covered(one: &Event, by: &Event) -> bool {
    let end = |event: &Event| event.addr().0 + event.size();
    by.addr() <= one.addr() && end(one) <= end(by)
}
