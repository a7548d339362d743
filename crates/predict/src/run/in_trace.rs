//! Positions in a segment become positions in the trace, and schedules short.

use deadheat_trace::{EventIndex, Op, ThreadId};

use super::look::Looked;
use super::{Proven, Refused, Source};

/// Where the events of a segment stand in the trace.
pub(super) struct InTrace<'a> {
    pub source: &'a Source<'a>,
    /// The position of the segment's first event among those that are handed over.
    pub start: u64,
    /// By position in the segment; empty if all events of the trace are handed over.
    pub indexes: &'a [EventIndex],
}

impl InTrace<'_> {
    /// Of all that a window has shown.
    pub fn looked(&self, looked: &mut Looked) {
        let races = looked.races.iter_mut().map(|(_, proven)| proven);
        let deadlocks = looked.deadlocks.iter_mut().map(|(_, proven)| proven);
        for proven in races.chain(deadlocks) {
            self.proven(proven);
        }
        let open = looked.open.iter_mut().filter_map(|(_, open)| open.as_mut());
        for index in open.flatten() {
            self.index(index);
        }
        for Refused { next, .. } in &mut looked.refused {
            next.iter_mut().for_each(|at| self.index(at));
        }
    }

    fn proven(&self, proven: &mut Proven) {
        let Proven {
            next,
            start,
            schedule,
            skipped,
            ..
        } = proven;
        self.shorten(schedule);
        for part in skipped {
            self.index(&mut part.first);
            self.index(&mut part.last);
        }
        schedule.iter_mut().for_each(|at| self.index(at));
        schedule.shrink_to_fit();
        next.iter_mut().for_each(|at| self.index(at));
        self.index(start);
    }

    /// Of what a thread does in a row the last stays. What was added to the trace is no event of it.
    fn shorten(&self, schedule: &mut Vec<EventIndex>) {
        schedule.retain(|at| !self.is_added(at));
        let threads = schedule.iter().map(|at| self.thread(at));
        let followed: Vec<bool> = (threads.clone().zip(threads.skip(1)))
            .map(|(one, next)| one == next)
            .collect();
        let mut followed = followed.into_iter();
        schedule.retain(|_| followed.next() != Some(true));
    }

    fn local(&self, at: &EventIndex) -> usize {
        (at.0 - self.start) as usize
    }

    fn thread(&self, at: &EventIndex) -> ThreadId {
        self.source.steps[self.local(at)].event.thread()
    }

    fn index(&self, at: &mut EventIndex) {
        if let Some(index) = self.indexes.get(self.local(at)) {
            *at = *index;
        }
    }

    /// Whether a step is an external write that the read behind it showed.
    fn is_added(&self, at: &EventIndex) -> bool {
        let (at, indexes) = (self.local(at), self.indexes);
        self.source.steps[at].event.op() == Op::ExternalWrite
            && indexes
                .get(at)
                .is_some_and(|index| indexes.get(at + 1) == Some(index))
    }
}
