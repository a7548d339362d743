//! The options that say how far a search goes.

use std::time::Duration;

use deadheat_analysis::budget::time;
use deadheat_engine::explore::limits::Limits;

/// How far a search goes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct LimitsArgs {
    /// How long to search, such as 500ms, 60s or 5m: the whole program, or for each warning.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    search_time: Duration,

    /// How many executions, at most.
    #[arg(long, value_name = "N")]
    executions: Option<u64>,

    /// How many times a thread may be interrupted in one execution although it could go on; orders with fewer come first.
    /// [default: as often as there is a reason to]
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,

    /// How many steps one execution may have.
    #[arg(long, value_name = "N", default_value = "100000", value_parser = clap::value_parser!(u32).range(1..=250_000))]
    steps: u32,

    /// Run the program from its beginning each time, instead of copying it where the search begins. Then nothing keeps it from
    /// changing files and whatever else it changes.
    #[arg(long)]
    no_snapshots: bool,

    /// Do not push the thread of a warning's second access.
    #[arg(long)]
    no_hint: bool,

    /// Execute every order, also those that cannot be told apart: slow, to compare with.
    #[arg(long)]
    every_order: bool,

    /// Go no further where an execution comes to a state that is known: where threads have done and read the same, and memory holds the
    /// same. Saves executions where many orders of locks come to the same. What threads tell each other through code without
    /// instrumentation is not part of a state.
    #[arg(long)]
    cut_revisits: bool,

    /// Let the thread of a warning's first access take part from the beginning.
    #[arg(long)]
    with_first: bool,
}

impl LimitsArgs {
    /// The same for the search.
    pub fn limits(&self) -> Limits {
        Limits {
            search_time: self.search_time,
            executions: self.executions,
            preemptions: self.preemptions,
            steps: self.steps,
            no_snapshots: self.no_snapshots,
            no_hint: self.no_hint,
            every_order: self.every_order,
            cut_revisits: self.cut_revisits,
            with_first: self.with_first,
        }
    }
}
