//! The stages of a check, one after the other.

use std::path::Path;

use deadheat_analysis::analysis::{self, Analysis, Reading};
use deadheat_analysis::assembly;
use deadheat_analysis::budget::{Allowance, LONG, Part, Total};
use deadheat_analysis::coverage::Coverage;
use deadheat_analysis::how::How;
use deadheat_analysis::leave_out;
use deadheat_analysis::prediction::Model;
use deadheat_analysis::unseen_calls::UnseenCalls;
use deadheat_analysis::ways;
use deadheat_detect::Method;
use deadheat_report::{Finding, Rung};
use deadheat_run::again;
use deadheat_run::disk;
use deadheat_run::input::{self, Patience};
use deadheat_run::recorder::{Place, Plan, Recorded};
use deadheat_run::sharing::Sharing;
use deadheat_run::store::Recording;
use deadheat_session::error::Result;
use deadheat_session::progress::Watched;
use deadheat_session::signals;
use deadheat_trace::stats::Counter;
use deadheat_trace::verify::Verifier;
use deadheat_trace::{EventIndex, Steps};

use super::{Check, Checked, Observer, Others, Verified, remarks};
use crate::confirm;
use crate::explore::evidence::Archive;
use crate::explore::warnings::{self, Settled, Verdict};
use crate::failure;
use crate::misuse;
use crate::scanned::Scanned;

/// How far a check is.
struct Stages {
    /// The first run.
    first: Option<Recorded>,
    /// What all runs so far have shown.
    all: Option<Analysis>,
    coverage: Coverage,
    last_new: u32,
    deadlocked: usize,
    scanned: Option<Scanned>,
    /// Something was left open.
    is_open: bool,
    /// The user wants no more of it.
    is_cut_short: bool,
    /// A run would not end.
    is_endless: bool,
    /// What is to be said of runs that were ended, and of a disk that is full.
    late: Option<String>,
    full: Option<String>,
    sharing: Sharing,
    /// What may be done.
    confirming: Allowance,
    ordering: Allowance,
}

impl Check<'_> {
    /// Checks; `None` if there was no run.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Option<Checked>> {
        let mut stages = Stages {
            first: None,
            all: None,
            coverage: Coverage::default(),
            last_new: 0,
            deadlocked: 0,
            scanned: self.scanned.take(),
            is_open: false,
            is_cut_short: false,
            is_endless: false,
            late: None,
            full: None,
            sharing: Sharing::default(),
            confirming: self.budget.part(Part::Confirming),
            ordering: self.budget.part(Part::Orders),
        };
        for number in 0..self.runs as usize {
            let Some(recorded) = self.record(number, &mut stages, observer)? else {
                break;
            };
            self.analyse(number, recorded, &mut stages, observer)?;
        }
        let (Some(analysis), Some(recorded)) = (stages.all.take(), stages.first.take()) else {
            return Ok(None);
        };
        Ok(Some(self.conclude(&recorded, analysis, stages)))
    }

    /// Records a run and verifies its trace; `None` if there is to be no more.
    fn record(
        &self,
        number: usize,
        stages: &mut Stages,
        observer: &mut dyn Observer,
    ) -> Result<Option<Recorded>> {
        let options = (self.schedules.options)(number as u32);
        if number > 0 && disk::is_full(&options) {
            stages.full = Some(remarks::full(number as u64, self.runs.into()));
            return Ok(None);
        }
        let at = match (number, &self.recording) {
            (0, Some(recording)) => recording.clone(),
            _ => self.store.add()?,
        };
        let plan = self.plan(at, options)?;
        if stages.is_cut_short {
            return Ok(None);
        }
        let recorded = stages.sharing.record(plan, self.survey_above)?;
        stages.confirming.weigh(recorded.contents.weight());
        stages.is_cut_short |= signals::take();
        let late = stages.late.take();
        stages.late = late.or(remarks::late(&recorded));
        stages.is_open |= recorded.is_stopped;
        stages.is_endless |= recorded.is_cut || recorded.patience == Some(Patience::Rounds);
        observer.recorded(number, &recorded, &verified(&recorded)?);
        stages.deadlocked += usize::from(recorded.deadlocked);
        Ok(Some(recorded))
    }

    fn plan(&self, at: Recording, options: String) -> Result<Plan> {
        let variables = match &self.left_out {
            Some(accesses) => vec![accesses.write(&at.trace())?],
            None => Vec::new(),
        };
        Ok(Plan {
            program: self.program.clone(),
            command: self.command.clone(),
            typed: self.typed.clone(),
            options,
            steady: true,
            place: Place::Store(at),
            again: None,
            aside: self.aside,
            variables,
            output: None,
            limit: Some(self.run_time),
            asked_after: self.asked_after,
        })
    }

    /// Looks for everything in a recorded run, and runs the program into it.
    fn analyse(
        &self,
        number: usize,
        recorded: Recorded,
        stages: &mut Stages,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let trace = &recorded.traces[0];
        if let Some(scanned) = &mut stages.scanned {
            scanned.add(trace)?;
        }
        let known = stages.all.as_ref().map_or(&[][..], |all| &all.findings);
        let mut analysis = self.enforced(trace, known, &stages.confirming, observer)?;
        let unnamed = remarks::unnamed(&recorded, &analysis);
        analysis.remarks.extend(unnamed);
        if self.explores {
            stages.is_open |= self.settle(trace, &mut analysis, observer)?;
        }
        self.take_in_ends(&recorded, &mut analysis)?;
        analysis
            .findings
            .retain(|finding| !self.suppressions.match_finding(finding));
        ways::tell(
            trace,
            &analysis.runs,
            &mut analysis.findings,
            &mut analysis.remarks,
        );
        self.take_in_children(&recorded.traces[1..], &mut analysis);
        if self.runs > 1 {
            let orders = stages.coverage.add(trace)?;
            if orders > 0 {
                stages.last_new = number as u32 + 1;
            }
            observer.run_ended(number, orders, known, &analysis.findings);
        }
        match &mut stages.all {
            None => stages.all = Some(analysis),
            Some(all) => all.take_in(analysis),
        }
        stages.first.get_or_insert(recorded);
        Ok(())
    }

    /// Adds how a run has ended, if that is a finding, and locks that were taken after their end.
    fn take_in_ends(&self, recorded: &Recorded, analysis: &mut Analysis) -> Result<()> {
        let trace = &recorded.traces[0];
        if self.confirms
            && !recorded.deadlocked
            && !recorded.hangs
            && failure::may_be(recorded.ended)
        {
            let found = failure::of_run(trace, recorded.ended)?;
            analysis.take_in_findings(found.into_iter().collect());
        }
        let tables = input::open(trace)?.tables().clone();
        analysis.take_in_findings(misuse::of(trace, &tables)?.into_iter().collect());
        if recorded.hangs {
            let found = failure::of_hang(trace, self.confirms)?;
            analysis.take_in_findings(found.into_iter().collect());
        }
        Ok(())
    }

    /// Looks at other orders if nothing was proven, and makes one of all that was found.
    fn conclude(&self, recorded: &Recorded, mut analysis: Analysis, stages: Stages) -> Checked {
        let mut sharing = stages.sharing;
        leave_out::take_back(&recorded.traces[0], &mut analysis);
        let no_others = stages.is_cut_short || stages.is_endless || self.asked_after.is_some();
        let mut others = match no_others {
            true => None,
            false => self.other_orders(&mut sharing, recorded, &mut analysis, &stages.ordering),
        };
        let is_stopped = signals::is_stopped();
        let mut is_open = stages.is_open
            || is_stopped
            || stages.is_cut_short
            || stages.late.is_some()
            || stages.confirming.is_over()
            || stages.full.is_some();
        analysis.remarks.extend(stages.late);
        analysis.remarks.extend(stages.full);
        let stopped = remarks::stopped(stages.is_cut_short, is_stopped);
        analysis.remarks.extend(stopped);
        if let Some(others) = &mut others {
            is_open |= match &*others {
                Others::Searched(searched) => !searched.unsettled.is_empty(),
                Others::Seeds { .. } => false,
                Others::TooLong => true,
            };
            let mut found = others.take_findings();
            found.retain(|finding| !self.suppressions.match_finding(finding));
            ways::tell(&recorded.traces[0], &[], &mut found, &mut analysis.remarks);
            analysis.take_in_findings(found);
        }
        let scanned = stages.scanned;
        let scan = scanned.map(|scanned| scanned.join(&mut analysis.findings));
        analysis
            .findings
            .retain(|finding| !self.suppressions.match_finding(finding));
        let by_rung = |finding: &Finding| (finding.kind, std::cmp::Reverse(finding.rung));
        analysis.findings.sort_by_key(by_rung);
        Checked {
            analysis,
            others,
            scan,
            coverage: stages.coverage,
            last_new: stages.last_new,
            deadlocked: stages.deadlocked,
            is_open,
        }
    }

    /// Searches for what is only suspicious; whether something was left open.
    fn settle(
        &self,
        trace: &Path,
        analysis: &mut Analysis,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let again = again::of(trace)?;
        let settled = warnings::settle(analysis, trace, &again, &self.archive(), &self.limits)?;
        observer.settled(&settled);
        warnings::report(analysis, &settled);
        let is_open = |one: &Settled| matches!(one.verdict, Verdict::Inconclusive(_));
        Ok(settled.iter().any(is_open))
    }

    /// Where runs of schedules go that a search has found.
    pub(super) fn archive(&self) -> Archive<'_> {
        Archive {
            store: &self.store,
            typed: self.typed.clone(),
            options: self.reach.options(Total::PREDICTING),
        }
    }

    /// What a recording shows.
    pub(super) fn shown(&self, trace: &Path) -> Result<Analysis> {
        let methods = [
            How::Detect(Method::Hb),
            How::Detect(Method::Hybrid),
            How::Predict(Model::Maximal),
            How::Interleave,
        ];
        let bytes = trace.metadata().map_or(0, |data| data.len());
        let options = self.reach.options_for(bytes, self.budget);
        analysis::of(
            trace,
            &methods,
            &self.config,
            &options,
            Reading::OfSuspects,
            trace.parent(),
        )
    }

    /// The same, with all that it proves enforced on the program. What is `known` and confirmed is
    /// not enforced again.
    fn enforced(
        &self,
        trace: &Path,
        known: &[Finding],
        allowance: &Allowance,
        observer: &mut dyn Observer,
    ) -> Result<Analysis> {
        let mut analysis = self.shown(trace)?;
        if analysis.events > LONG {
            observer.found_early(trace, &mut analysis);
        }
        analysis.findings.retain(|finding| {
            let mut sure = known.iter().filter(|known| known.rung == Rung::Confirmed);
            !sure.any(|known| known.id == finding.id)
        });
        if self.confirms {
            let is_long = analysis.events > LONG;
            let Analysis {
                findings, remarks, ..
            } = &mut analysis;
            confirm::all(findings, trace, remarks, allowance);
            // Where runs are long, the one that shows all that was seen comes first.
            if is_long {
                confirm::unordered::all(findings, trace, remarks, allowance)?;
            }
            confirm::candidates::all(&mut analysis, trace, allowance)?;
            let Analysis {
                findings, remarks, ..
            } = &mut analysis;
            confirm::unordered::all(findings, trace, remarks, allowance)?;
        }
        let tables = input::open(trace)?.tables().clone();
        let taken_back = assembly::take_back(&mut analysis.findings, &tables, trace)?;
        analysis.remarks.extend(taken_back);
        if let Some(calls) = UnseenCalls::of(&tables, trace)? {
            calls.take_back(&mut analysis.findings, false);
        }
        Ok(analysis)
    }
}

/// Verifies and counts the trace of a run.
fn verified(recorded: &Recorded) -> Result<Verified> {
    let path = &recorded.traces[0];
    let broken = |error: &input::ReadError| input::broken(path, error);
    let mut steps = Watched::new(input::open(path)?, "verifying");
    let mut verifier = Verifier::new(steps.mode(), Default::default());
    let mut counter = Counter::new();
    let mut index = 0;
    while let Some(step) = steps.next_step().map_err(|error| broken(&error))? {
        verifier.step(EventIndex(index), &step);
        counter.step(&step);
        index += 1;
    }
    let input = steps.into_inner();
    Ok(Verified {
        stats: counter.finish(input.mode(), input.tables()),
        report: verifier.finish(input.tables()),
        tables: input.tables().clone(),
    })
}
