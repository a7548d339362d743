//! Schedules of synchronisation that nobody has proven, on trial: one that leads the program into a race or a deadlock has
//! proven itself.
//!
//! As in *interleave* (Carril, Tichy 2015), but exact: where the recording is serial, every step of the program is compared with it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use deadheat_predict::Proven;
use deadheat_report::{Finding, Rung};
use deadheat_trace::{EventIndex, Pc, Steps, ThreadId};

use super::{Case, settle};
use crate::analysis::Analysis;
use crate::budget::{self, Allowance};
use crate::error::Result;
use crate::how::How;
use crate::input;
use crate::progress::Counted;
use crate::signals;
use crate::witness::{self, Digest, Next, Trace, Witness};

/// So many candidates are tried: as many on a busy machine as on any other.
const MOST: usize = 128;

/// What is known of a trace's events: who, and where.
struct Events {
    all: Vec<(ThreadId, Pc)>,
    trace: Trace,
}

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
    let events = Events::of(trace)?;
    let mut of_places: HashMap<Vec<Pc>, Vec<&Proven>> = HashMap::new();
    for candidate in &candidates {
        let places = events.places(&candidate.next);
        of_places.entry(places).or_default().push(candidate);
    }
    let cost = budget::run(events.trace.events, events.trace.events);
    let (mut tried, mut left_out) = (0, 0);
    let mut progress = Counted::new("trying schedules", analysis.findings.len() as u64);
    for finding in &mut analysis.findings {
        progress.advance();
        if is_settled(finding) || signals::is_stopped() {
            continue;
        }
        let indexes: Vec<EventIndex> = finding
            .accesses
            .iter()
            .filter_map(|access| access.index.map(EventIndex))
            .collect();
        let of_finding = of_places.get(&events.places(&indexes));
        for candidate in of_finding.into_iter().flatten() {
            if tried == MOST || !allowance.pays(cost) {
                left_out += 1;
                continue;
            }
            tried += 1;
            let path = trace.with_file_name(witness::file_name(&finding.id));
            let case = Case::new(events.witness(finding, candidate))?;
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

impl Events {
    fn of(path: &Path) -> Result<Self> {
        let mut steps = input::open(path)?;
        let mut all = Vec::new();
        let mut digest = Digest::of(&steps);
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            digest.add(&step.event);
            all.push((step.event.thread(), step.event.pc()));
        }
        let trace = Trace {
            path: path.to_path_buf(),
            events: all.len() as u64,
            digest: digest.text(),
        };
        Ok(Events { all, trace })
    }

    fn thread(&self, index: EventIndex) -> ThreadId {
        self.all[index.0 as usize].0
    }

    /// The places of some events, in an order that does not depend on the run.
    fn places(&self, indexes: &[EventIndex]) -> Vec<Pc> {
        let places = indexes.iter().map(|index| self.all[index.0 as usize].1);
        let mut places: Vec<Pc> = places.collect();
        places.sort_unstable();
        places
    }

    /// A schedule of synchronisation as one of all events: each thread does what it did up to the next synchronisation of its
    /// own that is scheduled, and in the end up to its goal.
    fn witness(&self, finding: &Finding, candidate: &Proven) -> Witness {
        let mut positions: BTreeMap<ThreadId, Vec<u64>> = BTreeMap::new();
        let start = candidate.start.0;
        for (index, (thread, _)) in self.all.iter().enumerate().skip(start as usize) {
            positions.entry(*thread).or_default().push(index as u64);
        }
        let mut passed: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let mut schedule: Vec<(u32, u64)> = Vec::new();
        let mut go = |thread: ThreadId, upto: u64| {
            let own = positions.get(&thread).map_or(&[][..], Vec::as_slice);
            let behind = own.partition_point(|index| *index < upto) as u64;
            let passed = passed.entry(thread).or_default();
            if behind > *passed {
                match schedule.last_mut() {
                    Some((last, count)) if *last == thread.0 => *count += behind - *passed,
                    _ => schedule.push((thread.0, behind - *passed)),
                }
                *passed = behind;
            }
        };
        for index in &candidate.schedule {
            go(self.thread(*index), index.0 + 1);
        }
        for index in &candidate.next {
            go(self.thread(*index), index.0);
        }
        let mut witness = Witness::new(finding, self.trace.clone(), start).with(schedule);
        witness.next = candidate
            .next
            .iter()
            .map(|index| Next {
                index: index.0,
                thread: self.thread(*index).0,
            })
            .collect();
        witness
    }
}
