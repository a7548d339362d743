//! A look at other orders of a program whose recorded run proves nothing: what went wrong may lie on paths that
//! this run did not take.
//!
//! A small program goes through the search of `deadheat explore`, only short: as copies, a few hundred
//! executions. One that does more is recorded a few times more, with other seeds, and what those runs show by
//! happens-before is enforced. Every other one of these lets threads change turns where the recorded run looks suspicious ([`deadheat_analysis::points`]). How much is done is counted work, a part of the budget of its own.

use crate::confirm;
use crate::explore::copies::Copies;
use crate::explore::whole::{self, Explored};
use crate::failure;
use deadheat_analysis::analysis::{self, Analysis, Reading};
use deadheat_analysis::assembly;
use deadheat_analysis::budget::{self, Allowance};
use deadheat_analysis::coverage::{Both, Coverage};
use deadheat_analysis::how::How;
use deadheat_analysis::points::Points;
use deadheat_analysis::prediction::Model;
use deadheat_detect::Method;
use deadheat_explore::search::Cut;
use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::again::{self, Again};
use deadheat_run::input;
use deadheat_run::launch;
use deadheat_run::recorder::{Place, Plan, Recorded};
use deadheat_run::sharing::Sharing;
use deadheat_session::error::Result;
use deadheat_session::progress::Counted;
use deadheat_session::signals;
use deadheat_trace::Steps;

use super::Check;

/// How many events a run may have whose program is searched as copies.
const SMALL: u64 = 50_000;
/// How many other seeds a larger program is recorded with, at most.
const SEEDS: u32 = 8;
/// At which suspicious places threads let others go first, in one run after the other: all but for so many halves, the rarest
/// stay; and how many heads a coin has to show each time, as some places are come to all the time.
const AT_POINTS: [(u32, u32); 4] = [(1, 0), (0, 2), (2, 0), (0, 6)];

/// What was done in other orders.
pub enum Others {
    /// Copies were executed.
    Searched(Box<Explored>),
    /// Runs with other seeds were recorded.
    Seeds {
        /// How many.
        runs: u32,
        /// What they show.
        findings: Vec<Finding>,
        /// Which orders all runs have shown, if that could be paid for.
        coverage: Option<Both>,
    },
    /// A run is too long for what may be done.
    TooLong,
}

impl Others {
    /// What was found, which is handed over.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        match self {
            Others::Searched(explored) => std::mem::take(&mut explored.findings),
            Others::Seeds { findings, .. } => std::mem::take(findings),
            Others::TooLong => Vec::new(),
        }
    }
}

impl Check<'_> {
    /// Executes the program in other orders, if its run proves nothing; `None` if it does, or the program
    /// cannot be copied.
    pub(super) fn other_orders(
        &self,
        sharing: &mut Sharing,
        recorded: &Recorded,
        analysis: &mut Analysis,
        allowance: &Allowance,
    ) -> Option<Others> {
        if self.orders == 0
            || self.left_out.is_some()
            || !self.confirms
            || recorded.deadlocked
            || recorded.contents.threads < 2
            || proves(&analysis.findings)
        {
            return None;
        }
        let events = recorded.contents.executed();
        let done = match events > SMALL {
            false => {
                let executions = self.orders.min(allowance.times(budget::copy(events)));
                let searched = self.searched(recorded, executions);
                searched.map(|explored| explored.map(|all| Others::Searched(Box::new(all))))
            }
            true => {
                let analysed = recorded.contents.events.saturating_mul(4);
                let cost = budget::run(analysed, events);
                match allowance.times(cost).min(SEEDS.into()) as u32 {
                    0 => Ok(Some(Others::TooLong)),
                    seeds => self
                        .other_seeds(sharing, recorded, analysis, seeds, allowance)
                        .map(Some),
                }
            }
        };
        done.unwrap_or_else(|error| {
            let remark = format!("other orders were not executed: {error}");
            analysis.remarks.push(remark);
            None
        })
    }

    fn searched(&self, recorded: &Recorded, executions: u64) -> Result<Option<Explored>> {
        let trace = &recorded.traces[0];
        let again = again::of(trace)?;
        let tables = input::open(trace)?.tables().clone();
        let copies = Copies::new(&again, &tables, None, true)?;
        if !copies.is_copied {
            return Ok(None);
        }
        let search = self.limits.glance(executions);
        let archive = self.archive();
        let usual = Some(recorded.ended);
        let mut explored = whole::search(copies, &tables, usual, &archive, &search)?;
        if input::any_has_threads(&recorded.traces[1..])? {
            explored.outcome.cuts.push(Cut::Children);
        }
        Ok(Some(explored))
    }

    /// Records the program with other seeds until one of them shows something.
    fn other_seeds(
        &self,
        sharing: &mut Sharing,
        recorded: &Recorded,
        analysis: &Analysis,
        wanted: u32,
        allowance: &Allowance,
    ) -> Result<Others> {
        let trace = &recorded.traces[0];
        let reading = budget::reading(recorded.contents.events);
        let points = match self.schedules.may_use_points && allowance.pays(reading) {
            true => Some(Points::of(trace, analysis, &self.config)?),
            false => None,
        };
        let points = points.filter(|points| !points.is_empty());
        if let Some(points) = &points {
            points.write(trace, 0)?;
        }
        let again = again::of(trace)?;
        let mut progress = Counted::new("recording with other seeds", wanted.into());
        let (mut runs, mut findings) = (0, Vec::new());
        let mut coverage = allowance.pays(reading).then(Coverage::default);
        if let Some(coverage) = &mut coverage {
            coverage.add(trace)?;
        }
        for number in 0..wanted as usize {
            if signals::is_stopped() || proves(&findings) {
                break;
            }
            let recording = self.store.add()?;
            let mut options = (self.schedules.options)(number as u32 + 1);
            if let Some(points) = points.as_ref().filter(|_| number % 2 == 0) {
                let (halves, tosses) = AT_POINTS[number / 2 % AT_POINTS.len()];
                points.write(trace, halves)?;
                options += &format!(":policy=points:depth={tosses}");
            }
            let plan = self.plan_again(&again, options, recording.clone());
            let run = sharing.record(plan, self.survey_above).and_then(|other| {
                allowance.weigh(other.contents.weight());
                coverage = match coverage.take() {
                    Some(mut all) if allowance.pays(budget::reading(other.contents.events)) => {
                        all.add(&other.traces[0])?;
                        Some(all)
                    }
                    _ => None,
                };
                self.seen_in(&other, allowance)
            });
            runs += 1;
            progress.advance();
            match run {
                Ok(found) if found.is_empty() => recording.remove()?,
                Ok(found) => findings.extend(found),
                Err(error) => {
                    let _ = recording.remove();
                    return Err(error);
                }
            }
        }
        let coverage = coverage.map(|coverage| coverage.both());
        Ok(Others::Seeds {
            runs,
            findings,
            coverage,
        })
    }

    /// One more run of a recorded program.
    fn plan_again(
        &self,
        again: &Again,
        options: String,
        recording: deadheat_run::store::Recording,
    ) -> Plan {
        Plan {
            program: again.program.clone(),
            command: again.invocation.command.clone(),
            typed: self.typed.clone(),
            options,
            steady: true,
            place: Place::Store(recording),
            again: Some(again.clone()),
            aside: false,
            variables: Vec::new(),
            output: launch::nowhere(),
            limit: Some(budget::patience(0)),
            asked_after: None,
        }
    }

    /// What a run with another seed shows, enforced.
    fn seen_in(&self, run: &Recorded, allowance: &Allowance) -> Result<Vec<Finding>> {
        let trace = &run.traces[0];
        let mut methods = vec![How::Detect(Method::Hb)];
        // What the run has ended in is found on the way.
        methods.extend(run.deadlocked.then_some(How::Predict(Model::Maximal)));
        let options = self.reach.options_for(0, self.budget);
        let suspects = Reading::OfSuspects;
        let mut found = analysis::of(
            trace,
            &methods,
            &self.config,
            &options,
            suspects,
            trace.parent(),
        )?;
        let remarks = &mut Vec::new();
        confirm::all(&mut found.findings, trace, remarks, allowance);
        confirm::unordered::all(&mut found.findings, trace, remarks, allowance)?;
        if !run.deadlocked && failure::may_be(run.ended) {
            found.take_in_findings(failure::of_run(trace, run.ended)?.into_iter().collect());
        }
        let tables = input::open(trace)?.tables().clone();
        assembly::take_back(&mut found.findings, &tables, trace)?;
        found.findings.retain(is_proof);
        Ok(found.findings)
    }
}

/// Whether a finding is more than suspicious.
fn is_proof(finding: &Finding) -> bool {
    finding.rung != Rung::Warning
}

/// Whether something was proven. A run that dies says nothing of what others do.
fn proves(findings: &[Finding]) -> bool {
    let mut findings = findings.iter();
    findings.any(|finding| is_proof(finding) && finding.kind != Kind::Failure)
}
