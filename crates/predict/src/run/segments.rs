//! A trace, a segment at a time.
//!
//! Each segment begins with the last events of the one before, half of the largest window as it is to be, so that what lies at the
//! border of two segments is seen from both sides as at the border of two windows. What was looked at there with smaller windows is not
//! looked at again.
//!
//! Larger windows of a segment may take what is its share of all the work, by its new events, and what segments before have not used. A
//! trace that is one segment is looked at as if there were no segments.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use deadheat_trace::EventIndex;

use super::border::Standing;
use super::in_trace::InTrace;
use super::windows::{self, Pieces};
use super::{Known, Observer, Options, Prediction, Round, Size, Source};
use crate::Effort;

/// The part of the memory that may be taken by what the program's memory holds where a segment begins.
const PART_OF_STANDING: usize = 8;

/// Looks at one segment after the other.
pub struct Predictor<'a> {
    options: &'a Options,
    observer: &'a dyn Observer,
    /// How many events there will have been, and how many were.
    events: u64,
    seen: u64,
    known: Known,
    /// How things stand where the next segment begins, and where that is.
    standing: Standing,
    start: u64,
    /// How many events it has in common with the last one.
    common: usize,
    /// What larger windows have taken so far, and what the smallest have.
    spent: u64,
    spent_first: u64,
    done: Mutex<u64>,
}

impl<'a> Predictor<'a> {
    /// For a trace of so many events, of which not all need be handed over.
    pub fn new(events: u64, options: &'a Options, observer: &'a dyn Observer) -> Self {
        Predictor {
            options,
            observer,
            events,
            seen: 0,
            known: Known::default(),
            standing: Standing::within(options.memory / PART_OF_STANDING),
            start: 0,
            common: 0,
            spent: 0,
            spent_first: 0,
            done: Mutex::default(),
        }
    }

    /// How many of the events of a segment so long are the first of the next one.
    pub fn common(&self, events: usize) -> usize {
        let largest = match self.options.size {
            Size::Auto => windows::largest(self.options.memory),
            Size::Events(size) => size,
        };
        largest.min(events) / 2
    }

    /// Looks at the next segment, whose first events are the last that were [in common](Self::common). `indexes` tells for each where it is
    /// in the trace, if it is not all of it that is handed over.
    pub fn look(&mut self, segment: &Source, indexes: &[EventIndex]) {
        let length = segment.steps.len();
        let sizes = windows::rounds(length, self.options.size, self.options.memory);
        let new = (length - self.common) as u64;
        let seen = indexes.last().map_or(self.seen + new, |last| last.0 + 1);
        let part = seen.saturating_sub(self.seen);
        self.seen = seen;
        let mut left = self
            .share(self.options.growth, self.seen)
            .saturating_sub(self.spent);
        let before = left;
        let mut first = self.share(self.options.first, self.seen);
        first = first.saturating_sub(self.spent_first);
        let first_before = first;
        let in_trace = InTrace {
            source: segment,
            start: self.start,
            indexes,
        };
        let mut until = None;
        for (number, size) in sizes.iter().enumerate() {
            let later = (sizes.len() - number) as u64;
            let from = self.common.saturating_sub(size / 2);
            let windows = windows::count(length - from, *size) as u64;
            let round = Round {
                source: segment,
                options: self.options,
                observer: self.observer,
                all: self.events.max(self.seen) * sizes.len() as u64,
                done: &self.done,
                until,
                share: (number > 0).then(|| left / later / windows.max(1)),
            };
            let standing = self.standing.clone();
            let pieces = Pieces::behind(segment.steps, *size, (from, self.common), standing);
            let pieces = pieces.starting_at(self.start);
            let left = if number == 0 { &mut first } else { &mut left };
            let is_whole = round.look(pieces, &in_trace, &mut self.known, left);
            if !is_whole && !self.known.found.is_full {
                self.known.found.is_cut_short |= number > 0;
                self.known.found.is_unfinished |= number == 0;
                self.known.found.is_timed_out |= round.is_late();
            }
            if round.is_over() {
                break;
            }
            if number == 0 {
                until = self.deadline(part);
            }
        }
        self.spent = self.spent.saturating_add(before - left);
        self.spent_first = self.spent_first.saturating_add(first_before - first);
        self.common = self.common(length);
        let behind = length - self.common;
        let over = segment.steps[..behind].iter();
        over.for_each(|step| self.standing.step(step));
        self.start += behind as u64;
    }

    /// What is known so far.
    pub fn so_far(&self) -> &Prediction {
        &self.known.found
    }

    /// Whether no more is to be looked at.
    pub fn is_over(&self) -> bool {
        self.known.found.is_full || self.observer.stop().load(Ordering::Relaxed)
    }

    /// What of an effort for all may be taken for so many events from the beginning.
    fn share(&self, all: Effort, events: u64) -> u64 {
        let work = all.work;
        match work == u64::MAX || events >= self.events {
            true => work,
            false => (u128::from(work) * u128::from(events) / u128::from(self.events)) as u64,
        }
    }

    /// When larger windows of a segment with so many new events have to be done, if there is a limit in time.
    fn deadline(&self, events: u64) -> Option<std::time::Instant> {
        let mut effort = self.options.growth;
        if events < self.events {
            let part = events as f64 / self.events as f64;
            let part = |time: Duration| Duration::try_from_secs_f64(time.as_secs_f64() * part);
            effort.time = effort.time.map(|time| part(time).unwrap_or(time));
        }
        effort.deadline()
    }

    /// What all segments have shown.
    pub fn finish(mut self) -> Prediction {
        self.known.found.forgotten = self.standing.forgotten();
        self.known.finish(self.observer)
    }
}
