//! Tells of findings how they come about: by their witnesses, by what was proven, or as the run went.
//!
//! Every trace is read once for all findings in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use deadheat_predict::Proven;
use deadheat_report::{Explain, Finding, Names, Rung, Then, Way, Ways};
use deadheat_trace::{EventIndex, Steps, ThreadId};

use crate::analysis::Run;
use crate::error::Result;
use crate::input;
use crate::progress::Watched;
use crate::witness::{self, Witness};

/// Tells of these findings, which `runs` have found in `trace`, unless they have been told of. A finding with a witness is about the witness's
/// trace.
pub fn tell(trace: &Path, runs: &[Run], findings: &mut [Finding], remarks: &mut Vec<String>) {
    let proven = witness::proven(runs);
    let mut of_traces: BTreeMap<PathBuf, Vec<(usize, Way)>> = BTreeMap::new();
    for (number, finding) in findings.iter().enumerate() {
        if finding.rung == Rung::Warning || finding.interleaving.is_some() {
            continue;
        }
        match way(trace, finding, &proven) {
            Ok(Some((path, way))) => of_traces.entry(path).or_default().push((number, way)),
            Ok(None) => {}
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

/// Which schedule leads to a finding, in which trace.
fn way(
    trace: &Path,
    finding: &Finding,
    proven: &HashMap<Vec<u64>, &Proven>,
) -> Result<Option<(PathBuf, Way)>> {
    if let Some(path) = &finding.witness {
        let witness = Witness::read(Path::new(path))?;
        return Ok(Some((witness.trace.path.clone(), of_witness(&witness))));
    }
    let sides = witness::sides(finding);
    if let Some(proven) = proven.get(&sides) {
        let way = Way {
            start: proven.start,
            then: Then::Events(proven.schedule.clone()),
            next: proven.next.clone(),
            also: Vec::new(),
        };
        return Ok(Some((trace.to_owned(), way)));
    }
    // What was seen in the run came about as the run went.
    Ok(match sides[..] {
        [.., last] if finding.rung == Rung::Observed => {
            let way = Way {
                start: EventIndex(last),
                next: vec![EventIndex(last)],
                also: sides.iter().copied().map(EventIndex).collect(),
                ..Way::default()
            };
            Some((trace.to_owned(), way))
        }
        _ => None,
    })
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
        next: witness.next.iter().map(|at| EventIndex(at.index)).collect(),
        also: Vec::new(),
    }
}

fn tell_in(path: &Path, ways: Vec<(usize, Way)>, findings: &mut [Finding]) -> Result<()> {
    let (numbers, ways): (Vec<usize>, Vec<Way>) = ways.into_iter().unzip();
    let mut ways = Ways::new(ways);
    let mut steps = Watched::new(input::open(path)?, "telling how");
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        ways.step(EventIndex(index), &step);
        index += 1;
    }
    let names = Names::of(steps.tables());
    let explain = Explain {
        names: &names,
        tables: steps.tables(),
        contexts: ways.contexts(),
    };
    for (at, number) in numbers.into_iter().enumerate() {
        let finding = &mut findings[number];
        finding.interleaving = ways.told(at, finding, &explain);
    }
    Ok(())
}
