//! `deadheat check`: everything at once: build, record serially, verify, look for races and deadlocks in the
//! trace, prove them, and enforce the proofs on the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_detect::Method;
use deadheat_report::{Finding, Kind, Rung, json, text};
use deadheat_trace::stats::Stats;
use deadheat_trace::{Op, Steps};

use super::predict::{self, Figures};
use super::schedule::Schedule;
use super::search::{self, Search};
use super::sources::Building;
use super::trace::verify;
use super::watch::Format;
use crate::again;
use crate::analysis::{self, Analysis, Reading};
use crate::config::{Config, ConfigArgs};
use crate::confirm;
use crate::coverage::Coverage;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::explore::evidence::Archive;
use crate::explore::limits::Limits;
use crate::explore::told;
use crate::explore::warnings::{self, Settled, Verdict};
use crate::how::How;
use crate::input;
use crate::prediction::Model;
use crate::progress::Watched;
use crate::recorder::{Place, Plan, Recorded};
use crate::scanned::{Outcome, Scanned};
use crate::store::Store;
use crate::terminal::{BAD, BOLD, count, counted, say, styled};

const EXAMPLES: &str = "\
Examples:
  deadheat check prog.c                     a source file
  deadheat check main.c util.c 10 20        two, and the program's arguments
  deadheat check --cflags '-std=c++20 -lm' prog.cpp
  deadheat check prog.rs                    a Rust program in one file
  deadheat check ./prog args                a program that was built with Deadheat
  deadheat check --runs 10 prog.c           ten runs with different schedules
  deadheat check --scan --warnings prog.c   also what the source text looks like: see `deadheat scan`

Arguments up to the first that is not named like a source file are compiled together; the rest
are the program's own (put `--` before one that is named like a source file).
The program is recorded with one thread at a time; the same seed gives the same run.
Races and deadlocks that this run proves are shown, also those that happen only in other runs: each
with a witness, a schedule that leads to it. Witnesses are enforced on the program: what was seen to
stand is confirmed, with what follows from it and the command that replays it. What is only
suspicious is shown with --warnings.
The exit code is 66 when something was found, the run ended in a deadlock, or its trace fails
verification; 5 when nothing was found but a budget ran out.";

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

    /// Only find: do not run the program into what was found.
    #[arg(long)]
    no_confirm: bool,

    /// Search the program itself for what is only suspicious: see `deadheat explore`.
    #[arg(long)]
    explore: bool,

    /// Also scan the sources, or what FILE names (compile_commands.json, bitcode, a source file), and
    /// say which of the warnings were proven, and which the run never reached.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    scan: Option<Option<PathBuf>>,

    /// Also show what is only suspicious.
    #[arg(long)]
    warnings: bool,

    /// How to report what was found. With json on standard output the program's own output goes to
    /// standard error.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write the JSON report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

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
        let mut coverage = Coverage::default();
        let mut all: Option<Analysis> = None;
        let (mut exit, mut deadlocked, mut last_new) = (Exit::Clean, 0, 0);
        let mut is_open = false;
        for (number, schedule) in self.schedule.several(self.runs).into_iter().enumerate() {
            let at = match number {
                0 => recording.clone(),
                _ => store.add()?,
            };
            let plan = Plan {
                program: program.clone(),
                command: command.clone(),
                typed: self.command.clone(),
                options: schedule.options(true),
                steady: true,
                place: Place::Store(at),
                again: None,
                aside: self.is_json() && self.output.is_none(),
                variables: Vec::new(),
                output: None,
                limit: None,
            };
            let recorded = plan.run()?;
            let verified = verified(&recorded, number == 0 && !self.is_json())?;
            if verified != Exit::Clean {
                exit = verified;
            }
            deadlocked += usize::from(recorded.deadlocked);
            let trace = &recorded.traces[0];
            if let Some(scanned) = &mut scanned {
                scanned.add(trace)?;
            }
            let known = all.as_ref().map_or(&[][..], |all| &all.findings);
            let mut analysis = self.analysed(trace, known, &config)?;
            if self.explore {
                is_open |= self.settle(&store, trace, &mut analysis)?;
            }
            analysis
                .findings
                .retain(|finding| !suppressions.match_finding(finding));
            if self.runs > 1 {
                let orders = coverage.add(trace)?;
                if orders > 0 {
                    last_new = number as u32 + 1;
                }
                tell_run(number, self.runs, orders, known, &analysis.findings);
            }
            match &mut all {
                None => all = Some(analysis),
                Some(all) => all.take_in(analysis),
            }
        }
        let Some(mut analysis) = all else {
            return Ok(exit);
        };
        let outcome = scanned.map(|scanned| scanned.join(&mut analysis.findings));
        analysis
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        let by_rung = |finding: &Finding| (finding.kind, std::cmp::Reverse(finding.rung));
        analysis.findings.sort_by_key(by_rung);
        let found = deadlocked
            + match self.format {
                Format::Text => show(&analysis, self.warnings, outcome.as_ref()),
                Format::Json => self.write_json(&mut analysis)?,
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

    /// What the static analyser says, if it is asked: of the file that is named, else of the sources.
    fn scanned(&self) -> Result<Option<Scanned>> {
        let Some(named) = &self.scan else {
            return Ok(None);
        };
        let mut args = self.config.to_arguments();
        match named {
            None => {
                let (sources, flags) = self.building.sources(&self.command);
                if sources.is_empty() {
                    return Err(Error::usage("there are no sources to scan, only a program").help(
                        "deadheat check --scan=compile_commands.json ./prog (or bitcode, or a source file)",
                    ));
                }
                args.extend(sources);
                args.push("--".into());
                args.extend(flags);
            }
            Some(list) if list.extension().is_some_and(|name| name == "json") => {
                args.extend(["--compile-commands".into(), list.into()]);
            }
            Some(file) => args.push(file.into()),
        }
        Scanned::of(&args).map(Some)
    }

    fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Writes the report for programs; how many findings there are that are more than suspicious.
    fn write_json(&self, analysis: &mut Analysis) -> Result<usize> {
        if !self.warnings {
            let findings = &mut analysis.findings;
            findings.retain(|finding| finding.rung != Rung::Warning);
        }
        let report = json::report(&analysis.findings, Figures::of(analysis)) + "\n";
        predict::write(&report, self.output.as_deref())?;
        input::tell(&analysis.remarks);
        let sure = analysis.findings.iter();
        Ok(sure.filter(|finding| finding.rung != Rung::Warning).count())
    }

    /// Searches for what is only suspicious; whether something was left open.
    fn settle(&self, store: &Store, trace: &Path, analysis: &mut Analysis) -> Result<bool> {
        let again = again::of(trace)?;
        let archive = Archive {
            store,
            typed: self.command.clone(),
            options: self.search.options(),
        };
        let settled = warnings::settle(analysis, trace, &again, &archive, &self.limits)?;
        if !self.is_json() {
            told::warnings(&settled);
        }
        warnings::report(analysis, &settled);
        let is_open = |one: &Settled| matches!(one.verdict, Verdict::Inconclusive(_));
        Ok(settled.iter().any(is_open))
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

    /// What a recording shows, with all that it proves enforced on the program. What is `known` and confirmed is not enforced again.
    fn analysed(&self, trace: &Path, known: &[Finding], config: &Config) -> Result<Analysis> {
        let methods = [
            How::Detect(Method::Hb),
            How::Detect(Method::Hybrid),
            How::Predict(Model::Maximal),
            How::Interleave,
        ];
        let bytes = trace.metadata().map_or(0, |data| data.len());
        let options = self.search.options_for(bytes);
        let mut analysis = analysis::of(
            trace,
            &methods,
            config,
            &options,
            Reading::OfSuspects,
            trace.parent(),
        )?;
        analysis.findings.retain(|finding| {
            let mut sure = known.iter().filter(|known| known.rung == Rung::Confirmed);
            !sure.any(|known| known.id == finding.id)
        });
        if !self.no_confirm {
            confirm::all(&mut analysis.findings, trace, &mut analysis.remarks);
            confirm::candidates::all(&mut analysis, trace)?;
        }
        Ok(analysis)
    }
}

/// Says what one of several runs has brought.
fn tell_run(number: usize, runs: u32, orders: u64, known: &[Finding], found: &[Finding]) {
    let is_new = |finding: &&Finding| {
        finding.rung != Rung::Warning && !known.iter().any(|known| known.id == finding.id)
    };
    let findings = found.iter().filter(is_new).count() as u64;
    say(format_args!(
        "run {} of {runs}: {}, {}",
        number + 1,
        counted(findings, "new finding"),
        counted(orders, "new synchronisation order"),
    ));
}

/// Verifies and counts the trace, and prints how it went (of several, only the first).
fn verified(recorded: &Recorded, is_first: bool) -> Result<Exit> {
    let path = &recorded.traces[0];
    let broken = |error: &input::ReadError| input::broken(path, error);
    let mut steps = Watched::new(input::open(path)?, "verifying");
    let mut verifier = deadheat_trace::verify::Verifier::new(steps.mode(), Default::default());
    let mut counter = deadheat_trace::stats::Counter::new();
    let mut index = 0;
    while let Some(step) = steps.next_step().map_err(|error| broken(&error))? {
        verifier.step(deadheat_trace::EventIndex(index), &step);
        counter.step(&step);
        index += 1;
    }
    let input = steps.into_inner();
    let stats = counter.finish(input.mode(), input.tables());
    let checked = verifier.finish(input.tables());

    if !is_first {
        recorded.tell(true);
        return Ok(verify::verdict(&checked));
    }
    recorded.tell(false);
    anstream::print!("{}", table(&stats, checked.mismatches));
    anstream::println!("{:<16}{}", "verification", verify::summary(&checked));
    for violation in checked.violations.iter().take(5) {
        anstream::println!("  {}", violation.describe(input.tables()));
    }
    let deadlock = match recorded.deadlocked {
        true => styled(BAD, "this run ended in one"),
        false => "no".to_owned(),
    };
    anstream::println!("{:<16}{deadlock}", "deadlocked");
    Ok(verify::verdict(&checked))
}

/// Prints what was found; how many findings there are that are more than suspicious.
fn show(analysis: &Analysis, warnings: bool, scan: Option<&Outcome>) -> usize {
    let (suspicious, sure): (Vec<&Finding>, Vec<&Finding>) = analysis
        .findings
        .iter()
        .partition(|finding| finding.rung == Rung::Warning);
    for (kind, name) in [(Kind::Race, "data races"), (Kind::Deadlock, "deadlocks")] {
        let of_kind = sure.iter().filter(|finding| finding.kind == kind);
        let told = match of_kind.clone().count() as u64 {
            0 => "none".to_owned(),
            many => {
                let on = |rung: Rung| {
                    let those = of_kind.clone().filter(|finding| finding.rung == rung);
                    those.count() as u64
                };
                let (seen, sure) = (on(Rung::Observed), on(Rung::Confirmed));
                let rungs = [
                    (sure, "confirmed"),
                    (many - seen - sure, "with a witness"),
                    (seen, "seen in this run only"),
                ];
                let rungs = rungs.into_iter().filter(|(count, _)| *count > 0);
                let rungs: Vec<String> = rungs
                    .map(|(number, what)| format!("{} {what}", count(number)))
                    .collect();
                styled(BAD, rungs.join(", "))
            }
        };
        anstream::println!("{name:<16}{told}");
    }
    let more = match (suspicious.len() as u64, warnings) {
        (0, _) => "none".to_owned(),
        (many, true) => count(many),
        (many, false) => format!("{} (deadheat check --warnings shows them)", count(many)),
    };
    anstream::println!("{:<16}{more}", "warnings");
    if let Some(outcome) = scan {
        anstream::println!("{:<16}{}", "scan", outcome.told());
    }
    for finding in &sure {
        anstream::print!("\n{}", text::finding(finding));
    }
    if warnings {
        for finding in &suspicious {
            anstream::print!("\n{}", text::finding(finding));
        }
    }
    input::tell(&analysis.remarks);
    search::tell(analysis);
    sure.len()
}

fn table(stats: &Stats, external: u64) -> String {
    let of = |op: Op| stats.by_op.get(&op).copied().unwrap_or(0);
    let atomics = of(Op::AtomicRead) + of(Op::AtomicWrite) + of(Op::AtomicRmw);
    let plain = of(Op::Read) + of(Op::Write);
    let rows = [
        ("threads", count(stats.threads.len() as u64)),
        ("events", count(stats.steps)),
        (
            "accesses",
            format!(
                "{} ({}, {}, {} atomic)",
                count(plain + atomics),
                counted(of(Op::Read), "read"),
                counted(of(Op::Write), "write"),
                count(atomics)
            ),
        ),
        (
            "locks",
            format!(
                "{} ({})",
                count(stats.locks),
                counted(of(Op::Acquire) + of(Op::ReadAcquire), "acquisition")
            ),
        ),
        (
            "shared memory",
            format!(
                "{} of {}",
                count(stats.shared_words),
                counted(stats.words, "word")
            ),
        ),
        ("external writes", count(external)),
    ];
    let lines = rows.map(|(name, value)| format!("{name:<16}{}\n", styled(BOLD, value)));
    lines.concat()
}
