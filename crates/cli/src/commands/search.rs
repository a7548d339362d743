//! How long and how far to search, and what is said about it.

use std::collections::HashSet;
use std::time::Duration;

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::budget::{Total, time};
use deadheat_analysis::reach::Reach;
use deadheat_predict::{Options, Prediction, Size, Stage};
use deadheat_report::Rung;
use deadheat_session::exit::Exit;
use deadheat_session::signals;
use deadheat_session::terminal::{count, counted, duration, say, size};
use serde::Serialize;

use super::schedule::bytes;

/// How far prediction goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Prediction")]
pub struct Search {
    /// How many events are looked at together; `auto` looks at more and more.
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = window)]
    window: Size,

    /// How long one pair of accesses may take, such as 500ms, 60s or 5m: what is found then depends on the
    /// machine. [default: counted work of about 60s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    question: Option<Duration>,

    /// How long larger windows are tried for, after all was looked at in small ones (with --window auto). [default: counted work
    /// of about 10s; of `check` a second for each 64 MB of the recording, but 2s at least and 10s at most]
    #[arg(long, value_name = "TIME", value_parser = time)]
    growth: Option<Duration>,

    /// How many windows are looked at at the same time. [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// How much memory the analysis of a trace may take, in megabytes or as 2GiB: of a trace that takes more one part after the
    /// other is looked at.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = memory)]
    memory: u64,
}

impl Search {
    /// The same for the analysis.
    pub fn reach(&self) -> Reach {
        Reach {
            window: self.window,
            question: self.question,
            growth: self.growth,
            jobs: self.jobs.map(usize::from),
            memory: self.memory,
        }
    }

    /// The same for the predictor. `all` is how much may be done for the trace.
    pub fn options(&self, all: Total) -> Options {
        self.reach().options(all)
    }
}

/// A number of megabytes, as `watch` has it, or a size.
fn memory(text: &str) -> Result<u64, String> {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => bytes(&format!("{text}M")),
        false => bytes(text),
    }
}

fn window(text: &str) -> Result<Size, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Size::Auto),
        (_, Ok(events @ 2..)) => Ok(Size::Events(events)),
        _ => Err("a number of events (at least 2), or auto".to_owned()),
    }
}

fn predictions(analysis: &Analysis) -> impl Iterator<Item = &Prediction> {
    analysis
        .runs
        .iter()
        .filter_map(|run| run.prediction.as_ref())
}

/// Says what the user should know about a search.
pub fn tell(analysis: &Analysis) {
    if signals::is_stopped() && !predictions(analysis).any(|prediction| prediction.is_stopped) {
        say("note: stopped: there may be more");
    }
    let mut once: HashSet<&str> = HashSet::new();
    for run in &analysis.runs {
        let Some(prediction) = &run.prediction else {
            continue;
        };
        let name = run.how.name();
        for refused in &prediction.refused {
            let events: Vec<String> = refused.next.iter().map(ToString::to_string).collect();
            say(format_args!(
                "error: a bug in Deadheat: the witness of events {} is none: {}; please report it",
                events.join(" and "),
                refused.violation
            ));
        }
        let figures = &prediction.statistics;
        // What interleave thinks possible is settled by the program, not by an answer.
        if figures.asked > figures.unknown && run.how.rung() == Rung::Witness && once.insert(name) {
            let settled = Figures::told(prediction);
            let asked = counted(figures.asked, "question");
            say(format_args!("{name} asked {asked}: {settled}"));
        }
        if prediction.is_stopped {
            say(format_args!(
                "note: {name} was interrupted: there may be more"
            ));
        } else if figures.unknown > 0 {
            say(format_args!(
                "note: {name} could not settle {} within the budget: --question gives more time",
                counted(figures.unknown, "question")
            ));
        }
        if prediction.is_unfinished && !prediction.is_stopped {
            say(format_args!(
                "note: {name} has done all the work that it may and not settled all of the trace: --budget gives more"
            ));
        }
        if prediction.is_full {
            say(format_args!(
                "note: {name} has found so much that it has not looked for more"
            ));
        }
        if prediction.is_timed_out && !prediction.is_stopped {
            say(format_args!(
                "note: {name} has hit a limit in time: on another machine it may find more or less"
            ));
        }
        if prediction.is_cut_short && !prediction.is_stopped {
            say(format_args!(
                "note: {name} has not looked at all larger windows: --growth gives more time"
            ));
        }
        if prediction.forgotten > 0 {
            say(format_args!(
                "note: {name} had no room for all that memory held, and has forgotten {} of it: schedules that \
                 depend on that were not found (--memory gives more)",
                size(prediction.forgotten),
            ));
        }
        if figures.left_out > 0 {
            say(format_args!(
                "note: {name} has not asked about {}: too many of the same places",
                counted(figures.left_out, "pair")
            ));
        }
    }
}

/// The exit code, if the search has one, after so many findings.
pub fn exit(analysis: &Analysis, found: usize) -> Option<Exit> {
    let has_refused = predictions(analysis).any(|prediction| !prediction.refused.is_empty());
    let has_gap = analysis.runs.iter().any(|run| run.gap.is_some());
    let is_open =
        has_gap || signals::is_stopped() || predictions(analysis).any(Prediction::is_open);
    match (has_refused, found == 0 && is_open) {
        (true, _) => Some(Exit::Bug),
        (false, true) => Some(Exit::Inconclusive),
        (false, false) => None,
    }
}

/// What a prediction did, for programs.
#[derive(Serialize)]
pub struct Figures {
    windows: u64,
    candidates: u64,
    asked: u64,
    unknown: u64,
    left_out: u64,
    deadlocks: usize,
    interrupted: bool,
    stages: Vec<StageFigures>,
}

#[derive(Serialize)]
struct StageFigures {
    stage: &'static str,
    proven: u64,
    refuted: u64,
    seconds: f64,
}

impl Figures {
    /// The figures of a prediction.
    pub fn of(prediction: &Prediction) -> Self {
        let figures = &prediction.statistics;
        let stages = Stage::ALL.into_iter().zip(&figures.stages);
        Figures {
            windows: figures.windows,
            candidates: figures.candidates,
            asked: figures.asked,
            unknown: figures.unknown,
            left_out: figures.left_out,
            deadlocks: prediction.deadlocks.len(),
            interrupted: prediction.is_stopped,
            stages: stages
                .map(|(stage, figures)| StageFigures {
                    stage: stage.name(),
                    proven: figures.reached,
                    refuted: figures.impossible,
                    seconds: figures.took.as_secs_f64(),
                })
                .collect(),
        }
    }

    /// The same for people: which stage settled how many questions.
    fn told(prediction: &Prediction) -> String {
        let stages = Stage::ALL.into_iter().zip(&prediction.statistics.stages);
        let settled = stages.filter_map(|(stage, figures)| {
            let parts = [(figures.reached, "proven"), (figures.impossible, "refuted")];
            let parts: Vec<String> = parts
                .into_iter()
                .filter(|(number, _)| *number > 0)
                .map(|(number, what)| format!("{} {what}", count(number)))
                .collect();
            let (name, took) = (stage.name(), duration(figures.took));
            (!parts.is_empty()).then(|| format!("{} by {name} ({took})", parts.join(" and ")))
        });
        settled.collect::<Vec<_>>().join(", ")
    }
}
