//! How long and how far prediction searches.

use std::time::Duration;

use deadheat_predict::{Effort, Options, Size};

use crate::budget::{Part, Total};

/// How much may be done for one question if the user does not say: counted work that takes about so long.
const QUESTION: Duration = Duration::from_secs(60);
/// The same for larger windows.
const MOST_GROWTH: Duration = Duration::from_secs(10);
const LEAST_GROWTH: Duration = Duration::from_secs(2);
const BYTES_A_SECOND: u64 = 64 << 20;

/// How far prediction goes.
#[derive(Clone, Debug)]
pub struct Reach {
    /// How many events are looked at together.
    pub window: Size,
    /// How long one pair of accesses may take: what is found then depends on the machine. Counted work of
    /// about a minute if `None`.
    pub question: Option<Duration>,
    /// How long larger windows are tried for, after all was looked at in small ones. Counted work if `None`.
    pub growth: Option<Duration>,
    /// How many windows are looked at at the same time; as many as there are processors if `None`.
    pub jobs: Option<usize>,
    /// How many bytes the analysis of a trace may take.
    pub memory: u64,
}

impl Default for Reach {
    fn default() -> Self {
        Reach {
            window: Size::Auto,
            question: None,
            growth: None,
            jobs: None,
            memory: 1 << 30,
        }
    }
}

impl Reach {
    /// The same for the predictor, for a trace that is the user's only concern. `all` is how much may be done for it.
    pub fn options(&self, all: Total) -> Options {
        self.growing_for(MOST_GROWTH, all.effort())
    }

    /// The same where it is one step of several, for which so much may be done in all: larger windows are tried no
    /// longer than other steps take for so many bytes.
    pub fn options_for(&self, bytes: u64, all: Total) -> Options {
        let share = Duration::from_secs(bytes / BYTES_A_SECOND);
        let first = all.part(Part::Predicting).effort();
        self.growing_for(share.clamp(LEAST_GROWTH, MOST_GROWTH), first)
    }

    fn growing_for(&self, growth: Duration, first: Effort) -> Options {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            size: self.window,
            budget: limit(self.question, QUESTION),
            first,
            growth: limit(self.growth, growth),
            jobs: self.jobs.unwrap_or_else(processors),
            memory: usize::try_from(self.memory).unwrap_or(usize::MAX),
        }
    }
}

/// A time that the user has set is a time; what is set for them is counted, so that it means the same everywhere.
fn limit(asked: Option<Duration>, about: Duration) -> Effort {
    asked.map_or(Effort::about(about), Effort::within)
}
