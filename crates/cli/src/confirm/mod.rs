//! Enforces witnesses on the program itself.
//!
//! * [`plan`]: from a witness to the file that the runtime follows.
//! * [`fine`]: one run under such a schedule, and what came of it.
//! * [`coarse`]: the same for schedules of synchronisation only, with threads that otherwise run free.
//! * [`consequence`]: what follows from a race in each of its two orders.
//! * [`candidates`]: schedules that nobody has proven, on trial.
//! * [`shown`]: what a schedule of synchronisation has shown, kept and shown again.
//! * [`shrink`]: the same with fewer switches.
//! * [`debugger`]: a run that ends in gdb.
//! * [`unordered`]: races by happens-before, by the run that shows them.
//! * [`why`]: why a schedule could not be followed.

pub mod candidates;
pub mod coarse;
pub mod consequence;
pub mod debugger;
pub mod fine;
pub mod plan;
pub mod shown;
mod shrink;
pub mod unordered;
mod why;

use std::path::{Path, PathBuf};

use deadheat_explore::{After, Collected, Plan, Verdict};
use deadheat_report::{Finding, Kind, Rung};
use deadheat_trace::Tables;

use crate::again::{self, Again};
use crate::error::{Error, Result};
use crate::progress::Counted;
use crate::signals;
use crate::witness::Witness;
use fine::{Enforced, Manner, Output};

/// A witness that can be enforced.
pub struct Case {
    /// The witness.
    pub witness: Witness,
    /// What plans of its events are made of.
    pub collected: Collected,
    /// What the runtime follows.
    pub plan: Plan,
    /// The program.
    pub again: Again,
    /// What the trace's numbers stand for.
    pub tables: Tables,
}

impl Case {
    /// Makes everything ready that it takes to run into the finding of this witness.
    pub fn of(path: &Path) -> Result<Self> {
        Case::new(Witness::read(path)?)
    }

    /// The same for a witness in memory.
    pub fn new(witness: Witness) -> Result<Self> {
        let again = again::of(&witness.trace.path)?;
        let (collected, tables) = plan::of(&witness)?;
        let plan = collected.plan(&collected.schedule, again.is_steady());
        let plan = plan.map_err(|error| {
            Error::usage(format!("the witness of {}: {error}", witness.finding))
        })?;
        Ok(Case {
            witness,
            collected,
            plan,
            again,
            tables,
        })
    }

    /// Whether the finding is that the program does not end.
    pub fn lasts(&self) -> bool {
        self.witness.kind == Kind::Failure && self.witness.ends.is_none()
    }

    /// Whether a run has come to the finding. A failure may come before the runtime can say that the schedule is through.
    pub fn stands(&self, run: &Enforced) -> bool {
        match self.witness.ends {
            None if self.lasts() => run.is_reached() && run.lasts,
            None => run.is_reached(),
            Some(ended) => {
                let left = run
                    .verdict
                    .as_ref()
                    .is_some_and(|verdict| !verdict.is_reached());
                !left && !run.hung && !run.deadlocked && run.ended == ended
            }
        }
    }

    /// Runs the program into the finding, and on as `after` says.
    pub fn enforce(&self, after: After, first: u32, output: Output) -> Result<Enforced> {
        let plan = self.plan.clone().then(after, first);
        fine::run(&self.again, &plan, Manner::of(output))
    }

    /// Whether a run that did not come to the finding refutes it: the program has done something else than the schedule says,
    /// though it got the same from the system, and repeats its own recording up to there. What it does where it does not is
    /// outside of what was proven.
    fn is_refuted_by(&self, run: &Enforced) -> Result<bool> {
        let is_other = match &run.verdict {
            Some(Verdict::Passed { .. }) | None => false,
            Some(verdict) => !verdict.is_reached(),
        };
        if !is_other || run.hung || run.other_inputs {
            return Ok(false);
        }
        let goals = self.witness.next.iter().map(|next| next.index);
        let whole = goals.max().map_or(self.witness.start, |last| last + 1);
        let recorded = Case::new(self.witness.as_recorded(whole))?;
        let again = recorded.enforce(After::Stop, 0, Output::Captured)?;
        Ok(recorded.stands(&again))
    }

    /// Why a schedule could not be followed, in words.
    pub fn why(&self, enforced: &Enforced) -> String {
        let ended = enforced.ended.told();
        why::why(enforced.verdict.as_ref(), &self.plan, &self.tables, &ended)
    }
}

/// Enforces the witnesses of all findings, and says on them how it went.
pub fn all(findings: &mut [Finding], trace: &Path, remarks: &mut Vec<String>) {
    let folder = trace.parent().map(Path::to_path_buf).unwrap_or_default();
    let total = findings
        .iter()
        .filter(|finding| finding.rung == Rung::Witness)
        .count();
    let mut progress = Counted::new("enforcing witnesses", total as u64);
    for finding in findings {
        if finding.rung != Rung::Witness || signals::is_stopped() {
            continue;
        }
        let path: PathBuf = folder.join(crate::witness::file_name(&finding.id));
        match one(finding, &path) {
            Ok(()) => {}
            Err(error) => {
                let remark = format!("witnesses were not enforced: {}", error.what());
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            }
        }
        progress.advance();
    }
}

fn one(finding: &mut Finding, path: &Path) -> Result<()> {
    settle(finding, Case::of(path)?, path)
}

/// Enforces a witness; if the finding stands, it is confirmed: the witness is made shorter and kept, and what follows is looked at.
pub fn settle(finding: &mut Finding, mut case: Case, path: &Path) -> Result<()> {
    let lasts = case.lasts();
    let mut first = case.enforce(After::Go, 0, Output::Captured)?;
    if !case.stands(&first) {
        // A run that was ended with the search says nothing.
        if signals::is_stopped() {
            return Ok(());
        }
        let why = case.why(&first);
        match finding.rung == Rung::Witness && case.is_refuted_by(&first)? {
            true => finding.refute(why),
            false if finding.refuted.is_some() => {}
            false => finding.not_enforced = Some(why),
        }
        return Ok(());
    }
    keep(finding, &case, path)?;
    if case.witness.kind != Kind::Failure
        && let Some(run) = shrink::shrink(&mut case)?
    {
        first = run;
    }
    keep(finding, &case, path)?;
    // The run was ended with the search, after it had come to the finding: what follows is not known.
    if signals::is_stopped() {
        return Ok(());
    }
    finding.consequence = match lasts {
        true => Some(consequence::of_one_that_lasts()),
        false => consequence::of(&case, finding, first)?,
    };
    Ok(())
}

/// Keeps the witness of a finding that was seen to stand.
fn keep(finding: &mut Finding, case: &Case, path: &Path) -> Result<()> {
    let kept = case.witness.write(path);
    kept.map_err(|error| Error::not_started(format!("{}: {error}", path.display())))?;
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    finding.witness = Some(shown.display().to_string());
    finding.rung = Rung::Confirmed;
    finding.not_enforced = None;
    finding.replay = Some(format!("deadheat replay {}", finding.id));
    Ok(())
}
