//! What schedules have to know of a trace: of the events that they speak of whose they are, where, and which of their thread.
//!
//! A schedule names where threads go on to; what they do up to there is so many of their events. One reading of the trace
//! tells how many, for all schedules at once, and nothing is kept of other events.

use std::path::Path;

use deadheat_predict::Proven;
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::{AT_ONCE, Watched};
use deadheat_session::signals;
use deadheat_trace::{EventIndex, Pc, Skipped, Steps, ThreadId};
use rustc_hash::FxHashMap;

use crate::witness::Digest;

/// Some events of a trace.
pub struct Numbered {
    /// In the order of the trace.
    events: Vec<(EventIndex, Numbers)>,
    /// By where schedules begin: how many events each thread has before that.
    starts: Vec<(EventIndex, Vec<u64>)>,
    /// How many events the trace has.
    pub count: u64,
    /// Of all of them.
    pub digest: String,
}

/// What is known of an event.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// Whose it is.
    pub thread: ThreadId,
    /// How many events of the thread come before.
    pub before: u64,
    /// Where in the program.
    pub place: Pc,
}

impl Numbered {
    /// What these schedules, and those who ask for other events besides, have to know.
    pub fn of<'a>(
        path: &Path,
        schedules: impl IntoIterator<Item = &'a Proven>,
        others: impl IntoIterator<Item = EventIndex>,
    ) -> Result<Self> {
        let mut asked: Vec<EventIndex> = others.into_iter().collect();
        let mut starts = Vec::new();
        for proven in schedules {
            starts.push(proven.start);
            asked.extend(proven.schedule.iter().chain(&proven.next));
            let skipped = proven.skipped.iter();
            asked.extend(skipped.flat_map(|part| [part.first, part.last]));
        }
        asked.sort_unstable();
        asked.dedup();
        starts.sort_unstable();
        starts.dedup();
        let mut numbered = Numbered {
            events: Vec::with_capacity(asked.len()),
            starts: Vec::with_capacity(starts.len()),
            count: 0,
            digest: String::new(),
        };
        let (mut asked, mut starts) = (asked.iter().peekable(), starts.into_iter().peekable());
        let mut passed: Vec<u64> = Vec::new();
        let steps = input::open(path)?;
        let mut digest = Digest::of(&steps);
        let mut steps = Watched::new(steps, "telling how").unless_long();
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let (event, index) = (&step.event, EventIndex(numbered.count));
            digest.add(event);
            if let Some(start) = starts.next_if(|start| *start == index) {
                numbered.starts.push((start, passed.clone()));
            }
            let thread = event.thread();
            if passed.len() <= thread.index() {
                passed.resize(thread.index() + 1, 0);
            }
            let before = &mut passed[thread.index()];
            if asked.next_if(|asked| **asked == index).is_some() {
                let numbers = Numbers {
                    thread,
                    before: *before,
                    place: event.pc(),
                };
                numbered.events.push((index, numbers));
            }
            *before += 1;
            numbered.count += 1;
        }
        if signals::is_stopped() && numbered.count >= AT_ONCE {
            return Err(Error::usage("stopped".to_owned()));
        }
        // What begins behind the last event.
        numbered
            .starts
            .extend(starts.map(|start| (start, passed.clone())));
        numbered.digest = digest.text();
        Ok(numbered)
    }

    /// What is known of an event that was asked for, if the trace has it.
    pub fn get(&self, at: EventIndex) -> Option<Numbers> {
        let found = self.events.binary_search_by_key(&at, |(index, _)| *index);
        found.ok().map(|found| self.events[found].1)
    }

    /// Whose an event is.
    pub fn thread(&self, at: EventIndex) -> ThreadId {
        self.get(at).map_or(ThreadId(0), |event| event.thread)
    }

    /// How many events of which thread follow each other on the way that a schedule leads.
    pub fn runs(&self, proven: &Proven) -> Vec<(u32, u64)> {
        let start = self
            .starts
            .binary_search_by_key(&proven.start, |(at, _)| *at);
        let before = start.map_or(&[][..], |start| &self.starts[start].1);
        let mut passed: FxHashMap<ThreadId, u64> = FxHashMap::default();
        let mut runs: Vec<(u32, u64)> = Vec::new();
        let mut go = |thread: ThreadId, upto: u64| {
            let passed = passed
                .entry(thread)
                .or_insert_with(|| before.get(thread.index()).copied().unwrap_or(0));
            if upto <= *passed {
                return;
            }
            let skipped = proven.skipped.iter();
            let skipped = skipped.map(|part| self.skipped(part, thread, *passed, upto));
            let count = upto - *passed - skipped.sum::<u64>();
            *passed = upto;
            match runs.last_mut() {
                _ if count == 0 => {}
                Some((last, sum)) if *last == thread.0 => *sum += count,
                _ => runs.push((thread.0, count)),
            }
        };
        for event in proven.schedule.iter().filter_map(|at| self.get(*at)) {
            go(event.thread, event.before + 1);
        }
        for event in proven.next.iter().filter_map(|at| self.get(*at)) {
            go(event.thread, event.before);
        }
        runs
    }

    /// How many of a thread's events between these are skipped.
    fn skipped(&self, part: &Skipped, thread: ThreadId, from: u64, upto: u64) -> u64 {
        let (Some(first), Some(last)) = (self.get(part.first), self.get(part.last)) else {
            return 0;
        };
        match part.thread == thread {
            true => (last.before + 1)
                .min(upto)
                .saturating_sub(first.before.max(from)),
            false => 0,
        }
    }
}
