//! How far a search goes, and what is left out of it to see what that costs.

use std::time::Duration;

use deadheat_explore::search::{Bound, Budget, Choice, Goal, Manner, Revisits, Search};

/// How far a search goes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct Limits {
    /// How long to search, such as 500ms, 60s or 5m: the whole program, or for each warning.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::commands::time)]
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

/// How much memory a search may take.
const MEMORY: usize = 768 << 20;

impl Limits {
    /// Whether copies are wanted.
    pub fn snapshots(&self) -> bool {
        !self.no_snapshots
    }

    /// The thread that is pushed, if that is wanted.
    pub fn hint(&self, thread: u32) -> Option<u32> {
        (!self.no_hint).then_some(thread)
    }

    /// Whether a warning's first thread is left out at first.
    pub fn parks_first(&self) -> bool {
        !self.with_first
    }

    /// How many steps one execution may have.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// How long to search.
    pub fn time(&self) -> Duration {
        self.search_time
    }

    /// A short search for anything: so many executions, at most.
    pub fn glance(&self, executions: u64) -> Search {
        let mut search = self.search(Goal::Everything, Manner::default(), self.search_time);
        search.budget.executions = Some(executions);
        search
    }

    /// A search within these limits, which may take so long.
    pub fn search(&self, goal: Goal, manner: Manner, time: Duration) -> Search {
        Search {
            goal,
            choice: match self.every_order {
                true => Choice::Brute,
                false => Choice::Dpor,
            },
            revisits: match self.cut_revisits {
                true => Revisits::Cut,
                false => Revisits::Explore,
            },
            bound: Bound::Rising(self.preemptions),
            manner: Manner {
                longest: self.steps,
                ..manner
            },
            budget: Budget {
                executions: self.executions,
                time: Some(time),
                memory: Some(MEMORY),
            },
        }
    }
}
