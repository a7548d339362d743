//! `deadheat predict`: looks for races and deadlocks in a trace.

use std::io::Write;
use std::path::PathBuf;

use deadheat_detect::{Method, Promise};
use deadheat_report::{Kind, json, text};
use serde::Serialize;

use super::trace::Which;
use super::watch::Format;
use crate::analysis::{self, Analysis};
use crate::config::ConfigArgs;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::input;
use crate::terminal::{Align, BAD, GOOD, count, counted, duration, say, size, styled, table};

const EXAMPLES: &str = "\
Examples:
  deadheat predict                          the latest recording, by happens-before
  deadheat predict 3 --method hybrid        warnings that the order of this run has hidden
  deadheat predict other.std --method all   all methods on an imported trace, compared
  deadheat predict --method syncp,wcp       some of them
  deadheat predict --format json | jq .

Methods:
  hb       happens-before: accesses that nothing ordered in this run
  shb      the same with an order from each write to its reads: real for every race
  wcp      weak causal precedence: sees past some orders of critical sections
  cp       causal precedence, in windows of the trace
  syncp    sync-preserving: races of runs with the same order of critical sections
  lockset  memory that no lock protects
  hybrid   locksets, and an order of threads, conditions and channels

The exit code is 66 when something was found.";

/// Looks for races and deadlocks in a recorded or imported trace.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,

    /// How to look: one or more of hb, shb, wcp, cp, syncp, lockset, hybrid; or all.
    #[arg(
        long,
        value_name = "METHOD",
        value_delimiter = ',',
        default_value = "hb"
    )]
    method: Vec<String>,

    /// How to report what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    /// Predicts.
    pub fn run(self) -> Result<Exit> {
        let methods = methods(&self.method)?;
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let path = self.which.path()?;
        let mut analysis = analysis::of(&path, &methods, &config)?;
        if analysis.runs.is_empty() {
            return Err(Error::usage(format!(
                "{} cannot be used on {}: the order of its accesses is not exact",
                self.method.join(", "),
                path.display()
            ))
            .help("record with --serial, or use hb, wcp, cp, lockset or hybrid"));
        }
        let before = analysis.findings.len();
        analysis
            .findings
            .retain(|finding| !suppressions.match_finding(finding));
        let suppressed = before - analysis.findings.len();

        let report = match self.format {
            Format::Text => text_report(&analysis),
            Format::Json => json::report(&analysis.findings, Figures::of(&analysis)) + "\n",
        };
        self.write(&report)?;
        input::tell(&analysis.trace_remarks);
        input::tell(&analysis.remarks);
        for method in &analysis.left_out {
            say(format_args!(
                "note: {} needs the exact order of all accesses, which this recording does not have: \
                 record with --serial",
                method.name()
            ));
        }
        let unused: Vec<&str> = suppressions.unused().collect();
        if !unused.is_empty() {
            say(format_args!(
                "note: suppressions that matched nothing: {}",
                unused.join(", ")
            ));
        }
        say(summary(&analysis, suppressed));
        Ok(match analysis.findings.is_empty() {
            true => Exit::Clean,
            false => Exit::Findings,
        })
    }

    fn write(&self, report: &str) -> Result<()> {
        let written = match &self.output {
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
}

/// The methods that the user names.
fn methods(names: &[String]) -> Result<Vec<Method>> {
    let mut found = Vec::new();
    for name in names {
        if name == "all" {
            return Ok(Method::ALL.to_vec());
        }
        let known = Method::ALL.into_iter().find(|method| method.name() == name);
        let Some(method) = known else {
            let all = Method::ALL.map(|method| method.name()).join(", ");
            return Err(Error::usage(format!("no method {name:?}"))
                .help(format!("the methods are {all}, and all")));
        };
        if !found.contains(&method) {
            found.push(method);
        }
    }
    Ok(found)
}

fn text_report(analysis: &Analysis) -> String {
    let mut report = String::new();
    for finding in &analysis.findings {
        report.push_str(&text::finding(finding));
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
            run.method.name().to_owned(),
            count(run.races.found().len() as u64),
            count(run.races.places().len() as u64),
            count(run.races.variables().len() as u64),
            count(run.races.racy_events()),
            duration(run.took),
            size(run.memory as u64),
            match run.method.promise() {
                Promise::EveryRace => "every one".to_owned(),
                Promise::FirstRace => "the first".to_owned(),
                Promise::Nothing => "not promised".to_owned(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = analysis.runs.iter().map(row).collect();
    table(&columns, &rows)
}

fn summary(analysis: &Analysis, suppressed: usize) -> String {
    let of = |kind: Kind| {
        let findings = analysis.findings.iter();
        findings.filter(|finding| finding.kind == kind).count() as u64
    };
    let (races, deadlocks) = (of(Kind::Race), of(Kind::Deadlock));
    let mut parts = vec![match races {
        0 => styled(GOOD, "no races"),
        many => styled(BAD, counted(many, "race")),
    }];
    if deadlocks > 0 {
        parts.push(styled(BAD, counted(deadlocks, "possible deadlock")));
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
struct Figures {
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
}

impl Figures {
    fn of(analysis: &Analysis) -> Self {
        let figures = |run: &analysis::Run| MethodFigures {
            method: run.method.name(),
            races: run.races.found().len(),
            places: run.races.places().len(),
            variables: run.races.variables().len(),
            racy_accesses: run.races.racy_events(),
            seconds: run.took.as_secs_f64(),
            bytes: run.memory,
        };
        Figures {
            events: analysis.events,
            methods: analysis.runs.iter().map(figures).collect(),
        }
    }
}
