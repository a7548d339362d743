//! What a detector reports of a trace, in the form in which oracles answer.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeSet;

use deadheat_detect::{Detector, Races};
use deadheat_trace::{EventIndex, Trace};

/// Pairs of positions, the earlier first.
pub type Pairs = BTreeSet<(usize, usize)>;

/// Shows a whole trace to a detector.
pub fn run(mut detector: impl Detector, trace: &Trace) -> Races {
    let mut races = Races::new();
    for (index, step) in trace.steps.iter().enumerate() {
        detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
    }
    detector.finish(&trace.tables, &mut races);
    races
}

/// The pairs that were reported. (Every step of a random trace has its own place.)
pub fn pairs(races: &Races) -> Pairs {
    let position = |index: EventIndex| index.0 as usize;
    let found = races.found().iter().map(|found| found.race);
    found
        .map(|race| (position(race.first.index), position(race.second.index)))
        .collect()
}
