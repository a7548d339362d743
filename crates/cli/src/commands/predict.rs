//! `deadheat predict`: looks for races and deadlocks in a trace.

use std::io::Write;
use std::path::{Path, PathBuf};

use deadheat_analysis::analysis::{self, Analysis, Reading};
use deadheat_analysis::budget::Total;
use deadheat_analysis::how::How;
use deadheat_analysis::leave_out;
use deadheat_analysis::prediction::Model;
use deadheat_analysis::ways;
use deadheat_detect::{Method, Promise};
use deadheat_engine::confirm::coarse;
use deadheat_report::text::{self, Look};
use deadheat_report::{Kind, Rung, json};
use deadheat_run::input;
use deadheat_run::store::Recording;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::signals;
use deadheat_session::terminal::{
    Align, BAD, GOOD, count, counted, duration, say, size, styled, table,
};
use deadheat_trace::{Mode, Steps};
use serde::Serialize;

use super::search::{self, Search};
use super::trace::Which;
use crate::format::Format;
use crate::look::LookArgs;
use crate::settings::args::ConfigArgs;

const EXAMPLES: &str = "\
Examples:
  deadheat predict                          all that the latest recording proves
  deadheat predict 3 --window 10000 --jobs 1
  deadheat predict other.std --method all   all methods on an imported trace, compared
  deadheat predict --method syncp,wcp       some of them
  deadheat predict --method hybrid          warnings that the order of this run has hidden
  deadheat predict --method interleave --enforce
                                            schedules that may lead to races, tried on the program
  deadheat predict --format json | jq .

Methods:
  maximal  every race and deadlock that any method can prove from this trace, each with a schedule
  said     the same, but every read must see what it saw (Said et al.)
  hb       happens-before: accesses that nothing ordered in this run
  shb      the same with an order from each write to its reads: real for every race
  wcp      weak causal precedence: sees past some orders of critical sections
  cp       causal precedence, in windows of the trace
  syncp    sync-preserving: races of runs with the same order of critical sections
  interleave
           orders of synchronisation in which accesses meet or locks hold each other up; whether
           the program takes the same way then is not known before it was made to
  lockset  memory that no lock protects
  hybrid   locksets, and an order of threads, conditions and channels

maximal, said, shb and syncp need the exact order of accesses (deadheat record --serial, or text).
An interrupt ends the search; what was proven until then is reported.
The exit code is 66 when something was found, 5 when nothing was but a budget ran out.";

/// Looks for races and deadlocks in a recorded or imported trace.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,

    /// How to look: one or more of maximal, said, hb, shb, wcp, cp, syncp, interleave, lockset, hybrid;
    /// or all.
    /// [default: maximal; hb for recordings that are not serial]
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    method: Vec<String>,

    /// Run the program by the schedules that interleave has found, to see which of them are real.
    #[arg(long)]
    enforce: bool,

    /// Write the witnesses to this folder instead of the recording's.
    #[arg(long, value_name = "FOLDER")]
    witnesses: Option<PathBuf>,

    /// How to report what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    config: ConfigArgs,

    /// How much may be done for small windows, which see all of the trace: counted work that takes about so long on
    /// an ordinary machine; or none, for no limit.
    #[arg(long, value_name = "TIME|none", default_value = "10m", value_parser = Total::parse)]
    budget: Total,

    #[command(flatten)]
    search: Search,
}

impl Args {
    /// Predicts.
    pub fn run(self) -> Result<Exit> {
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let path = self.which.path()?;
        let methods = match self.method.is_empty() {
            true => default_method(&path)?,
            false => methods(&self.method)?,
        };
        let folder = self.witness_folder(&path)?;
        let options = self.search.options(self.budget);
        signals::keep_findings();
        let mut analysis = analysis::of(
            &path,
            &methods,
            &config,
            &options,
            Reading::Whole,
            folder.as_deref(),
        )?;
        let lacks = input::open(&path)?.lacks().map(str::to_owned);
        if analysis.runs.is_empty() && !signals::is_stopped() {
            let (why, help) = match &lacks {
                Some(lacks) => (lacking(lacks), FROM_THE_FULL_FORMAT),
                None => (
                    "the order of its accesses is not exact".to_owned(),
                    "record with --serial, or use hb, wcp, cp, interleave, lockset or hybrid",
                ),
            };
            let (methods, path) = (self.method.join(", "), path.display());
            return Err(
                Error::usage(format!("{methods} cannot be used on {path}: {why}")).help(help),
            );
        }
        if self.enforce {
            coarse::all(&path, &mut analysis, folder.as_deref())?;
        }
        leave_out::take_back(&path, &mut analysis);
        let before = analysis.findings.len();
        analysis
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        let suppressed = before - analysis.findings.len();
        ways::tell(
            &path,
            &analysis.runs,
            &mut analysis.findings,
            &mut analysis.remarks,
        );
        if let Some(recording) = Recording::of_trace(&path) {
            let kept = json::report(&analysis.findings, Figures::of(&analysis)) + "\n";
            recording.keep_report(&kept, &mut analysis.remarks);
        }

        let report = match self.format {
            Format::Text => text_report(&analysis, &self.look.look()),
            other => {
                let figures = Figures::of(&analysis);
                other.report(&analysis.findings, figures, &self.look.look())
            }
        };
        write(&report, self.output.as_deref())?;
        input::tell(&analysis.trace_remarks);
        input::tell(&analysis.remarks);
        let left_out = analysis.left_out.iter().filter(|_| !signals::is_stopped());
        for method in left_out {
            let method = method.name();
            match &lacks {
                Some(lacks) => say(format_args!(
                    "note: {method} was not used: {}",
                    lacking(lacks)
                )),
                None => say(format_args!(
                    "note: {method} needs the exact order of all accesses, which this recording does not have: \
                     record with --serial"
                )),
            }
        }
        let unused: Vec<&str> = suppressions.unused().collect();
        if !unused.is_empty() {
            say(format_args!(
                "note: suppressions that matched nothing: {}",
                unused.join(", ")
            ));
        }
        search::tell(&analysis);
        say(summary(&analysis, suppressed));
        let found = analysis.findings.len();
        Ok(search::exit(&analysis, found).unwrap_or(match found {
            0 => Exit::Clean,
            _ => Exit::Findings,
        }))
    }

    /// Where witnesses are kept: with the recording, or where the user says.
    fn witness_folder(&self, path: &Path) -> Result<Option<PathBuf>> {
        if let Some(folder) = &self.witnesses {
            std::fs::create_dir_all(folder).map_err(|error| {
                Error::usage(format!(
                    "cannot make the folder {}: {error}",
                    folder.display()
                ))
            })?;
            return Ok(Some(folder.clone()));
        }
        let is_recording = path.extension().is_some_and(|extension| extension == "dht");
        Ok(path
            .parent()
            .filter(|_| is_recording)
            .map(Path::to_path_buf))
    }
}

/// Writes a report to a file, or to standard output.
pub(super) fn write(report: &str, to: Option<&Path>) -> Result<()> {
    let written = match to {
        Some(path) => std::fs::write(path, anstream::adapter::strip_str(report).to_string()),
        None => anstream::stdout().write_all(report.as_bytes()),
    };
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::usage(format!("cannot write the report: {error}")))
        }
        _ => Ok(()),
    }
}

/// How a trace that lacks something is used anyway.
const FROM_THE_FULL_FORMAT: &str =
    "convert the recording with --to text, which loses nothing; or use --method hb";

/// Why nothing can be proven about other orders of a trace.
fn lacking(lacks: &str) -> String {
    format!("it was converted from a trace with {lacks}, which STD cannot say")
}

/// The method if none is named.
fn default_method(path: &Path) -> Result<Vec<How>> {
    let input = input::open(path)?;
    if input.mode() == Mode::Serial {
        return Ok(vec![How::Predict(Model::Maximal)]);
    }
    match input.lacks() {
        Some(lacks) => say(format_args!(
            "note: only the trace's own order is judged (--method hb): {}",
            lacking(lacks)
        )),
        None => say(
            "note: this recording is not serial, so only its own order is judged (--method hb): \
             deadheat record --serial makes one that proves more",
        ),
    }
    Ok(vec![How::Detect(Method::Hb)])
}

/// The methods that the user names.
fn methods(names: &[String]) -> Result<Vec<How>> {
    let mut found = Vec::new();
    for name in names {
        if name == "all" {
            return Ok(How::all());
        }
        let known = How::all().into_iter().find(|how| how.name() == name);
        let Some(how) = known else {
            let all: Vec<&str> = How::all().iter().map(|how| how.name()).collect();
            return Err(Error::usage(format!("no method {name:?}"))
                .help(format!("the methods are {}, and all", all.join(", "))));
        };
        if !found.contains(&how) {
            found.push(how);
        }
    }
    Ok(found)
}

fn text_report(analysis: &Analysis, look: &Look) -> String {
    let mut report = String::new();
    for told in text::findings(&analysis.findings, look) {
        report.push_str(&told);
        report.push('\n');
    }
    if analysis.runs.len() > 1 {
        report.push_str(&comparison(analysis));
    }
    report
}

/// The methods side by side.
fn comparison(analysis: &Analysis) -> String {
    let columns = [
        ("method", Align::Left),
        ("races", Align::Right),
        ("places", Align::Right),
        ("variables", Align::Right),
        ("racy accesses", Align::Right),
        ("time", Align::Right),
        ("memory", Align::Right),
        ("real", Align::Left),
    ];
    let row = |run: &analysis::Run| {
        vec![
            run.how.name().to_owned(),
            count(run.races.found().len() as u64),
            count(run.races.places().len() as u64),
            count(run.races.variables().len() as u64),
            count(run.races.racy_events()),
            duration(run.took),
            size(run.memory as u64),
            match run.how.promise() {
                Promise::EveryRace => "every one".to_owned(),
                Promise::FirstRace => "the first".to_owned(),
                Promise::Nothing => "not promised".to_owned(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = analysis.runs.iter().map(row).collect();
    let mut text = table(&columns, &rows);
    let runs = analysis.runs.iter().rev();
    let mut runs = runs.filter(|run| matches!(run.how, How::Predict(_)));
    if let Some(prediction) = runs.find_map(|run| run.prediction.as_ref()) {
        let candidates = prediction.statistics.candidates;
        text.push_str(&format!(
            "quick check: {} of places may race\n",
            counted(candidates, "pair")
        ));
    }
    text
}

fn summary(analysis: &Analysis, suppressed: usize) -> String {
    let of = |kind: Kind, is_sure: bool| {
        let findings = analysis.findings.iter();
        let those = findings.filter(|finding| finding.kind == kind);
        let those = those.filter(|finding| (finding.rung != Rung::Warning) == is_sure);
        those.count() as u64
    };
    let all = [
        (of(Kind::Race, true), "race"),
        (of(Kind::Race, false), "possible race"),
        (of(Kind::Deadlock, true), "deadlock"),
        (of(Kind::Deadlock, false), "possible deadlock"),
        (of(Kind::Failure, true), "failure"),
    ];
    let mut parts: Vec<String> = all
        .into_iter()
        .filter(|(many, _)| *many > 0)
        .map(|(many, what)| styled(BAD, counted(many, what)))
        .collect();
    if all[0].0 + all[1].0 == 0 {
        parts.insert(0, styled(GOOD, "no races"));
    }
    if suppressed > 0 {
        parts.push(format!("{suppressed} suppressed"));
    }
    format!(
        "{} in {}",
        parts.join(", "),
        counted(analysis.events, "event")
    )
}

/// What the methods did, for programs.
#[derive(Serialize)]
pub(super) struct Figures {
    events: u64,
    methods: Vec<MethodFigures>,
}

#[derive(Serialize)]
struct MethodFigures {
    method: &'static str,
    races: usize,
    places: usize,
    variables: usize,
    racy_accesses: u64,
    seconds: f64,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<search::Figures>,
}

impl Figures {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let figures = |run: &analysis::Run| MethodFigures {
            method: run.how.name(),
            races: run.races.found().len(),
            places: run.races.places().len(),
            variables: run.races.variables().len(),
            racy_accesses: run.races.racy_events(),
            seconds: run.took.as_secs_f64(),
            bytes: run.memory,
            prediction: run.prediction.as_ref().map(search::Figures::of),
        };
        Figures {
            events: analysis.events,
            methods: analysis.runs.iter().map(figures).collect(),
        }
    }
}
