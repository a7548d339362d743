//! `deadheat watch`: runs a program under live detection.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use deadheat_report::{Suppressions, text};
use deadheat_run::program::Program;
use deadheat_run::store::info::Ended;
use deadheat_run::watch::{Detector, OnRace, Plan, Watched};
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::{BAD, GOOD, count, counted, duration, say, styled};

use crate::format::Format;
use crate::look::LookArgs;
use crate::settings::args::ConfigArgs;
use crate::settings::variable;

const EXAMPLES: &str = "\
Examples:
  deadheat watch -- ./prog args             reports races as they happen
  deadheat watch --on-race gdb -- ./prog    a debugger where the second access is
  deadheat watch --two-pass -- ./prog       also what this run's order has hidden, as warnings
  deadheat watch --suppressions known.txt -- ./prog
  deadheat watch --format json -o races.json -- ./prog

The program must be built with Deadheat (`deadheat build --help`). Its threads run free, and
nothing is recorded. A race by `hb` is one: nothing ordered the two accesses in this run. What
the other detectors report are warnings.
The exit code is 66 when something was found.";

/// Runs a program and reports data races as they happen.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "deadheat watch [OPTIONS] [--] PROGRAM [ARGS]..."
)]
pub struct Args {
    /// What to look for.
    #[arg(long, value_enum, default_value_t = Detecting::Hb)]
    detector: Detecting,

    /// Run the program twice: `simple` over all its memory, then `detailed` on what that flagged.
    #[arg(long, conflicts_with = "detector")]
    two_pass: bool,

    /// What to do when a race is found.
    #[arg(long, value_enum, default_value_t = Doing::Continue, value_name = "WHAT")]
    on_race: Doing,

    /// The most memory to use for detection, in megabytes; above it, old accesses are forgotten.
    #[arg(long, value_name = "MB")]
    memory: Option<u64>,

    /// How to report what was found: text on standard error as it happens, anything else at the end.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write the report to this file as well (text) or instead of standard output (anything else).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// End with the program's own exit code, or 128 and its signal.
    #[arg(long)]
    exit_code_from_program: bool,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    config: ConfigArgs,

    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

/// What `--detector` can be: a [`Detector`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Detecting {
    /// Accesses that nothing ordered in this run: every one is a race.
    Hb,
    /// Memory that no lock protects: cheap, many false alarms.
    Simple,
    /// The same with an order of threads, conditions and channels: fewer.
    Detailed,
}

impl From<Detecting> for Detector {
    fn from(detector: Detecting) -> Self {
        match detector {
            Detecting::Hb => Detector::Hb,
            Detecting::Simple => Detector::Simple,
            Detecting::Detailed => Detector::Detailed,
        }
    }
}

/// What `--on-race` can be: an [`OnRace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Doing {
    /// Report it and go on.
    Continue,
    /// Stop the whole program, so that any debugger can be attached.
    Stop,
    /// Start gdb in the thread that made the second access.
    Gdb,
}

impl From<Doing> for OnRace {
    fn from(doing: Doing) -> Self {
        match doing {
            Doing::Continue => OnRace::Continue,
            Doing::Stop => OnRace::Stop,
            Doing::Gdb => OnRace::Gdb,
        }
    }
}

impl Args {
    /// Watches.
    pub fn run(self) -> Result<ExitCode> {
        let program = Program::find(&self.command[0])?;
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let mut out = match &self.output {
            Some(path) => Some(std::fs::File::create(path).map_err(|error| {
                Error::usage(format!("cannot write {}: {error}", path.display()))
            })?),
            None => None,
        };
        let plan = Plan {
            program: &program,
            command: &self.command,
            detector: self.detector.into(),
            on_race: self.on_race.into(),
            memory: self.memory,
            options: Some(variable::for_runtime()).filter(|set| !set.is_empty()),
            places: None,
            suppressions: &suppressions,
            show: self.format.is_text().then(|| self.look.look()),
            enforced: None,
        };
        let watched = match self.two_pass {
            true => two_passes(plan)?,
            false => plan.run()?,
        };
        self.tell(&watched, &suppressions);
        if let Err(error) = self.write(&watched, out.as_mut()) {
            return Err(Error::usage(format!("cannot write the report: {error}")));
        }
        Ok(if self.exit_code_from_program {
            ExitCode::from(watched.ended.shell_code())
        } else if watched.findings.is_empty() {
            Exit::Clean.into()
        } else {
            Exit::Findings.into()
        })
    }

    /// Says how it went.
    fn tell(&self, watched: &Watched, suppressions: &Suppressions) {
        for note in &watched.notes {
            say(format_args!("note: {note}"));
        }
        if watched.ended != Ended::Exit(0) {
            say(format_args!("the program {}", watched.ended.told()));
        }
        let unused: Vec<&str> = suppressions.unused().collect();
        if !unused.is_empty() {
            say(format_args!(
                "note: suppressions that matched nothing: {}",
                unused.join(", ")
            ));
        }
        let what = match (self.two_pass, self.detector) {
            (false, Detecting::Hb) => "race",
            _ => "warning",
        };
        let found = match watched.findings.len() as u64 {
            0 => styled(GOOD, format_args!("no {what}s")),
            many => styled(BAD, counted(many, what)),
        };
        let suppressed = match watched.suppressed {
            0 => String::new(),
            many => format!(", {} suppressed", count(many)),
        };
        say(format_args!(
            "{found}{suppressed} in {}",
            duration(watched.took)
        ));
    }

    fn write(&self, watched: &Watched, out: Option<&mut std::fs::File>) -> std::io::Result<()> {
        match (self.format, out) {
            (Format::Text, None) => Ok(()),
            (Format::Text, Some(file)) => watched.findings.iter().try_for_each(|finding| {
                writeln!(
                    file,
                    "{}",
                    anstream::adapter::strip_str(&text::finding(finding, &self.look.look()))
                )
            }),
            (other, out) => {
                let figures = watched.figures.iter().cloned();
                let figures: std::collections::BTreeMap<String, u64> = figures.collect();
                let report = other.report(&watched.findings, figures, &self.look.look());
                match out {
                    Some(file) => write!(file, "{report}"),
                    None => write!(std::io::stdout(), "{report}"),
                }
            }
        }
    }
}

/// Simple detection over everything, then detailed detection on what it flagged.
fn two_passes(mut plan: Plan<'_>) -> Result<Watched> {
    let show = plan.show.take();
    let on_race = std::mem::replace(&mut plan.on_race, OnRace::Continue);
    plan.detector = Detector::Simple;
    let first = plan.run()?;
    if first.places.is_empty() {
        say("first pass: nothing without a lock that protects it; no second pass");
        return Ok(first);
    }
    say(format_args!(
        "first pass: {} without a lock that protects it; now the second pass",
        counted(first.places.len() as u64, "place")
    ));
    let second = Plan {
        detector: Detector::Detailed,
        show,
        on_race,
        places: Some(&first.places),
        ..plan
    };
    second.run()
}
