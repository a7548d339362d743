//! `deadheat check`: everything at once: build, record serially, verify, look for races and deadlocks in the
//! trace, prove them, enforce the proofs on the program, and look at other orders of one that gives no proof.

mod children;
mod orders;
mod scan;
mod told;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_detect::Method;
use deadheat_report::{Finding, Rung, json};
use deadheat_trace::Steps;
use serde::Serialize;

use self::orders::Others;
use super::predict::{self, Figures};
use super::schedule::Schedule;
use super::search::{self, Search};
use super::sources::Building;
use crate::again;
use crate::analysis::{self, Analysis, Reading};
use crate::assembly;
use crate::budget::{Allowance, LONG, Part, Total};
use crate::config::{Config, ConfigArgs};
use crate::confirm;
use crate::coverage::Coverage;
use crate::disk;
use crate::error::Result;
use crate::exit::Exit;
use crate::explore::evidence::Archive;
use crate::explore::limits::Limits;
use crate::explore::told as search_told;
use crate::explore::warnings::{self, Settled, Verdict};
use crate::failure;
use crate::format::Format;
use crate::how::How;
use crate::input::{self, Patience};
use crate::leave_out::{self, LeaveOut};
use crate::look::LookArgs;
use crate::misuse;
use crate::prediction::Model;
use crate::recorder::{Place, Plan, Recorded};
use crate::scanned::Outcome;
use crate::sharing::{Longest, Sharing};
use crate::signals;
use crate::store::{Recording, Store};
use crate::terminal::{counted, say};
use crate::unseen_calls::UnseenCalls;
use crate::ways;

const EXAMPLES: &str = "\
Examples:
  deadheat check prog.c                     a source file
  deadheat check main.c util.c 10 20        two, and the program's arguments
  deadheat check --cflags '-std=c++20 -lm' prog.cpp
  deadheat check prog.rs                    a Rust program in one file
  deadheat check ./prog args                a program that was built with Deadheat
  deadheat check --runs 10 prog.c           ten runs with different schedules
  deadheat check --except log prog.c        without the accesses of the function log
  deadheat check --budget 10m ./prog        more of everything than a minute's work
  deadheat check --for 30s -- ./server      what goes on is ended after that
  deadheat check --scan --warnings prog.c   also what the source text looks like: see `deadheat scan`

Arguments up to the first that is not named like a source file are compiled together; the rest
are the program's own (put `--` before one that is named like a source file).
The program is recorded with one thread at a time; the same seed gives the same run.
Races and deadlocks that this run proves are shown, also those that happen only in other runs: each
with a witness, a schedule that leads to it. Witnesses are enforced on the program: what was seen to
stand is confirmed, with what follows from it and the command that replays it. What is only
suspicious is shown with --warnings.
A run that proves nothing is not the last word: a small program is executed in other orders, too, as
copies that change nothing outside (`deadheat explore` says more), for what lies on other paths.
The exit code is 66 when something was found, the run ended in a deadlock, or its trace fails
verification; 5 when nothing was found but a budget ran out, or the program did not end by itself.";

/// Builds a program, records it, finds races and deadlocks, and runs the program into them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "deadheat check [OPTIONS] [--] FILE.c... [ARGS]...\n       \
                      deadheat check [OPTIONS] [--] PROGRAM [ARGS]..."
)]
pub struct Args {
    #[command(flatten)]
    building: Building,

    /// Source files or a program, and the program's arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,

    /// How many runs are recorded, each with another seed and every other one with policy pct.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,

    /// How long a recorded run may take; it is ended then, and what it has shown is looked at.
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = crate::commands::time)]
    run_time: Duration,

    /// A run with more events is run twice: once to see which memory threads share, and then recorded without
    /// the rest; or never: every run is recorded whole, as far as --max-size goes.
    #[arg(long, value_name = "EVENTS|never", default_value_t, value_parser = Longest::parse)]
    survey_above: Longest,

    /// In how many other orders a small program is executed when its run proves nothing, at most; 0: in none.
    #[arg(long, value_name = "N", default_value = "250")]
    orders: u64,

    /// How much may be done in all beyond the recorded run, as counted work that takes about so long on an
    /// ordinary machine; or none, for no limit.
    #[arg(long, value_name = "TIME|none", default_value = "60s", value_parser = Total::parse)]
    budget: Total,

    /// Record for so long, such as 30s or 5m, and ask the program to end then: for servers and whatever else goes
    /// on.
    #[arg(long = "for", value_name = "TIME", value_parser = super::time)]
    time: Option<Duration>,

    /// Only find: do not run the program into what was found.
    #[arg(long)]
    no_confirm: bool,

    /// Search the program itself for what is only suspicious: see `deadheat explore`.
    #[arg(long, conflicts_with_all = ["only", "except"])]
    explore: bool,

    /// Also scan the sources, or what FILE names (compile_commands.json, bitcode, a source file), and
    /// say which of the warnings were proven, and which the run never reached.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    scan: Option<Option<PathBuf>>,

    /// With --scan: do not record accesses of functions that the scan proves to touch nothing of another thread's.
    #[arg(long, requires = "scan", conflicts_with_all = ["only", "except", "explore"])]
    lean: bool,

    #[command(flatten)]
    leave_out: LeaveOut,

    /// Also show what is only suspicious.
    #[arg(long)]
    warnings: bool,

    /// How to report what was found. With anything but text on standard output the program's own output goes to
    /// standard error.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write the report, if it is not text, to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    schedule: Schedule,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    limits: Limits,
}

impl Args {
    /// Checks.
    pub fn run(self) -> Result<Exit> {
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let store = Store::of_project()?;
        let recording = store.add()?;
        let made = self.building.program(&self.command, &recording);
        let (program, command) = made.inspect_err(|_| {
            let _ = recording.remove();
        })?;
        let mut scanned = self.scanned().inspect_err(|_| {
            let _ = recording.remove();
        })?;
        let left_out = match &mut scanned {
            Some(scanned) if self.lean => scanned.unshared(&program).map(Some),
            _ => self.leave_out.accesses(&program),
        };
        let left_out = left_out.inspect_err(|_| {
            let _ = recording.remove();
        })?;
        let mut coverage = Coverage::default();
        let mut first: Option<Recorded> = None;
        let mut all: Option<Analysis> = None;
        let (mut exit, mut deadlocked, mut last_new) = (Exit::Clean, 0, 0);
        let mut is_open = false;
        let mut is_cut_short = false;
        let confirming = self.budget.part(Part::Confirming);
        let ordering = self.budget.part(Part::Orders);
        let mut late = None;
        let mut is_endless = false;
        let mut sharing = Sharing::default();
        signals::keep_findings();
        let mut full = None;
        for (number, schedule) in self.schedule.several(self.runs).into_iter().enumerate() {
            if number > 0 && disk::is_full(&schedule.options(true)) {
                full = Some(told::full(number as u64, self.runs.into()));
                break;
            }
            let at = match number {
                0 => recording.clone(),
                _ => store.add()?,
            };
            let variables = match &left_out {
                Some(accesses) => vec![accesses.write(&at.trace())?],
                None => Vec::new(),
            };
            let plan = Plan {
                program: program.clone(),
                command: command.clone(),
                typed: self.command.clone(),
                options: schedule.options(true),
                steady: true,
                place: Place::Store(at),
                again: None,
                aside: !self.format.is_text() && self.output.is_none(),
                variables,
                output: None,
                limit: Some(self.run_time),
                asked_after: self.time,
            };
            if is_cut_short {
                break;
            }
            let recorded = sharing.record(plan, self.survey_above)?;
            confirming.weigh(recorded.contents.weight());
            is_cut_short |= signals::take();
            late = late.or(told::late(&recorded));
            is_open |= recorded.is_stopped;
            is_endless |= recorded.is_cut || recorded.patience == Some(Patience::Rounds);
            let verified = told::verified(&recorded, number == 0 && self.format.is_text())?;
            if number == 0
                && self.format.is_text()
                && let Some(flags) = self.building.compiled_with(&self.command)
            {
                anstream::println!("{:<16}{flags}", "compiled with");
            }
            if verified != Exit::Clean {
                exit = verified;
            }
            deadlocked += usize::from(recorded.deadlocked);
            let trace = &recorded.traces[0];
            if let Some(scanned) = &mut scanned {
                scanned.add(trace)?;
            }
            let known = all.as_ref().map_or(&[][..], |all| &all.findings);
            let mut analysis = self.analysed(trace, known, &config, &confirming)?;
            analysis.remarks.extend(told::unnamed(&recorded, &analysis));
            if self.explore {
                is_open |= self.settle(&store, trace, &mut analysis)?;
            }
            if !self.no_confirm
                && !recorded.deadlocked
                && !recorded.hangs
                && failure::may_be(recorded.ended)
            {
                analysis.take_in_findings(
                    failure::of_run(trace, recorded.ended)?
                        .into_iter()
                        .collect(),
                );
            }
            let tables = input::open(trace)?.tables().clone();
            analysis.take_in_findings(misuse::of(trace, &tables)?.into_iter().collect());
            if recorded.hangs {
                let found = failure::of_hang(trace, !self.no_confirm)?;
                analysis.take_in_findings(found.into_iter().collect());
            }
            analysis
                .findings
                .retain(|finding| !suppressions.match_finding(finding));
            ways::tell(
                trace,
                &analysis.runs,
                &mut analysis.findings,
                &mut analysis.remarks,
            );
            self.take_in_children(&recorded.traces[1..], &config, &suppressions, &mut analysis);
            if self.runs > 1 {
                let orders = coverage.add(trace)?;
                if orders > 0 {
                    last_new = number as u32 + 1;
                }
                told::run(number, self.runs, orders, known, &analysis.findings);
            }
            match &mut all {
                None => all = Some(analysis),
                Some(all) => all.take_in(analysis),
            }
            first.get_or_insert(recorded);
        }
        let (Some(mut analysis), Some(recorded)) = (all, first) else {
            return Ok(exit);
        };
        leave_out::take_back(&recorded.traces[0], &mut analysis);
        let no_others = is_cut_short || is_endless || self.time.is_some();
        let mut others = match no_others {
            true => None,
            false => {
                let at = (&store, &mut sharing);
                self.other_orders(at, &recorded, &config, &mut analysis, &ordering)
            }
        };
        let is_stopped = signals::is_stopped();
        is_open |= is_stopped || is_cut_short || late.is_some() || confirming.is_over();
        is_open |= full.is_some();
        analysis.remarks.extend(late);
        analysis.remarks.extend(full);
        analysis
            .remarks
            .extend(told::stopped(is_cut_short, is_stopped));
        if let Some(others) = &mut others {
            is_open |= match &*others {
                Others::Searched(searched) => !searched.unsettled.is_empty(),
                Others::Seeds { .. } => false,
                Others::TooLong => true,
            };
            let mut found = others.take_findings();
            found.retain(|finding| !suppressions.match_finding(finding));
            ways::tell(&recorded.traces[0], &[], &mut found, &mut analysis.remarks);
            analysis.take_in_findings(found);
        }
        let outcome = scanned.map(|scanned| scanned.join(&mut analysis.findings));
        analysis
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        let by_rung = |finding: &Finding| (finding.kind, std::cmp::Reverse(finding.rung));
        analysis.findings.sort_by_key(by_rung);
        let figures = CheckFigures {
            of_methods: Figures::of(&analysis),
            orders: others.as_ref().and_then(OrderFigures::of),
            scan: outcome.as_ref(),
            compiled_with: self.building.compiled_with(&self.command),
        };
        let kept = json::report(&analysis.findings, &figures) + "\n";
        recording.keep_report(&kept, &mut analysis.remarks);
        let found = deadlocked
            + match self.format {
                Format::Text => {
                    let look = self.look.look();
                    let shown = (self.warnings, &look);
                    told::findings(&analysis, others.as_ref(), outcome.as_ref(), shown)
                }
                _ => self.write(&mut analysis, &figures)?,
            };
        self.tell_coverage(&coverage, last_new);
        let of_search = search::exit(&analysis, found);
        Ok(match found {
            0 if exit == Exit::Clean && is_open => of_search.unwrap_or(Exit::Inconclusive),
            0 if exit == Exit::Clean => of_search.unwrap_or(exit),
            0 => exit,
            _ => of_search.unwrap_or(Exit::Findings),
        })
    }

    /// Writes the report for programs; how many findings there are that are more than suspicious.
    fn write(&self, analysis: &mut Analysis, figures: &CheckFigures) -> Result<usize> {
        if !self.warnings {
            let findings = &mut analysis.findings;
            findings.retain(|finding| finding.rung != Rung::Warning);
        }
        let look = self.look.look();
        let report = self.format.report(&analysis.findings, figures, &look);
        predict::write(&report, self.output.as_deref())?;
        input::tell(&analysis.remarks);
        let sure = analysis.findings.iter();
        Ok(sure.filter(|finding| finding.rung != Rung::Warning).count())
    }

    /// Searches for what is only suspicious; whether something was left open.
    fn settle(&self, store: &Store, trace: &Path, analysis: &mut Analysis) -> Result<bool> {
        let again = again::of(trace)?;
        let archive = self.archive(store);
        let settled = warnings::settle(analysis, trace, &again, &archive, &self.limits)?;
        if self.format.is_text() {
            search_told::warnings(&settled);
        }
        warnings::report(analysis, &settled);
        let is_open = |one: &Settled| matches!(one.verdict, Verdict::Inconclusive(_));
        Ok(settled.iter().any(is_open))
    }

    fn archive<'a>(&self, store: &'a Store) -> Archive<'a> {
        Archive {
            store,
            typed: self.command.clone(),
            options: self.search.options(Total::PREDICTING),
        }
    }

    /// Says whether more runs would pay.
    fn tell_coverage(&self, coverage: &Coverage, last_new: u32) {
        if self.runs > 1 {
            let orders = counted(coverage.len(), "synchronisation order");
            let pays = match self.runs - last_new {
                0 => "the last run brought new ones: more runs may find more".to_owned(),
                1 => "the last run brought no new ones".to_owned(),
                idle => format!("the last {idle} runs brought no new ones"),
            };
            say(format_args!(
                "{} showed {orders}; {pays}",
                counted(self.runs.into(), "run")
            ));
        }
    }

    /// Keeps what is known before the program is run into it: whatever comes then, it is not lost.
    fn keep_early(&self, trace: &Path, analysis: &mut Analysis) {
        if let Some(recording) = Recording::of_trace(trace) {
            let report = json::report(&analysis.findings, Figures::of(analysis)) + "\n";
            recording.keep_report(&report, &mut analysis.remarks);
        }
    }

    /// What a recording shows.
    fn shown(&self, trace: &Path, config: &Config) -> Result<Analysis> {
        let methods = [
            How::Detect(Method::Hb),
            How::Detect(Method::Hybrid),
            How::Predict(Model::Maximal),
            How::Interleave,
        ];
        let bytes = trace.metadata().map_or(0, |data| data.len());
        let options = self.search.options_for(bytes, self.budget);
        analysis::of(
            trace,
            &methods,
            config,
            &options,
            Reading::OfSuspects,
            trace.parent(),
        )
    }

    /// The same, with all that it proves enforced on the program. What is `known` and confirmed is not enforced again.
    fn analysed(
        &self,
        trace: &Path,
        known: &[Finding],
        config: &Config,
        allowance: &Allowance,
    ) -> Result<Analysis> {
        let mut analysis = self.shown(trace, config)?;
        if analysis.events > LONG {
            self.keep_early(trace, &mut analysis);
        }
        analysis.findings.retain(|finding| {
            let mut sure = known.iter().filter(|known| known.rung == Rung::Confirmed);
            !sure.any(|known| known.id == finding.id)
        });
        if !self.no_confirm {
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

/// What was done, for programs.
#[derive(Serialize)]
struct CheckFigures<'a> {
    #[serde(flatten)]
    of_methods: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<OrderFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<&'a Outcome>,
    /// The options that the program was compiled with, if `check` has done so.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_with: Option<String>,
}

/// How many other orders were executed, for programs.
#[derive(Serialize)]
struct OrderFigures {
    executions: u64,
    exhausted: bool,
    /// Pairs of lock and atomic operations that the runs have shown, and how many of them in both orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs_in_both_orders: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unconfirmed: Vec<String>,
}

impl OrderFigures {
    fn of(others: &Others) -> Option<Self> {
        match others {
            Others::Searched(explored) => Some(OrderFigures {
                executions: explored.outcome.progress.executions,
                exhausted: explored.is_complete(),
                pairs: None,
                pairs_in_both_orders: None,
                seconds: Some(explored.took.as_secs_f64()),
                unconfirmed: explored.unsettled.clone(),
            }),
            Others::Seeds { runs, coverage, .. } => Some(OrderFigures {
                executions: (*runs).into(),
                exhausted: false,
                pairs: coverage.map(|both| both.pairs),
                pairs_in_both_orders: coverage.map(|both| both.seen),
                seconds: None,
                unconfirmed: Vec::new(),
            }),
            Others::TooLong => None,
        }
    }
}
