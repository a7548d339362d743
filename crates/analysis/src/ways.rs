//! Tells of findings how they come about, by their witnesses, by what was proven, or as the run went; and what to change, where the trace says so.
//!
//! Every trace is read once for all findings in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use deadheat_predict::Proven;
use deadheat_report::{Explain, Finding, Names, Rung, Suggestions, Then, Way, Ways};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_session::progress::{AT_ONCE, Watched};
use deadheat_session::signals;
use deadheat_trace::{EventIndex, Steps, ThreadId};

use crate::analysis::Run;
use crate::numbered::Numbered;
use crate::witness::{self, Witness};

/// Tells of these findings, which `runs` have found in `trace`, unless they have been told of. A finding with a witness is about the witness's
/// trace. Whoever wants to stop does without: all of a trace would be read for it.
pub fn tell(trace: &Path, runs: &[Run], findings: &mut [Finding], remarks: &mut Vec<String>) {
    if signals::is_stopped() {
        return;
    }
    let proven = witness::proven(runs);
    let untold = findings.iter().filter(|finding| {
        let is_known = finding.witness.is_some() || finding.rung == Rung::Warning;
        finding.interleaving.is_none() && !is_known
    });
    let unwritten = untold.filter_map(|finding| proven.get(&witness::sides(finding)).copied());
    let unwritten: Vec<&Proven> = unwritten.collect();
    let numbered = match unwritten.is_empty() {
        true => Ok(None),
        false => Numbered::of(trace, unwritten, []).map(Some),
    };
    let numbered = numbered.unwrap_or_else(|error| {
        let what = error.what();
        remarks.push(format!("how findings come about cannot be told: {what}"));
        None
    });
    let mut of_traces: BTreeMap<PathBuf, Vec<(usize, Option<Way>)>> = BTreeMap::new();
    for (number, finding) in findings.iter().enumerate() {
        if finding.interleaving.is_some() {
            continue;
        }
        match way(trace, finding, &proven, numbered.as_ref()) {
            Ok((path, way)) => {
                let path = path.canonicalize().unwrap_or(path);
                of_traces.entry(path).or_default().push((number, way));
            }
            Err(error) => remarks.push(format!(
                "how {} comes about cannot be told: {}",
                finding.id,
                error.what()
            )),
        }
    }
    for (path, ways) in of_traces {
        if let Err(error) = tell_in(&path, ways, findings) {
            remarks.push(format!(
                "how findings come about cannot be told: {}",
                error.what()
            ));
        }
    }
}

/// In which trace a finding is, and which schedule leads to it there, if one does.
fn way(
    trace: &Path,
    finding: &Finding,
    proven: &HashMap<Vec<u64>, &Proven>,
    numbered: Option<&Numbered>,
) -> Result<(PathBuf, Option<Way>)> {
    let here = trace.to_owned();
    if finding.rung == Rung::Warning {
        return Ok((here, None));
    }
    if let Some(path) = &finding.witness {
        let witness = Witness::read(Path::new(path))?;
        return Ok((witness.trace.path.clone(), Some(of_witness(&witness))));
    }
    let sides = witness::sides(finding);
    if let (Some(proven), Some(numbered)) = (proven.get(&sides), numbered) {
        let runs = numbered.runs(proven).into_iter();
        let way = Way {
            start: proven.start,
            then: Then::Parts(runs.map(|(id, count)| (ThreadId(id), count)).collect()),
            skipped: proven.skipped.clone(),
            next: proven.next.clone(),
            also: Vec::new(),
        };
        return Ok((here, Some(way)));
    }
    // What was seen in the run came about as the run went.
    let way = match sides[..] {
        [.., last] if finding.rung == Rung::Observed => Some(Way {
            start: EventIndex(last),
            next: vec![EventIndex(last)],
            also: sides.iter().copied().map(EventIndex).collect(),
            ..Way::default()
        }),
        _ => None,
    };
    Ok((here, way))
}

fn of_witness(witness: &Witness) -> Way {
    let schedule = witness.schedule.iter();
    let parts = schedule.map(|(thread, count)| (ThreadId(*thread), *count));
    Way {
        start: EventIndex(witness.start),
        then: match &witness.synchronisation {
            Some(events) => Then::Events(events.iter().copied().map(EventIndex).collect()),
            None => Then::Parts(parts.collect()),
        },
        skipped: witness.skipped(),
        next: witness.next.iter().map(|at| EventIndex(at.index)).collect(),
        also: Vec::new(),
    }
}

fn tell_in(path: &Path, asked: Vec<(usize, Option<Way>)>, findings: &mut [Finding]) -> Result<()> {
    let numbered = asked
        .iter()
        .map(|(number, _)| (*number, &findings[*number]));
    let mut suggestions = Suggestions::of(numbered);
    let with_way = |(number, way): (usize, Option<Way>)| Some((number, way?));
    let all: Vec<usize> = asked.iter().map(|(number, _)| *number).collect();
    let (told, ways): (Vec<usize>, Vec<Way>) = asked.into_iter().filter_map(with_way).unzip();
    let mut ways = Ways::new(ways);
    let mut steps = Watched::new(input::open(path)?, "telling how").unless_long();
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        suggestions.step(EventIndex(index), &step, ways.contexts());
        ways.step(EventIndex(index), &step);
        index += 1;
    }
    if signals::is_stopped() && index >= AT_ONCE {
        return Ok(());
    }
    let names = Names::of(steps.tables());
    let explain = Explain {
        names: &names,
        tables: steps.tables(),
        contexts: ways.contexts(),
    };
    for (at, number) in told.into_iter().enumerate() {
        let finding = &mut findings[number];
        finding.interleaving = ways.told(at, finding, &explain);
    }
    for number in all {
        let finding = &mut findings[number];
        if let Some(suggestion) = suggestions.told(number, finding, &explain) {
            finding.suggestion = Some(suggestion);
        }
    }
    Ok(())
}
