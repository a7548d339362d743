//! Schedules of synchronisation that nobody has proven, on trial: one that leads the program into a race or a deadlock has
//! proven itself.
//!
//! As in *interleave* (Carril, Tichy 2015), but exact: where the recording is serial, every step of the program is compared with it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::budget::{Allowance, LONG};
use deadheat_analysis::how::How;
use deadheat_analysis::numbered::Numbered;
use deadheat_analysis::witness::{self, Trace, Witness};
use deadheat_predict::Proven;
use deadheat_report::{Finding, Rung};
use deadheat_session::error::Result;
use deadheat_session::progress::Counted;
use deadheat_session::signals;
use deadheat_trace::{EventIndex, Pc};

use super::{Case, follow_up_later, keep, settle, together};

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
    let mut trials = Vec::new();
    let mut left_out = 0;
    for (at, finding) in analysis.findings.iter().enumerate() {
        if is_settled(finding) {
            continue;
        }
        let indexes: Vec<EventIndex> = sides(finding).collect();
        let of_finding = of_places.get(&places(&events, &indexes));
        for candidate in of_finding.into_iter().flatten() {
            match trials.len() < MOST {
                true => trials.push((at, witness(&events, trace, finding, candidate))),
                false => left_out += 1,
            }
        }
    }
    let together = of_long_run(&mut analysis.findings, &trials, allowance);
    let rest = together.and_then(|stood| {
        trials.retain(|(at, _)| !stood.contains(at));
        one_by_one(&mut analysis.findings, trials, allowance)
    });
    left_out += rest?;
    if left_out > 0 {
        analysis.remarks.push(format!(
            "{left_out} possible schedules were not tried: --budget gives more, {MOST} at most"
        ));
    }
    Ok(())
}

/// Tries all of them by one run of the program, if that is long: which findings stand.
fn of_long_run(
    findings: &mut [Finding],
    trials: &[(usize, Witness)],
    allowance: &Allowance,
) -> Result<Vec<usize>> {
    let mut stood: Vec<usize> = Vec::new();
    let followed = trials
        .iter()
        .filter(|(_, witness)| together::can_follow(witness));
    let (of, witnesses): (Vec<usize>, Vec<Witness>) = followed.cloned().unzip();
    if witnesses.len() < 2 || together::executed(&witnesses[0])? <= LONG || signals::is_stopped() {
        return Ok(stood);
    }
    let stand = together::which_stand(&witnesses, allowance)?;
    for ((at, witness), stands) in of.into_iter().zip(&witnesses).zip(stand) {
        if stands && !stood.contains(&at) {
            let path = path(witness, &findings[at]);
            keep(&mut findings[at], witness, &path)?;
            stood.push(at);
        }
    }
    for at in &stood {
        let finding = &mut findings[*at];
        let path = path(&witnesses[0], finding);
        follow_up_later(finding, &path, allowance)?;
    }
    Ok(stood)
}

/// Tries them one after the other, until their finding stands; how many there was nothing left for.
fn one_by_one(
    findings: &mut [Finding],
    trials: Vec<(usize, Witness)>,
    allowance: &Allowance,
) -> Result<u64> {
    let mut left_out = 0;
    let mut progress = Counted::new("trying schedules", trials.len() as u64);
    for (at, witness) in trials {
        progress.advance();
        let finding = &mut findings[at];
        if is_settled(finding) || signals::is_stopped() {
            continue;
        }
        if !allowance.pays(allowance.cost_of_run(witness.trace.events, witness.trace.events)) {
            left_out += 1;
            continue;
        }
        let path = path(&witness, finding);
        settle(finding, Case::new(witness)?, &path)?;
    }
    Ok(left_out)
}

/// Where the witness of a finding is kept.
fn path(witness: &Witness, finding: &Finding) -> PathBuf {
    let name = witness::file_name(&finding.id);
    witness.trace.path.with_file_name(name)
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
