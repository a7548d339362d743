//! Schedules of synchronisation that nobody has proven, on trial: one that leads the program into a race or a deadlock has
//! proven itself.
//!
//! As in *interleave* (Carril, Tichy 2015), but exact: where the recording is serial, every step of the program is compared with it.

use std::collections::HashMap;
use std::path::Path;

use deadheat_predict::Proven;
use deadheat_report::{Finding, Rung};
use deadheat_trace::{EventIndex, Pc};

use super::{Case, settle};
use crate::analysis::Analysis;
use crate::budget::Allowance;
use crate::error::Result;
use crate::how::How;
use crate::numbered::Numbered;
use crate::progress::Counted;
use crate::signals;
use crate::witness::{self, Trace, Witness};

/// So many candidates are tried: as many on a busy machine as on any other.
const MOST: usize = 128;

/// Tries the candidates of all findings that are not confirmed.
pub fn all(analysis: &mut Analysis, trace: &Path, allowance: &Allowance) -> Result<()> {
    let interleave = analysis
        .runs
        .iter()
        .filter(|run| run.how == How::Interleave);
    let candidates: Vec<Proven> = interleave
        .filter_map(|run| run.prediction.as_ref())
        .flat_map(|prediction| prediction.races.iter().chain(&prediction.deadlocks))
        .cloned()
        .collect();
    if candidates.is_empty() || analysis.findings.iter().all(is_settled) {
        return Ok(());
    }
    let events = Numbered::of(trace, &candidates, analysis.findings.iter().flat_map(sides))?;
    let mut of_places: HashMap<Vec<Pc>, Vec<&Proven>> = HashMap::new();
    for candidate in &candidates {
        let places = places(&events, &candidate.next);
        of_places.entry(places).or_default().push(candidate);
    }
    let cost = allowance.cost_of_run(events.count, events.count);
    let (mut tried, mut left_out) = (0, 0);
    let mut progress = Counted::new("trying schedules", analysis.findings.len() as u64);
    for finding in &mut analysis.findings {
        progress.advance();
        if is_settled(finding) || signals::is_stopped() {
            continue;
        }
        let indexes: Vec<EventIndex> = sides(finding).collect();
        let of_finding = of_places.get(&places(&events, &indexes));
        for candidate in of_finding.into_iter().flatten() {
            if tried == MOST || !allowance.pays(cost) {
                left_out += 1;
                continue;
            }
            tried += 1;
            let path = trace.with_file_name(witness::file_name(&finding.id));
            let case = Case::new(witness(&events, trace, finding, candidate))?;
            settle(finding, case, &path)?;
            if is_settled(finding) || signals::is_stopped() {
                break;
            }
        }
    }
    if left_out > 0 {
        analysis.remarks.push(format!(
            "{left_out} possible schedules were not tried: {tried} others were"
        ));
    }
    Ok(())
}

fn is_settled(finding: &Finding) -> bool {
    matches!(finding.rung, Rung::Witness | Rung::Confirmed)
}

/// Where the sides of a finding stand in the trace.
fn sides(finding: &Finding) -> impl Iterator<Item = EventIndex> + '_ {
    let accesses = finding.accesses.iter();
    accesses.filter_map(|access| access.index.map(EventIndex))
}

/// The places of some events, in an order that does not depend on the run.
fn places(events: &Numbered, indexes: &[EventIndex]) -> Vec<Pc> {
    let known = indexes.iter().filter_map(|index| events.get(*index));
    let mut places: Vec<Pc> = known.map(|event| event.place).collect();
    places.sort_unstable();
    places
}

/// A schedule of synchronisation as one of all events: each thread does what it did up to the next synchronisation of its
/// own that is scheduled, and in the end up to its goal.
fn witness(events: &Numbered, path: &Path, finding: &Finding, candidate: &Proven) -> Witness {
    let trace = Trace {
        path: path.to_path_buf(),
        events: events.count,
        digest: events.digest.clone(),
    };
    let runs = events.runs(candidate);
    let mut witness = Witness::new(finding, trace, candidate.start.0).with(runs);
    witness.next = witness::next(candidate, events);
    witness
}
