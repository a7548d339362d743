//! `deadheat check`: everything at once: build, record serially, verify, look for races and deadlocks in the
//! trace, prove them, enforce the proofs on the program, and look at other orders of one that gives no proof.

mod leave_out;
mod scan;
mod told;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::budget::{Total, time};
use deadheat_analysis::config::Config;
use deadheat_analysis::coverage::Coverage;
use deadheat_engine::check::{Check, Checked, Observer, Others, Schedules, Verified};
use deadheat_engine::explore::warnings::Settled;
use deadheat_engine::scanned::Outcome;
use deadheat_report::{Finding, Rung, Suppressions, json};
use deadheat_run::input;
use deadheat_run::recorder::Recorded;
use deadheat_run::sharing::Longest;
use deadheat_run::store::{Recording, Store};
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::signals;
use deadheat_session::terminal::{counted, say};
use serde::Serialize;

use self::leave_out::LeaveOutArgs;
use super::limits::LimitsArgs;
use super::predict::{self, Figures};
use super::schedule::Schedule;
use super::search::{self, Search};
use super::sources::Building;
use super::trace::verify;
use crate::format::Format;
use crate::look::LookArgs;
use crate::searched;
use crate::settings::args::ConfigArgs;

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
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = time)]
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
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
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
    leave_out: LeaveOutArgs,

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
    limits: LimitsArgs,
}

impl Args {
    /// Checks.
    pub fn run(self) -> Result<Exit> {
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let store = Store::of_project()?;
        let recording = store.add()?;
        let ready = self.ready(store, &recording, config, suppressions);
        let check = ready.inspect_err(|_| {
            let _ = recording.remove();
        })?;
        let mut shown = Shown {
            args: &self,
            exit: Exit::Clean,
        };
        signals::keep_findings();
        let checked = check.run(&mut shown)?;
        let exit = shown.exit;
        match checked {
            Some(checked) => self.report(checked, &recording, exit),
            None => Ok(exit),
        }
    }

    /// What is to be checked, built if need be, and how.
    fn ready(
        &self,
        store: Store,
        recording: &Recording,
        config: Config,
        suppressions: Suppressions,
    ) -> Result<Check<'_>> {
        let (program, command) = self.building.program(&self.command, recording)?;
        let mut scanned = self.scanned()?;
        let left_out = match &mut scanned {
            Some(scanned) if self.lean => scanned.unshared(&program).map(Some),
            _ => self.leave_out.clone().functions().accesses(&program),
        };
        let schedule = |number: u32| self.schedule.numbered(number).options(true);
        Ok(Check {
            program,
            command,
            typed: self.command.clone(),
            store,
            recording: Some(recording.clone()),
            config,
            suppressions,
            runs: self.runs,
            schedules: Schedules {
                options: Box::new(schedule),
                may_use_points: self.schedule.policy.is_none(),
            },
            run_time: self.run_time,
            asked_after: self.time,
            survey_above: self.survey_above,
            aside: !self.format.is_text() && self.output.is_none(),
            left_out: left_out?,
            scanned,
            reach: self.search.reach(),
            budget: self.budget,
            confirms: !self.no_confirm,
            explores: self.explore,
            limits: self.limits.limits(),
            orders: self.orders,
        })
    }

    /// Prints or writes what came of it, and keeps it; the exit code. `exit` is that of the traces.
    fn report(&self, checked: Checked, recording: &Recording, exit: Exit) -> Result<Exit> {
        let mut analysis = checked.analysis;
        let (others, outcome) = (&checked.others, &checked.scan);
        let figures = CheckFigures {
            of_methods: Figures::of(&analysis),
            orders: others.as_ref().and_then(OrderFigures::of),
            scan: outcome.as_ref(),
            compiled_with: self.building.compiled_with(&self.command),
        };
        let kept = json::report(&analysis.findings, &figures) + "\n";
        recording.keep_report(&kept, &mut analysis.remarks);
        let found = checked.deadlocked
            + match self.format {
                Format::Text => {
                    let look = self.look.look();
                    let shown = (self.warnings, &look);
                    told::findings(&analysis, others.as_ref(), outcome.as_ref(), shown)
                }
                _ => self.write(&mut analysis, &figures)?,
            };
        self.tell_coverage(&checked.coverage, checked.last_new);
        let of_search = search::exit(&analysis, found);
        Ok(match found {
            0 if exit == Exit::Clean && checked.is_open => of_search.unwrap_or(Exit::Inconclusive),
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
}

/// Prints how a check goes on.
struct Shown<'a> {
    args: &'a Args,
    /// That of traces which break a rule.
    exit: Exit,
}

impl Observer for Shown<'_> {
    fn recorded(&mut self, number: usize, recorded: &Recorded, verified: &Verified) {
        let is_first = number == 0 && self.args.format.is_text();
        told::verified(recorded, verified, is_first);
        if is_first && let Some(flags) = self.args.building.compiled_with(&self.args.command) {
            anstream::println!("{:<16}{flags}", "compiled with");
        }
        let verdict = verify::verdict(&verified.report);
        if verdict != Exit::Clean {
            self.exit = verdict;
        }
    }

    /// Keeps it: whatever comes then, it is not lost.
    fn found_early(&mut self, trace: &Path, analysis: &mut Analysis) {
        if let Some(recording) = Recording::of_trace(trace) {
            let report = json::report(&analysis.findings, Figures::of(analysis)) + "\n";
            recording.keep_report(&report, &mut analysis.remarks);
        }
    }

    fn settled(&mut self, settled: &[Settled]) {
        if self.args.format.is_text() {
            searched::warnings(settled);
        }
    }

    fn run_ended(&mut self, number: usize, orders: u64, known: &[Finding], found: &[Finding]) {
        told::run(number, self.args.runs, orders, known, found);
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
