//! Races by happens-before: the run that shows one is enforced up to its later access.
//!
//! Whether two accesses are ordered depends on the run's synchronisation alone. A schedule that the program
//! follows step by step up to the later access repeats all of it, so both accesses happen and nothing
//! orders them. They need not stand side by side: in a relaxed publication they never do.

use std::path::Path;

use deadheat_analysis::budget::Allowance;
use deadheat_analysis::witness::{self, Digest, Trace, Witness};
use deadheat_explore::After;
use deadheat_report::{Evidence, Finding, Kind, Rung};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_session::progress::Counted;
use deadheat_session::signals;
use deadheat_trace::Steps;

use super::fine::{Enforced, Output};
use super::{Case, UNPAID, consequence, keep, last_event, note};

/// Enforces what the run of a trace shows and nothing has confirmed, as far as the allowance goes.
///
/// All of these schedules are beginnings of the same run, so the longest of them shows all that the others show.
/// Only if the program does not follow that one to its end, each is tried by itself, the shortest first.
pub fn all(
    findings: &mut [Finding],
    path: &Path,
    remarks: &mut Vec<String>,
    allowance: &Allowance,
) -> Result<()> {
    let is_open = |finding: &Finding| finding.kind == Kind::Race && finding.rung == Rung::Observed;
    let mut open: Vec<&mut Finding> = findings.iter_mut().filter(|one| is_open(one)).collect();
    open.sort_by_key(|finding| last_event(finding));
    let Some(furthest) = open.last().map(|finding| last_event(finding)) else {
        return Ok(());
    };
    let trace = trace_of(path)?;
    if open.len() > 1 && !signals::is_stopped() {
        let cost = allowance.cost_of_run(furthest + 1, trace.events);
        if allowance.pays(cost) && settle_together(&mut open, &trace, furthest, allowance)? {
            return Ok(());
        }
    }
    let mut progress = Counted::new("enforcing what was seen", open.len() as u64);
    for finding in open {
        progress.advance();
        if signals::is_stopped() {
            break;
        }
        if !allowance.pays(allowance.cost_of_run(last_event(finding) + 1, trace.events)) {
            finding.not_enforced = Some(UNPAID.to_owned());
        } else if let Err(error) = settle_alone(finding, trace.clone(), allowance) {
            note(remarks, "what was seen was not enforced", &error);
        }
    }
    Ok(())
}

/// Enforces the run of a trace up to the furthest event of these races; whether the program followed, and all
/// of them are confirmed.
fn settle_together(
    findings: &mut [&mut Finding],
    trace: &Trace,
    furthest: u64,
    allowance: &Allowance,
) -> Result<bool> {
    let Some(last) = findings.last() else {
        return Ok(true);
    };
    let case = Case::new(Witness::new(last, trace.clone(), furthest + 1))?;
    let run = case.enforce(After::Go, 0, Output::Captured)?;
    if run.went_nowhere() {
        allowance.charge_for_hang();
    }
    if !case.stands(&run) {
        return Ok(false);
    }
    for finding in findings {
        let witness = Witness::new(finding, trace.clone(), last_event(finding) + 1);
        confirmed(finding, &witness, &case, &run)?;
    }
    Ok(true)
}

/// Enforces the run of a trace up to a race's later access; if the program follows, the race is confirmed.
pub fn settle(finding: &mut Finding, trace: Trace) -> Result<()> {
    settle_alone(finding, trace, &Allowance::endless())
}

fn settle_alone(finding: &mut Finding, trace: Trace, allowance: &Allowance) -> Result<()> {
    if finding.accesses.iter().all(|access| access.index.is_none()) {
        return Ok(());
    }
    let case = Case::new(Witness::new(finding, trace, last_event(finding) + 1))?;
    let run = case.enforce(After::Go, 0, Output::Captured)?;
    if run.went_nowhere() {
        allowance.charge_for_hang();
    }
    if case.stands(&run) {
        return confirmed(finding, &case.witness, &case, &run);
    }
    if !signals::is_stopped() {
        finding.not_enforced = Some(case.why(&run));
    }
    Ok(())
}

/// A run has followed the schedule of this witness, and shown the race.
fn confirmed(finding: &mut Finding, witness: &Witness, case: &Case, run: &Enforced) -> Result<()> {
    let path = witness
        .trace
        .path
        .with_file_name(witness::file_name(&finding.id));
    keep(finding, witness, &path)?;
    finding.evidence = Some(Evidence::Unordered);
    if !signals::is_stopped() {
        finding.consequence = Some(consequence::of_one(case, run));
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
