//! How far a search goes, and what is left out of it to see what that costs.

use std::time::Duration;

use deadheat_explore::search::{Bound, Budget, Choice, Goal, Manner, Revisits, Search};

/// How far a search goes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long to search: the whole program, or for each warning.
    pub search_time: Duration,
    /// How many executions, at most.
    pub executions: Option<u64>,
    /// How many times a thread may be interrupted in one execution although it could go on; as often as there is a
    /// reason to if `None`.
    pub preemptions: Option<u32>,
    /// How many steps one execution may have.
    pub steps: u32,
    /// Run the program from its beginning each time, instead of copying it where the search begins.
    pub no_snapshots: bool,
    /// Do not push the thread of a warning's second access.
    pub no_hint: bool,
    /// Execute every order, also those that cannot be told apart.
    pub every_order: bool,
    /// Go no further where an execution comes to a state that is known.
    pub cut_revisits: bool,
    /// Let the thread of a warning's first access take part from the beginning.
    pub with_first: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            search_time: Duration::from_secs(60),
            executions: None,
            preemptions: None,
            steps: 100_000,
            no_snapshots: false,
            no_hint: false,
            every_order: false,
            cut_revisits: false,
            with_first: false,
        }
    }
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
