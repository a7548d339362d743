//! All schedules of a program from its beginning: races, deadlocks, crashes, failures and hangs among them.

use std::time::Duration;

use deadheat_analysis::unseen_calls::UnseenCalls;
use deadheat_explore::search::{Goal, Manner, Outcome, Search};
use deadheat_report::Finding;
use deadheat_run::again::Again;
use deadheat_run::store::info::Ended;
use deadheat_session::error::Result;
use deadheat_session::signals;
use deadheat_trace::Tables;
use deadheat_wire::DESTROYED;
use deadheat_wire::explore::effect;

use super::assumptions;
use super::conclusions;
use super::copies::Copies;
use super::evidence::Archive;
use super::limits::Limits;
use super::shown::Shown;

/// What came of a search.
pub struct Explored {
    /// What was found and confirmed.
    pub findings: Vec<Finding>,
    /// What the search says.
    pub outcome: Outcome,
    /// How long it took, without confirming.
    pub took: Duration,
    /// Whether executions were copies.
    pub is_copied: bool,
    /// What the program wants from the world outside.
    pub effects: u32,
    /// What was found and did not show again.
    pub unsettled: Vec<String>,
}

impl Explored {
    /// Whether all orders were seen, and all that was found in them is listed as a finding.
    pub fn is_complete(&self) -> bool {
        self.outcome.exhausted() && self.unsettled.is_empty()
    }
}

/// Searches. `usual`: how the program ends if its threads run one after the other; an exit code that it has then is no failure.
pub fn explore(
    again: &Again,
    tables: &Tables,
    usual: Option<Ended>,
    archive: &Archive,
    limits: &Limits,
) -> Result<Explored> {
    let search = limits.search(Goal::Everything, Manner::default(), limits.time());
    let all = |snapshots: bool| {
        let copies = Copies::new(again, tables, None, snapshots)?;
        self::search(copies, tables, usual, archive, &search)
    };
    let explored = all(limits.snapshots())?;
    // Copies would have in common what is in the kernel: each run has its own from the beginning.
    match explored.is_copied && explored.effects & effect::SHARING != 0 {
        true => all(false),
        false => Ok(explored),
    }
}

/// Searches among copies of the program that stand at its beginning.
pub fn search(
    mut copies: Copies,
    tables: &Tables,
    usual: Option<Ended>,
    archive: &Archive,
    search: &Search,
) -> Result<Explored> {
    let mut shown = Shown::new();
    let started = std::time::Instant::now();
    let mut outcome = search.run(
        &mut copies,
        || started.elapsed(),
        |progress| {
            shown.update(progress);
            !signals::is_stopped()
        },
    )?;
    outcome.cuts.extend(copies.left_out());
    outcome.cuts.extend(assumptions::not_met(tables));
    let mut explored = Explored {
        findings: Vec::new(),
        took: shown.elapsed(),
        is_copied: copies.is_copied,
        effects: copies.effects,
        unsettled: Vec::new(),
        outcome,
    };
    drop(shown);
    let manner = &search.manner;
    let concluded = conclusions::settle(
        &mut copies,
        tables,
        usual,
        archive,
        manner,
        &explored.outcome,
    )?;
    explored.findings = concluded.findings;
    explored.unsettled = concluded.unsettled;
    if explored.effects & effect::MISUSE != 0 {
        explored.unsettled.push(DESTROYED.to_owned());
    }
    if let Some(calls) = UnseenCalls::anywhere(tables) {
        calls.take_back(&mut explored.findings, true);
    }
    Ok(explored)
}
