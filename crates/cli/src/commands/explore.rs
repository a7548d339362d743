//! `deadheat explore`: model checking of the program itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::analysis::{self, Analysis, Reading};
use deadheat_analysis::budget::{Allowance, Total};
use deadheat_analysis::config::Config;
use deadheat_analysis::how::How;
use deadheat_analysis::leave_out;
use deadheat_analysis::prediction::Model;
use deadheat_analysis::ways;
use deadheat_detect::Method;
use deadheat_engine::confirm;
use deadheat_engine::explore::copies;
use deadheat_engine::explore::evidence::Archive;
use deadheat_engine::explore::warnings::{self, Recording, Settled, Verdict};
use deadheat_engine::explore::whole::{self, Explored};
use deadheat_explore::search::Cut;
use deadheat_report::text::{self, Look};
use deadheat_report::{Finding, Rung, json};
use deadheat_run::again::{self, Again};
use deadheat_run::input;
use deadheat_run::recorder::{Place, Plan};
use deadheat_run::store::{self, Store, select};
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::signals;
use deadheat_session::terminal::{BAD, GOOD, count, counted, styled};
use deadheat_trace::Steps;
use serde::Serialize;

use super::limits::LimitsArgs;
use super::predict;
use super::schedule::{Policy, Schedule};
use super::search::Search;
use super::sources::Building;
use crate::format::Format;
use crate::look::LookArgs;
use crate::searched;
use crate::settings::args::ConfigArgs;

const EXAMPLES: &str = "\
Examples:
  deadheat explore prog.c                   all schedules of a small program
  deadheat explore ./prog args              of one that was built with Deadheat
  deadheat explore --preemptions 2 prog.rs  those in which threads are interrupted twice at most
  deadheat explore 7                        what prediction left unsettled of recording 7
  deadheat explore --no-predict latest      all that is suspicious in the latest one

Of a program all orders that can be told apart are executed, one after the other, and races,
deadlocks, crashes, failures and hangs are found; each with a schedule that is enforced and can be
replayed.
Of a recording each warning is looked into that nobody has proven: from the state just before the
first access the program itself is searched for an execution in which the second one follows. A
warning is then confirmed, refuted within the bounds that are said, or left open.
Executions are copies of the program that stands where the search begins. They print nowhere, and
change no file, socket or process of yours.
Options stand before the program or the recording.
The exit code is 66 when something was found; 5 when nothing was found but something was left out.";

/// How long a run that is recorded first may take.
const FIRST_RUN: Duration = Duration::from_secs(30);

/// Searches a program's schedules, or settles what is only suspicious in a recording.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "deadheat explore [OPTIONS] [--] PROGRAM|FILE.c... [ARGS]...\n       \
                      deadheat explore [OPTIONS] TRACE"
)]
pub struct Args {
    #[command(flatten)]
    building: Building,

    /// Source files or a program, and the program's arguments; or a recording.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,

    /// Search for everything that is suspicious in a recording, also for what prediction could settle.
    #[arg(long)]
    no_predict: bool,

    /// How many runs of a recording's program are recorded with other seeds, to search from, where the recording itself does not settle a
    /// warning.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(0..=1000))]
    prefixes: u32,

    /// How to report what was found.
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
    /// Explores.
    pub fn run(self) -> Result<Exit> {
        let store = Store::of_project()?;
        match self.trace(&store) {
            Some(trace) => self.settle(&store, &trace),
            None => self.program(&store),
        }
    }

    /// The recording that is meant, if it is one.
    fn trace(&self, store: &Store) -> Option<PathBuf> {
        let [only] = &self.command[..] else {
            return None;
        };
        let path = Path::new(only);
        let is_named = only == "latest" || only.to_str()?.parse::<u64>().is_ok();
        match path.is_file() {
            true => input::is_recording(path).then(|| path.to_path_buf()),
            false if is_named => select::trace(store, Some(only)).ok(),
            false => None,
        }
    }

    fn archive<'a>(&self, store: &'a Store, typed: Vec<OsString>) -> Archive<'a> {
        Archive {
            store,
            typed,
            options: self.search.options(Total::PREDICTING),
        }
    }

    /// All schedules of a program.
    fn program(&self, store: &Store) -> Result<Exit> {
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let recording = store.add()?;
        let made = self.building.program(&self.command, &recording);
        let (program, command) = made.inspect_err(|_| {
            let _ = recording.remove();
        })?;
        let (board, variables) = copies::first(&self.limits.limits())?;
        let plan = Plan {
            program,
            command,
            typed: self.command.clone(),
            options: self.one_by_one().options(true),
            steady: true,
            place: Place::Store(recording.clone()),
            again: None,
            aside: !self.format.is_text() && self.output.is_none(),
            variables,
            output: None,
            limit: Some(FIRST_RUN),
            asked_after: None,
        };
        signals::keep_findings();
        let recorded = plan.run()?;
        drop(board);
        recorded.tell(false);
        let trace = &recorded.traces[0];
        let again = again::of(trace)?;
        let tables = input::open(trace)?.tables().clone();
        let archive = self.archive(store, self.command.clone());
        let usual = (!recorded.deadlocked).then_some(recorded.ended);
        let mut explored = whole::explore(&again, &tables, usual, &archive, &self.limits.limits())?;
        if input::any_has_threads(&recorded.traces[1..])? {
            explored.outcome.cuts.push(Cut::Children);
        }
        explored
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        explored.findings.sort_by_key(|finding| finding.kind);
        let mut remarks = Vec::new();
        ways::tell(trace, &[], &mut explored.findings, &mut remarks);
        let kept = json::report(&explored.findings, WholeFigures::of(&explored)) + "\n";
        recording.keep_report(&kept, &mut remarks);
        match self.format {
            Format::Text => show_whole(&explored, &self.look.look()),
            _ => self.write(&explored.findings, WholeFigures::of(&explored))?,
        }
        input::tell(&remarks);
        Ok(match (explored.findings.len(), explored.is_complete()) {
            (0, true) => Exit::Clean,
            (0, false) => Exit::Inconclusive,
            _ => Exit::Findings,
        })
    }

    /// Threads run one after the other, unless the user wants something else.
    fn one_by_one(&self) -> Schedule {
        Schedule {
            policy: self.schedule.policy.or(Some(Policy::RunToBlock)),
            ..self.schedule.clone()
        }
    }

    fn write(&self, findings: &[Finding], figures: impl Serialize) -> Result<()> {
        let report = self.format.report(findings, figures, &self.look.look());
        predict::write(&report, self.output.as_deref())
    }

    /// What a recording leaves unsettled.
    fn settle(&self, store: &Store, trace: &Path) -> Result<Exit> {
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        signals::keep_findings();
        let again = again::of(trace)?;
        let mut analysis = self.analysed(trace, &config)?;
        analysis
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        let archive = self.archive(store, again.invocation.command.clone());
        let settled = self.settle_all(trace, &again, &analysis, &archive, &config)?;
        let found = warnings::report(&mut analysis, &settled);
        ways::tell(
            trace,
            &analysis.runs,
            &mut analysis.findings,
            &mut analysis.remarks,
        );
        if let Some(recording) = store::Recording::of_trace(trace) {
            let kept = json::report(&analysis.findings, SettledFigures::of(&settled)) + "\n";
            recording.keep_report(&kept, &mut analysis.remarks);
        }
        match self.format {
            Format::Text => show_settled(&analysis, &settled, &self.look.look()),
            _ => self.write(&analysis.findings, SettledFigures::of(&settled))?,
        }
        let is_open = |one: &Settled| matches!(one.verdict, Verdict::Inconclusive(_));
        Ok(match (found, settled.iter().any(is_open)) {
            (0, false) => Exit::Clean,
            (0, true) => Exit::Inconclusive,
            _ => Exit::Findings,
        })
    }

    /// What is known of a recording without searching.
    fn analysed(&self, trace: &Path, config: &Config) -> Result<Analysis> {
        leave_out::refuse(trace)?;
        let mut methods = vec![How::Detect(Method::Lockset), How::Detect(Method::Hybrid)];
        if !self.no_predict {
            methods.push(How::Predict(Model::Maximal));
        }
        let options = self.search.options(Total::PREDICTING);
        let whole = Reading::Whole;
        let mut analysis = analysis::of(trace, &methods, config, &options, whole, trace.parent())?;
        let endless = Allowance::endless();
        confirm::all(
            &mut analysis.findings,
            trace,
            &mut analysis.remarks,
            &endless,
        );
        Ok(analysis)
    }

    /// Looks into each warning: from the recording itself, then from others of the same program.
    fn settle_all(
        &self,
        trace: &Path,
        again: &Again,
        analysis: &Analysis,
        archive: &Archive,
        config: &Config,
    ) -> Result<Vec<Settled>> {
        let mut all = warnings::settle(analysis, trace, again, archive, &self.limits.limits())?;
        for (number, schedule) in self.schedule.several(self.prefixes + 1).iter().enumerate() {
            let is_left = |one: &Settled| !one.is_settled();
            if number == 0 || !all.iter().any(is_left) {
                continue;
            }
            self.search_another(schedule, again, &mut all, archive, config)?;
        }
        Ok(all)
    }

    /// Tries again from another run.
    fn search_another(
        &self,
        schedule: &Schedule,
        again: &Again,
        all: &mut [Settled],
        archive: &Archive,
        config: &Config,
    ) -> Result<()> {
        let plan = Plan {
            program: again.program.clone(),
            command: again.invocation.command.clone(),
            typed: archive.typed.clone(),
            options: schedule.options(true),
            steady: true,
            place: Place::Store(archive.store.add()?),
            again: Some(again.clone()),
            aside: false,
            variables: Vec::new(),
            output: deadheat_run::launch::nowhere(),
            limit: Some(FIRST_RUN),
            asked_after: None,
        };
        let recorded = plan.run()?;
        let trace = &recorded.traces[0];
        let again = again::of(trace)?;
        let analysis = self.analysed(trace, config)?;
        let recording = Recording::of(trace, &again)?;
        for one in all.iter_mut() {
            if one.is_settled() {
                continue;
            }
            let same = |finding: &&Finding| finding.id == one.finding.id;
            let Some(now) = analysis.findings.iter().find(same) else {
                continue;
            };
            let next = match now.rung {
                Rung::Confirmed => Settled {
                    finding: now.clone(),
                    verdict: Verdict::Confirmed,
                    by_extension: true,
                    ..recording.nothing(now)
                },
                _ => recording.settle(now, archive, &self.limits.limits())?,
            };
            let executions = one.executions + next.executions;
            let took = one.took + next.took;
            if next.is_settled() {
                *one = next;
            }
            one.executions = executions;
            one.took = took;
            one.prefixes += 1;
        }
        Ok(())
    }
}

fn show_whole(explored: &Explored, look: &Look) {
    let progress = &explored.outcome.progress;
    let how = match explored.is_copied {
        true => "",
        false => ", each from the program's beginning",
    };
    let row = |name: &str, value: String| anstream::println!("{name:<16}{value}");
    row(
        "searched",
        format!("{}{how}", searched::amount(progress, explored.took)),
    );
    if progress.redundant > 0 {
        row(
            "redundant",
            format!("{} of them", counted(progress.redundant, "execution")),
        );
    }
    if let Some(told) = searched::revisits(progress) {
        row("cut off", told);
    }
    row("orders", searched::extent(explored));
    row("outcomes", count(explored.outcome.outcomes.len() as u64));
    for effect in searched::effects(explored.effects) {
        row("outside", format!("{effect}; none of that left the search"));
    }
    let many = explored.findings.len() as u64;
    row(
        "found",
        match many {
            0 => styled(GOOD, "nothing"),
            _ => styled(BAD, counted(many, "finding")),
        },
    );
    for what in &explored.unsettled {
        row("unconfirmed", what.clone());
    }
    for finding in &explored.findings {
        anstream::print!("\n{}", text::finding(finding, look));
    }
}

fn show_settled(analysis: &Analysis, settled: &[Settled], look: &Look) {
    searched::warnings(settled);
    let sure = |finding: &&Finding| finding.rung != Rung::Warning;
    if settled.is_empty() {
        anstream::println!("{}", styled(GOOD, "no warning is unsettled"));
    }
    for finding in analysis.findings.iter().filter(sure) {
        anstream::print!("\n{}", text::finding(finding, look));
    }
    input::tell(&analysis.remarks);
}

/// What a search did, for programs.
#[derive(Serialize)]
struct WholeFigures {
    executions: u64,
    redundant: u64,
    cut: u64,
    transitions: u64,
    states: u64,
    outcomes: usize,
    seconds: f64,
    snapshots: bool,
    exhausted: bool,
    cuts: Vec<String>,
    outside: Vec<&'static str>,
    unconfirmed: Vec<String>,
}

impl WholeFigures {
    fn of(explored: &Explored) -> Self {
        let progress = &explored.outcome.progress;
        WholeFigures {
            executions: progress.executions,
            redundant: progress.redundant,
            cut: progress.cut,
            transitions: progress.transitions,
            states: progress.states,
            outcomes: explored.outcome.outcomes.len(),
            seconds: explored.took.as_secs_f64(),
            snapshots: explored.is_copied,
            exhausted: explored.is_complete(),
            cuts: explored
                .outcome
                .cuts
                .iter()
                .map(ToString::to_string)
                .collect(),
            outside: searched::effects(explored.effects),
            unconfirmed: explored.unsettled.clone(),
        }
    }
}

/// What became of warnings, for programs.
#[derive(Serialize)]
struct SettledFigures<'a> {
    warnings: Vec<SettledOne<'a>>,
}

#[derive(Serialize)]
struct SettledOne<'a> {
    id: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    by_extension: bool,
    executions: u64,
    prefixes: u64,
    seconds: f64,
    snapshots: bool,
}

impl<'a> SettledFigures<'a> {
    fn of(settled: &'a [Settled]) -> Self {
        let one = |one: &'a Settled| SettledOne {
            id: &one.finding.id,
            verdict: match one.verdict {
                Verdict::Confirmed => "confirmed",
                Verdict::Refuted => "refuted",
                Verdict::Impossible => "impossible",
                Verdict::Inconclusive(_) => "inconclusive",
            },
            why: match &one.verdict {
                Verdict::Inconclusive(why) => Some(why),
                _ => None,
            },
            by_extension: one.by_extension,
            executions: one.executions,
            prefixes: one.prefixes,
            seconds: one.took.as_secs_f64(),
            snapshots: one.is_copied,
        };
        SettledFigures {
            warnings: settled.iter().map(one).collect(),
        }
    }
}
