//! Races by happens-before: the run that shows one is enforced up to its later access.
//!
//! Whether two accesses are ordered depends on the run's synchronisation alone. A schedule that the program
//! follows step by step up to the later access repeats all of it, so both accesses happen and nothing
//! orders them. They need not stand side by side: in a relaxed publication they never do.

use std::path::Path;

use deadheat_explore::After;
use deadheat_report::{Evidence, Finding, Kind, Rung};
use deadheat_trace::Steps;

use super::{Case, consequence, keep};
use crate::confirm::fine::Output;
use crate::error::Result;
use crate::input;
use crate::progress::Counted;
use crate::signals;
use crate::witness::{self, Digest, Trace, Witness};

/// Enforces what the run of a trace shows and nothing has confirmed.
pub fn all(findings: &mut [Finding], path: &Path, remarks: &mut Vec<String>) -> Result<()> {
    let is_open =
        |finding: &&mut Finding| finding.kind == Kind::Race && finding.rung == Rung::Observed;
    let count = findings.iter_mut().filter(is_open).count();
    if count == 0 {
        return Ok(());
    }
    let trace = trace_of(path)?;
    let mut progress = Counted::new("enforcing what was seen", count as u64);
    for finding in findings.iter_mut().filter(is_open) {
        progress.advance();
        if signals::is_stopped() {
            break;
        }
        if let Err(error) = settle(finding, trace.clone()) {
            let remark = format!("what was seen was not enforced: {}", error.what());
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    Ok(())
}

/// Enforces the run of a trace up to a race's later access; if the program follows, the race is confirmed.
pub fn settle(finding: &mut Finding, trace: Trace) -> Result<()> {
    let indexes = finding.accesses.iter().filter_map(|access| access.index);
    let Some(later) = indexes.max() else {
        return Ok(());
    };
    let path = trace.path.with_file_name(witness::file_name(&finding.id));
    let case = Case::new(Witness::new(finding, trace, later + 1))?;
    let run = case.enforce(After::Go, 0, Output::Captured)?;
    if !case.stands(&run) {
        if signals::is_stopped() {
            return Ok(());
        }
        finding.not_enforced = Some(case.why(&run));
        return Ok(());
    }
    keep(finding, &case, &path)?;
    finding.evidence = Some(Evidence::Unordered);
    if !signals::is_stopped() {
        finding.consequence = Some(consequence::of_one(&case, &run));
    }
    Ok(())
}

/// What a witness says of a trace.
fn trace_of(path: &Path) -> Result<Trace> {
    let mut steps = input::open(path)?;
    let mut digest = Digest::of(&steps);
    let mut events = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        digest.add(&step.event);
        events += 1;
    }
    Ok(Trace {
        path: path.to_path_buf(),
        events,
        digest: digest.text(),
    })
}
