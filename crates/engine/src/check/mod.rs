//! Everything at once: a program is recorded serially, its traces are verified, races and deadlocks
//! are looked for and proven, the proofs are enforced on the program, and other orders are looked
//! at of one that gives no proof.
//!
//! A [`Check`] is a value: what to run, how often, and how much may be done. An [`Observer`] hears
//! of each stage as it ends. What was found is never lost: the user's signals end a stage early,
//! and [`Checked`] says that something was left out.

mod children;
mod orders;
mod remarks;
mod stages;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::budget::Total;
use deadheat_analysis::config::Config;
use deadheat_analysis::coverage::Coverage;
use deadheat_analysis::leave_out::Accesses;
use deadheat_analysis::reach::Reach;
use deadheat_report::{Finding, Suppressions};
use deadheat_run::program::Program;
use deadheat_run::recorder::Recorded;
use deadheat_run::sharing::Longest;
use deadheat_run::store::{Recording, Store};
use deadheat_session::error::Result;
use deadheat_trace::Tables;
use deadheat_trace::stats::Stats;
use deadheat_trace::verify::Report;

use crate::explore::limits::Limits;
use crate::explore::warnings::Settled;
use crate::scanned::{Outcome, Scanned};
pub use orders::Others;

/// A program to check, and how.
pub struct Check<'a> {
    /// The program.
    pub program: Program,
    /// Its name and its arguments.
    pub command: Vec<OsString>,
    /// What the user typed for it.
    pub typed: Vec<OsString>,
    /// Where recordings are kept.
    pub store: Store,
    /// That of the first run, if it was made before.
    pub recording: Option<Recording>,
    /// What the project has set.
    pub config: Config,
    /// What is not to be reported.
    pub suppressions: Suppressions,
    /// How many runs are recorded, each by another schedule.
    pub runs: u32,
    /// By which schedules.
    pub schedules: Schedules<'a>,
    /// How long a recorded run may take.
    pub run_time: Duration,
    /// After so long a recorded program is asked to end, as a user would ask it.
    pub asked_after: Option<Duration>,
    /// The longest run that is recorded whole.
    pub survey_above: Longest,
    /// Whether what the program prints goes to standard error.
    pub aside: bool,
    /// Which accesses are not recorded.
    pub left_out: Option<Accesses>,
    /// What the static analyser has said, to be compared with what is found.
    pub scanned: Option<Scanned>,
    /// How far prediction goes.
    pub reach: Reach,
    /// How much may be done beyond the recorded runs.
    pub budget: Total,
    /// Whether the program is run into what was found.
    pub confirms: bool,
    /// Whether the program is searched for what is only suspicious.
    pub explores: bool,
    /// How far such a search goes.
    pub limits: Limits,
    /// In how many other orders a small program is executed when its run proves nothing, at most.
    pub orders: u64,
}

/// By which schedules runs are recorded.
pub struct Schedules<'a> {
    /// The runtime's options for the run of this number; 0 is the first.
    pub options: Box<dyn Fn(u32) -> String + 'a>,
    /// Whether other runs may let threads change turns where the first looks suspicious.
    pub may_use_points: bool,
}

impl Default for Schedules<'_> {
    /// The number is the seed, and every other run has policy `pct`.
    fn default() -> Self {
        let options = |number: u32| match number % 2 {
            0 => format!("mode=serial:seed={number}"),
            _ => format!("mode=serial:seed={number}:policy=pct"),
        };
        Schedules {
            options: Box::new(options),
            may_use_points: true,
        }
    }
}

/// Hears of a check as it goes on. All of it may be ignored.
pub trait Observer {
    /// A run was recorded, and its trace verified.
    fn recorded(&mut self, number: usize, recorded: &Recorded, verified: &Verified) {
        let _ = (number, recorded, verified);
    }

    /// This was found in a long trace. The program has not been run into it: whatever comes then,
    /// it can be kept now.
    fn found_early(&mut self, trace: &Path, analysis: &mut Analysis) {
        let _ = (trace, analysis);
    }

    /// This came of what was only suspicious.
    fn settled(&mut self, settled: &[Settled]) {
        let _ = settled;
    }

    /// Of several runs, one has brought this: new orders of synchronisation, and findings beside
    /// those that were known.
    fn run_ended(&mut self, number: usize, orders: u64, known: &[Finding], found: &[Finding]) {
        let _ = (number, orders, known, found);
    }
}

/// Ignores all of it.
pub struct Silent;

impl Observer for Silent {}

/// A trace, read once to see whether it is one.
pub struct Verified {
    /// What it has.
    pub stats: Stats,
    /// Whether it keeps the rules.
    pub report: Report,
    /// What its numbers stand for.
    pub tables: Tables,
}

/// What came of a check.
pub struct Checked {
    /// What was found, each once: of each kind the surest first.
    pub analysis: Analysis,
    /// What was done in other orders, if anything was.
    pub others: Option<Others>,
    /// What has become of the static analyser's warnings.
    pub scan: Option<Outcome>,
    /// Which orders of synchronisation several runs have shown.
    pub coverage: Coverage,
    /// The last run that has brought new ones, counted from 1.
    pub last_new: u32,
    /// How many runs have ended in a deadlock.
    pub deadlocked: usize,
    /// Whether something was left out: a budget ran out, a run did not end by itself, or the user
    /// has stopped it.
    pub is_open: bool,
}

impl Check<'_> {
    /// A check of this program, with its arguments, as `deadheat check` does it. Its recordings go
    /// into the project's store.
    pub fn of(command: Vec<OsString>) -> Result<Self> {
        Ok(Check {
            program: Program::find(command.first().map_or("".as_ref(), |name| name))?,
            typed: command.clone(),
            command,
            store: Store::of_project()?,
            recording: None,
            config: Config::default(),
            suppressions: Suppressions::default(),
            runs: 1,
            schedules: Schedules::default(),
            run_time: Duration::from_secs(600),
            asked_after: None,
            survey_above: Longest::default(),
            aside: false,
            left_out: None,
            scanned: None,
            reach: Reach::default(),
            budget: Total::default(),
            confirms: true,
            explores: false,
            limits: Limits::default(),
            orders: 250,
        })
    }
}
