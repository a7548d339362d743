//! What was found of what is there, counted for each command.

use super::compare::Judge;
use super::trial::{COMMANDS, Outcome};
use std::fmt;

/// Parts of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// So many.
    pub found: usize,
    /// Of so many.
    pub all: usize,
}

impl Share {
    fn add(&mut self, found: usize, all: usize) {
        self.found += found;
        self.all += all;
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.found * 100)
            .checked_div(self.all)
            .map_or(String::new(), |p| format!(" ({p}%)"));
        f.pad(&format!("{}/{}{percent}", self.found, self.all))
    }
}

/// What one command found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recall {
    /// Pairs of lines.
    pub races: Share,
    /// Programs with a race of which it found one.
    pub racy: Share,
    /// Programs that can deadlock, of which it said so.
    pub deadlocks: Share,
    /// Lines that abort.
    pub failures: Share,
}

/// What was found in programs of one language.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// How many programs.
    pub programs: usize,
    /// How many had too many states.
    pub too_large: usize,
    /// How many the search saw all of.
    pub exhausted: usize,
    /// How many replays.
    pub replays: usize,
    /// How many states the interpreter saw.
    pub states: usize,
    /// For each of [`COMMANDS`].
    pub recall: [Recall; COMMANDS.len()],
}

impl Figures {
    /// Counts a program.
    pub fn add(&mut self, judge: &Judge<'_>, outcome: &Outcome) {
        self.programs += 1;
        self.exhausted += usize::from(outcome.exhausted);
        self.replays += outcome.replays;
        self.states += judge.known.most.states;
        let truth = &judge.most;
        for (recall, found) in self.recall.iter_mut().zip(&outcome.found) {
            let found = found.clone().unwrap_or_default();
            recall.races.add(found.races.len(), truth.races.len());
            recall.racy.add(
                usize::from(!found.races.is_empty()),
                usize::from(!truth.races.is_empty()),
            );
            let deadlocked = truth
                .deadlocks
                .iter()
                .any(|d| found.deadlocks.iter().any(|set| set.is_subset(d)));
            recall.deadlocks.add(
                usize::from(deadlocked),
                usize::from(!truth.deadlocks.is_empty()),
            );
            recall
                .failures
                .add(found.failures.len(), truth.failures.len());
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} programs ({} more were too large), {} searched exhaustively, {} replays, {} states",
            self.programs, self.too_large, self.exhausted, self.replays, self.states
        )?;
        writeln!(
            f,
            "| command | pairs of lines that race | racy programs | programs that deadlock | failures |"
        )?;
        writeln!(f, "|---|---|---|---|---|")?;
        for (name, recall) in COMMANDS.iter().zip(&self.recall) {
            writeln!(
                f,
                "| `{name}` | {} | {} | {} | {} |",
                recall.races, recall.racy, recall.deadlocks, recall.failures
            )?;
        }
        Ok(())
    }
}
