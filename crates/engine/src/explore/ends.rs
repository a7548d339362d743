//! From a schedule that ends as it should not to findings: the run is recorded, and has to end so again.

use std::path::Path;

use deadheat_analysis::analysis;
use deadheat_analysis::budget::Allowance;
use deadheat_analysis::how::How;
use deadheat_analysis::prediction::Model;
use deadheat_explore::search::{Manner, Turn};
use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::store::info::Ended;
use deadheat_session::error::Result;

use super::copies::Copies;
use super::evidence::{Archive, METHOD, Seen, repeating};
use crate::confirm;
use crate::failure;

/// What a run shows that ends as it should not.
#[derive(Default)]
pub struct Ends {
    /// All that it shows.
    pub findings: Vec<Finding>,
    /// Its own end is among them.
    pub is_named: bool,
}

/// The run of these turns ends as it should not, or (`lasts`) does not end: it is recorded, and the finding is that it does so again.
pub fn failure(
    copies: &mut Copies,
    archive: &Archive,
    turns: &[Turn],
    manner: &Manner,
    lasts: bool,
) -> Result<Ends> {
    let (_, recorded) = archive.record(copies, turns, &repeating(turns, manner))?;
    let trace = &recorded.traces[0];
    if recorded.deadlocked {
        return deadlocks(trace, &archive.options);
    }
    if recorded.ended == Ended::Exit(0) && !lasts {
        return Ok(Ends::default());
    }
    let seen = Seen::read(trace)?;
    let ended = (!lasts).then_some(recorded.ended);
    let findings: Vec<Finding> = failure::dies(&seen, trace, ended, METHOD)?
        .into_iter()
        .collect();
    Ok(Ends {
        is_named: !findings.is_empty(),
        findings,
    })
}

/// The deadlock that a recording ends in, and any other that it proves: those are real, too.
fn deadlocks(trace: &Path, options: &deadheat_predict::Options) -> Result<Ends> {
    let config = deadheat_analysis::config::Config::default();
    let methods = [How::Predict(Model::Maximal)];
    let whole = analysis::Reading::Whole;
    let mut analysis = analysis::of(trace, &methods, &config, options, whole, trace.parent())?;
    let is_named = analysis.names_own_deadlock();
    let is_deadlock =
        |finding: &Finding| finding.kind == Kind::Deadlock && finding.rung > Rung::Warning;
    analysis.findings.retain(is_deadlock);
    let proven = analysis.findings.len();
    let endless = Allowance::endless();
    confirm::all(
        &mut analysis.findings,
        trace,
        &mut analysis.remarks,
        &endless,
    );
    // What the program refutes may be its own one.
    analysis.findings.retain(is_deadlock);
    let all_stand = analysis.findings.len() == proven;
    for finding in &mut analysis.findings {
        METHOD.clone_into(&mut finding.method);
    }
    Ok(Ends {
        is_named: is_named && all_stand && proven > 0,
        findings: analysis.findings,
    })
}
