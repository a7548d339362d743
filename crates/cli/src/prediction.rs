//! Predicts from a trace: reads it with all that is known of who needs which read, asks, and keeps what was proven.
//!
//! What fits into memory is one segment; of a longer trace one segment after the other is read and looked at, and at no time more is held.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_predict::{Options, Prediction, Predictor, Proven, Source};
use deadheat_trace::{Event, EventIndex, Op, Pc, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Config;
use crate::error::Result;
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

/// Predicts from a trace whose accesses have an exact order and of which this is known; who looks is shown all of it. With what its numbers
/// stand for.
pub fn predict(
    path: &Path,
    model: Model,
    options: &Options,
    config: &Config,
    (first, look): (&FirstReading, Look),
) -> Result<(Asked, Tables)> {
    let length = (options.memory / PART / OF_EVENT).max(LEAST);
    let contents = options.memory / PART_OF_CONTENTS;
    let mut segments = Segments::of(path, model, config, (first, look), contents)?;
    let mut events: FxHashMap<EventIndex, Event> = FxHashMap::default();
    let (mut took, mut most) = (Duration::ZERO, 0);
    let mut is_more = segments.next(0, length)?;
    let shown = Shown::new();
    let mut predictor = Predictor::new(first.events, options, &shown);
    while is_more {
        let started = Instant::now();
        most = most.max(segments.steps.len());
        let needed_by = segments.needed_by();
        let unseen = segments.unseen();
        let is_judged = |event: &Event| is_judged(event, unseen);
        let source = Source {
            steps: &segments.steps,
            needed_by: &needed_by,
            counts: &segments.counts(),
            is_judged: &is_judged,
        };
        predictor.look(&source, &segments.indexes);
        drop(needed_by);
        let so_far = predictor.so_far();
        for at in (so_far.races.iter().chain(&so_far.deadlocks)).flat_map(|found| &found.next) {
            if !events.contains_key(at) {
                events.extend(segments.event(*at).map(|event| (*at, event)));
            }
        }
        took += started.elapsed();
        if predictor.is_over() {
            break;
        }
        give_back();
        let common = predictor.common(segments.steps.len());
        is_more = segments.next(common, length)?;
    }
    shown.end();
    let mut prediction = predictor.finish();
    let needs_unknown = segments.is_by_next();
    let tables = segments.tables().clone();
    let recorded = segments.finish();
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
