//! Predicts from a trace: reads it with all that is known of who needs which read, asks, and keeps what was proven.
//!
//! What fits into memory is one segment; of a longer trace one segment after the other is read and looked at, and at no time more is held.
//! Such a trace is read twice if that can be paid for: first only what looks like races and deadlocks is asked about, then all the rest. So what
//! lies late is not left out for want of work that was done for less likely questions before it.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_predict::{Options, Places, Prediction, Predictor, Proven, Source};
use deadheat_session::error::Result;
use deadheat_session::signals;
use deadheat_trace::{Event, EventIndex, Op, Pc, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget;
use crate::config::Config;
use crate::first_reading::FirstReading;
use crate::predicting::Shown;
use crate::segments::Segments;
use crate::shown::Look;

/// What reads are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Only what something depends on.
    Maximal,
    /// All of them.
    Said,
}

/// What was predicted.
pub struct Predicted {
    /// The answers; positions are those of the trace.
    pub prediction: Prediction,
    /// How long it took, without reading.
    pub took: Duration,
    /// How many bytes of the trace were in memory at the most.
    pub memory: usize,
    /// The events that races are about, by their positions.
    pub events: FxHashMap<EventIndex, Event>,
}

/// A trace that was asked about.
pub struct Asked {
    /// What came of it.
    pub predicted: Predicted,
    /// Nothing is known of branches: every event depends on all that its thread has read.
    pub needs_unknown: bool,
}

/// About how many bytes are held of each event of a segment, with who needs it.
const OF_EVENT: usize = 64;
/// The part of the memory that a segment may take; the rest is for windows of it and what is known of memory.
const PART: usize = 4;
/// A segment has at least so many events.
const LEAST: usize = 1 << 15;

/// The part of the memory that what bytes hold may take.
const PART_OF_CONTENTS: usize = 8;

/// Who else has to do with the reading.
pub struct Others<'a> {
    /// They are shown all of the trace.
    pub look: Look<'a>,
    /// Whether they have found a race at these places so far.
    pub is_found: &'a dyn Fn(Places) -> bool,
}

/// What a reading of the trace is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// What is likely is asked about.
    Likely,
    /// All that was not.
    Rest,
    /// One after the other, in each segment.
    Both,
}

/// Predicts from a trace whose accesses have an exact order and of which this is known. With what its numbers stand for.
pub fn predict(
    path: &Path,
    model: Model,
    options: &Options,
    config: &Config,
    (first, others): (&FirstReading, Others),
) -> Result<(Asked, Tables)> {
    let length = (options.memory / PART / OF_EVENT).max(LEAST);
    let contents = options.memory / PART_OF_CONTENTS;
    let of = |look| Segments::of(path, model, config, (first, look), contents);
    let mut segments = of(others.look)?;
    let shown = Shown::new();
    let mut asking = Asking {
        predictor: Predictor::new(first.events, options, &shown),
        length,
        is_found: others.is_found,
        took: Duration::ZERO,
        most: 0,
        events: FxHashMap::default(),
    };
    let reading = budget::reading(first.events);
    // All of the trace is read twice in any case, so something is left for questions.
    asking.predictor.pay(2 * reading, 2);
    let is_long = segments.next(0, length)? && segments.steps.len() >= length;
    let has_two = is_long && asking.predictor.can_pay(reading);
    asking.go_through(
        &mut segments,
        if has_two { Pass::Likely } else { Pass::Both },
    )?;
    let needs_unknown = segments.is_by_next();
    let tables = segments.tables().clone();
    let recorded = segments.finish();
    if has_two && !asking.predictor.is_over() {
        asking.predictor.pay(reading, 1);
        asking.predictor.start_again();
        let mut segments = of(Box::new(|_, _, _| {}))?;
        segments.next(0, length)?;
        asking.go_through(&mut segments, Pass::Rest)?;
    }
    shown.end();
    let Asking {
        predictor,
        took,
        most,
        events,
        ..
    } = asking;
    let mut prediction = predictor.finish();
    let happened = recorded.iter().map(|(_, core)| places(core.iter()));
    let happened: Vec<Vec<Pc>> = happened.collect();
    let core = |proven: &Proven| places(proven.core().iter().filter_map(|at| events.get(at)));
    let predicted = &mut prediction.deadlocks;
    predicted.retain(|proven| !happened.contains(&core(proven)));
    predicted.splice(..0, recorded.into_iter().map(|(proven, _)| proven));
    let asked = Asked {
        predicted: Predicted {
            prediction,
            took,
            memory: most * OF_EVENT,
            events,
        },
        needs_unknown,
    };
    Ok((asked, tables))
}

/// Questions about one segment after the other.
struct Asking<'a> {
    predictor: Predictor<'a>,
    /// How long a segment is.
    length: usize,
    is_found: &'a dyn Fn(Places) -> bool,
    took: Duration,
    /// How long the longest was.
    most: usize,
    /// The events of what was found.
    events: FxHashMap<EventIndex, Event>,
}

impl Asking<'_> {
    /// Looks at a trace whose first segment was read. It is read to its end, whatever is still asked, unless nobody else needs that.
    fn go_through(&mut self, segments: &mut Segments, pass: Pass) -> Result<()> {
        let mut is_more = !segments.steps.is_empty();
        while is_more {
            if !self.predictor.is_over() {
                self.look(segments, pass);
            }
            if signals::is_stopped() || pass == Pass::Rest && self.predictor.is_over() {
                break;
            }
            give_back();
            let common = self.predictor.common(segments.steps.len());
            is_more = segments.next(common, self.length)?;
        }
        Ok(())
    }

    fn look(&mut self, segments: &Segments, pass: Pass) {
        let started = Instant::now();
        self.most = self.most.max(segments.steps.len());
        let needed_by = segments.needed_by();
        let unseen = segments.unseen();
        let is_judged = |event: &Event| is_judged(event, unseen);
        let source = Source {
            steps: &segments.steps,
            needed_by: &needed_by,
            counts: &segments.counts(),
            is_judged: &is_judged,
        };
        let (predictor, indexes) = (&mut self.predictor, &segments.indexes);
        if pass != Pass::Rest {
            predictor.glance(&source, indexes, self.is_found);
        }
        if pass != Pass::Likely {
            predictor.look(&source, indexes);
        }
        predictor.go_on(&source, indexes);
        let so_far = predictor.so_far();
        for at in (so_far.races.iter().chain(&so_far.deadlocks)).flat_map(|found| &found.next) {
            if !self.events.contains_key(at) {
                let event = segments.event(*at).map(|event| (*at, event));
                self.events.extend(event);
            }
        }
        self.took += started.elapsed();
    }
}

/// Gives memory that was used for a segment back to the system: the workers of the next one use other parts of it.
fn give_back() {
    // SAFETY: it has no requirement, and touches no memory that is in use.
    unsafe { libc::malloc_trim(0) };
}

fn places<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Pc> {
    let mut places: Vec<Pc> = events.map(|event| event.pc()).collect();
    places.sort_unstable();
    places
}

/// Whether races are reported of an event, if there is code without hooks at these places.
pub fn is_judged(event: &Event, unseen: &FxHashSet<Pc>) -> bool {
    let may_be_unseen = matches!(event.op(), Op::Read | Op::Write | Op::Free);
    !(may_be_unseen && unseen.contains(&event.pc()))
}
