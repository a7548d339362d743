//! What was found of what is there, counted for each command.

use super::compare::Judge;
use super::scan::Warned;
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
    /// How many were built with optimisation: what is found in them is not compared with their source.
    pub optimised: usize,
    /// Races that an exhausted search has listed and not confirmed.
    pub unconfirmed: usize,
    /// Pairs of lines that `scan` warned of and that do not race.
    pub in_vain: usize,
    /// How many replays.
    pub replays: usize,
    /// How many states the interpreter saw.
    pub states: usize,
    /// For each of [`COMMANDS`].
    pub recall: [Recall; COMMANDS.len()],
}

impl Figures {
    /// Counts a program.
    pub fn add(&mut self, judge: &Judge<'_>, outcome: &Outcome, warned: Option<Warned>) {
        self.programs += 1;
        if judge.optimised {
            self.optimised += 1;
            self.replays += outcome.replays;
            return;
        }
        self.exhausted += usize::from(outcome.exhausted);
        self.replays += outcome.replays;
        self.states += judge.known.most.states;
        self.unconfirmed += outcome.unconfirmed;
        let truth = &judge.most;
        let mut found = outcome.found.clone();
        if let Some(warned) = warned {
            self.in_vain += warned.in_vain;
            found.push(Some(warned.found));
        }
        for (recall, found) in self.recall.iter_mut().zip(found) {
            let found = found.unwrap_or_default();
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
            "{} programs ({} more were left out), {} of them optimised and not in the table. \
             Of the others {} searched exhaustively, with {} races listed but not confirmed. \
             {} replays, {} states. {} warnings of `scan` in vain.\n",
            self.programs,
            self.too_large,
            self.optimised,
            self.exhausted,
            self.unconfirmed,
            self.replays,
            self.states,
            self.in_vain
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
