//! A trace, a segment at a time.
//!
//! Each segment begins with the last events of the one before, half of the largest window as it is to be, so that what lies at the
//! border of two segments is seen from both sides as at the border of two windows. What was looked at there with smaller windows is not
//! looked at again.
//!
//! Larger windows of a segment may take what is its share of all the work, by its new events, and what segments before have not used. A
//! trace that is one segment is looked at as if there were no segments.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deadheat_trace::EventIndex;
use rustc_hash::FxHashMap;

use super::border::Standing;
use super::in_trace::InTrace;
use super::likely::{Likely, Pair, TURNS};
use super::windows::{self, Asks, Extent, Pieces, Those};
use super::{Known, Observer, Options, Prediction, Round, Size, Source, Wanted};
use crate::Places;

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
    /// What windows have taken that came first as they looked likely to have something; what else was paid for.
    spent_likely: u64,
    paid: u64,
    /// To what there are answers from the smallest windows before their turn: by where their segment begins, and where they do in it.
    answered: FxHashMap<(u64, usize), Those>,
    /// In how many such windows pairs of places were asked about.
    turns: FxHashMap<Places, usize>,
    done: Arc<Mutex<u64>>,
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
            spent_likely: 0,
            paid: 0,
            answered: FxHashMap::default(),
            turns: FxHashMap::default(),
            done: Arc::default(),
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

    /// Asks those of the smallest windows of the next segment that hold pairs which look like races or deadlocks about these: of each pair of
    /// places the nearest first. What is found by others needs no hurry. The segment is still the next one.
    pub fn glance(
        &mut self,
        segment: &Source,
        indexes: &[EventIndex],
        is_found: &dyn Fn(Places) -> bool,
    ) {
        let length = segment.steps.len();
        let sizes = windows::rounds(length, self.options.size, self.options.memory);
        let (size, from) = (sizes[0], self.common.saturating_sub(sizes[0] / 2));
        let half = match self.first() {
            u64::MAX => u64::MAX,
            first => first / 2,
        };
        let seen = self.seen_with(segment, indexes);
        let mut left = share(half, seen, self.events).saturating_sub(self.spent_likely);
        let before = left;
        // One window is all of the trace: nothing comes before anything else.
        let is_one = self.start == 0 && seen >= self.events && length <= size;
        if is_one || left <= length as u64 || self.is_over() {
            return;
        }
        if left < u64::MAX {
            left -= length as u64;
        }
        let known = &self.known;
        let turns = &self.turns;
        let is_asked = |places: Places| {
            turns.get(&places).is_none_or(|had| *had < TURNS)
                && !known.proven.contains(&places)
                && !is_found(places)
        };
        let (held, is_judged) = (self.standing.held(), segment.is_judged);
        let likely = Likely::pairs(segment.steps, size, held, is_judged, is_asked);
        let in_trace = InTrace {
            source: segment,
            start: self.start,
            indexes,
        };
        let done = Arc::clone(&self.done);
        let round = self.round(segment, &done, sizes.len());
        // The nearest pair of all places first, then others of what was not proven.
        let mut had_here = vec![0; likely.len()];
        for is_first in [true, false] {
            let mut pairs: Vec<Pair> = Vec::new();
            for (all, here) in likely.iter().zip(&mut had_here) {
                let places = all[0].places;
                let had = self.turns.entry(places).or_default();
                let most = if is_first { 1 } else { TURNS };
                if !self.known.proven.contains(&places) {
                    let new = all.iter().skip(*here).take(most.saturating_sub(*had));
                    pairs.extend(new.clone());
                    *had += new.clone().count();
                    *here += new.count();
                }
            }
            if pairs.is_empty() {
                continue;
            }
            pairs.sort_unstable_by_key(|pair| pair.second);
            let asks = |extent: &Extent| {
                let behind = pairs.partition_point(|pair| (pair.second as usize) < extent.new);
                let new = pairs[behind..].iter();
                let new = new.take_while(|pair| (pair.second as usize) < extent.end);
                let new = new.filter(|pair| pair.first as usize >= extent.start);
                let mut those = Those::default();
                for pair in new {
                    those.locks |= pair.locks;
                    those.races.extend((!pair.locks).then_some(pair.places));
                }
                (those != Those::default()).then_some(Asks::Only(those))
            };
            let pieces = || {
                let standing = self.standing.clone();
                let pieces = Pieces::behind(segment.steps, size, (from, self.common), standing);
                pieces.starting_at(self.start)
            };
            let wanted = Wanted {
                asks: &asks,
                count: Some(pieces().count(&asks)),
            };
            let came = round.look(pieces(), &wanted, &in_trace, &mut self.known, &mut left);
            for (at, those) in came.answered {
                let known = self.answered.entry((self.start, at)).or_default();
                known.races.extend(those.races);
                known.locks |= those.locks;
            }
        }
        self.spent_likely = self.spent_likely.saturating_add(before - left);
    }

    /// Looks at the next segment, whose first events are the last that were [in common](Self::common). `indexes` tells for each where it is
    /// in the trace, if it is not all of it that is handed over.
    pub fn look(&mut self, segment: &Source, indexes: &[EventIndex]) {
        let length = segment.steps.len();
        let sizes = windows::rounds(length, self.options.size, self.options.memory);
        let seen = self.seen_with(segment, indexes);
        let part = seen.saturating_sub(self.seen);
        let mut left = share(self.options.growth.work, seen, self.events);
        left = left.saturating_sub(self.spent);
        let before = left;
        let mut first = share(
            self.first().saturating_sub(self.spent_likely),
            seen,
            self.events,
        );
        first = first.saturating_sub(self.spent_first);
        let first_before = first;
        let in_trace = InTrace {
            source: segment,
            start: self.start,
            indexes,
        };
        let (mut until, done) = (None, Arc::clone(&self.done));
        for (number, size) in sizes.iter().enumerate() {
            let later = (sizes.len() - number) as u64;
            let from = self.common.saturating_sub(size / 2);
            let windows = windows::count(length - from, *size) as u64;
            let share = (number > 0).then(|| left / later / windows.max(1));
            let round = Round {
                until,
                share,
                ..self.round(segment, &done, sizes.len())
            };
            let standing = self.standing.clone();
            let pieces = Pieces::behind(segment.steps, *size, (from, self.common), standing);
            let pieces = pieces.starting_at(self.start);
            let left = if number == 0 { &mut first } else { &mut left };
            let (start, answered) = (self.start, &self.answered);
            let asks = |extent: &Extent| match answered.get(&(start, extent.start)) {
                Some(those) if number == 0 => Some(Asks::Except(those.clone())),
                _ => Some(Asks::All),
            };
            let wanted = Wanted {
                asks: &asks,
                count: None,
            };
            let came = round.look(pieces, &wanted, &in_trace, &mut self.known, left);
            if !came.is_whole && !self.known.found.is_full {
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
    }

    /// Goes on to the segment behind this one.
    pub fn go_on(&mut self, segment: &Source, indexes: &[EventIndex]) {
        self.seen = self.seen_with(segment, indexes);
        let length = segment.steps.len();
        self.common = self.common(length);
        let behind = length - self.common;
        let over = segment.steps[..behind].iter();
        over.for_each(|step| self.standing.step(step));
        self.start += behind as u64;
    }

    /// Goes back to the first segment. What is known stays known.
    pub fn start_again(&mut self) {
        self.note_forgotten();
        self.standing = Standing::within(self.options.memory / PART_OF_STANDING);
        (self.start, self.common, self.seen) = (0, 0, 0);
    }

    /// Something else has to be paid for, of what may be done for the smallest windows: so much, but no more than this part of what is left.
    pub fn pay(&mut self, work: u64, part: u64) {
        let left = self.first().saturating_sub(self.spent_likely);
        let most = left.saturating_sub(self.spent_first) / part.max(1);
        self.paid = self.paid.saturating_add(work.min(most));
    }

    /// Whether so much could be paid for, and as much would still be left.
    pub fn can_pay(&self, work: u64) -> bool {
        let left = self.first().saturating_sub(self.spent_likely);
        left.saturating_sub(self.spent_first) / 2 >= work
    }

    /// What may be done for the smallest windows.
    fn first(&self) -> u64 {
        match self.options.first.work {
            u64::MAX => u64::MAX,
            work => work.saturating_sub(self.paid),
        }
    }

    /// A first look at a segment.
    fn round<'r>(&self, source: &'r Source<'r>, done: &'r Mutex<u64>, rounds: usize) -> Round<'r>
    where
        'a: 'r,
    {
        Round {
            source,
            options: self.options,
            observer: self.observer,
            all: self.events.max(self.seen) * rounds as u64,
            done,
            until: None,
            share: None,
        }
    }

    /// How much of the trace was seen with this segment.
    fn seen_with(&self, segment: &Source, indexes: &[EventIndex]) -> u64 {
        let new = (segment.steps.len() - self.common) as u64;
        indexes.last().map_or(self.seen + new, |last| last.0 + 1)
    }

    /// What is known so far.
    pub fn so_far(&self) -> &Prediction {
        &self.known.found
    }

    /// Whether no more is to be looked at.
    pub fn is_over(&self) -> bool {
        self.known.found.is_full || self.observer.stop().load(Ordering::Relaxed)
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

    /// Keeps how much was forgotten in a reading: most of the same is in the next one, too.
    fn note_forgotten(&mut self) {
        let forgotten = &mut self.known.found.forgotten;
        *forgotten = self.standing.forgotten().max(*forgotten);
    }

    /// What all segments have shown.
    pub fn finish(mut self) -> Prediction {
        self.note_forgotten();
        self.known.finish(self.observer)
    }
}

/// What of the work for all of so many events may be done for those that were seen.
fn share(work: u64, seen: u64, events: u64) -> u64 {
    match work == u64::MAX || seen >= events {
        true => work,
        false => (u128::from(work) * u128::from(seen) / u128::from(events)) as u64,
    }
}
