//! What a command says against the truth: what counts as wrong, and what was found of what is there.
//!
//! Wrong is a race, deadlock or failure at any rung above `warning` that no interleaving has; a search that
//! calls itself exhausted and lacks something;
//! an exit code of 66 without a finding; output that the program cannot have; a command that hangs or
//! crashes; a replay that does not stand.
//! The truth is read generously where a language leaves something open: see [`Known`].

use super::interpret::Truth;
use super::known::Known;
use crate::tool::{Finding, Ran, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Wrong {
    FalseRace,
    FalseDeadlock,
    FalseFailure,
    NothingToShow,
    MissedRace,
    MissedDeadlock,
    MissedFailure,
    Output,
    Ending,
    Hang,
    Crash,
    Replay,
    Build,
}

/// One disagreement.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// Whose.
    pub command: &'static str,
    /// What kind.
    pub wrong: Wrong,
    /// In words.
    pub detail: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.command, self.wrong, self.detail)
    }
}

/// The truth in lines of a file.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Pairs that race.
    pub races: BTreeSet<(u32, u32)>,
    /// Lines where threads stand for ever, together.
    pub stuck: Vec<BTreeSet<u32>>,
    /// The same, and nobody else moves.
    pub deadlocks: Vec<BTreeSet<u32>>,
    /// Lines that abort.
    pub failures: BTreeSet<u32>,
}

impl Lines {
    /// Translates numbers of statements.
    #[must_use]
    pub fn new(truth: &Truth, lines: &BTreeMap<u32, u32>) -> Self {
        let line = |id: &u32| lines.get(id).copied().unwrap_or(0);
        let pair = |(a, b): &(u32, u32)| (line(a).min(line(b)), line(a).max(line(b)));
        Lines {
            races: truth.races.iter().map(pair).collect(),
            stuck: truth
                .stuck
                .iter()
                .map(|s| s.iter().map(line).collect())
                .collect(),
            deadlocks: truth
                .deadlocks
                .iter()
                .map(|s| s.iter().map(line).collect())
                .collect(),
            failures: truth.failures.iter().map(line).collect(),
        }
    }
}

/// What a command found of what is there.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Pairs of lines that race.
    pub races: BTreeSet<(u32, u32)>,
    /// How many different deadlocks were reported.
    pub deadlocks: Vec<BTreeSet<u32>>,
    /// Lines that abort.
    pub failures: BTreeSet<u32>,
}

/// A program, its truth and its file.
pub struct Judge<'a> {
    /// What is known.
    pub known: &'a Known,
    /// The generous truth.
    pub most: Lines,
    /// The strict one.
    pub least: Lines,
    /// The name of the source file.
    pub file: &'a str,
    /// The lines of the program's statements. `std::thread::join` waits inside of libstdc++, and its place is
    /// told as that of the
    /// function's caller, which is none of these.
    pub own: BTreeSet<u32>,
    /// Lines that access a heap block that is gone, in some interleaving: its memory may be anybody's by then.
    pub dangling: BTreeSet<u32>,
    /// The compiler may have moved, merged and dropped accesses: what is said is not judged by its lines, what a
    /// program with a race prints not at all.
    pub optimised: bool,
}

impl<'a> Judge<'a> {
    /// For a program of a file.
    #[must_use]
    pub fn new(
        known: &'a Known,
        lines: &BTreeMap<u32, u32>,
        file: &'a str,
        optimised: bool,
    ) -> Self {
        let line = |id: &u32| lines.get(id).copied();
        Judge {
            dangling: known.most.dangling.iter().filter_map(line).collect(),
            optimised,
            known,
            most: Lines::new(&known.most, lines),
            least: Lines::new(&known.least, lines),
            file,
            own: lines.values().copied().collect(),
        }
    }

    fn race(&self, finding: &Finding) -> Option<(u32, u32)> {
        let [a, b] = finding.lines(self.file).as_slice().try_into().ok()?;
        Some((u32::min(a, b), u32::max(a, b)))
    }

    /// Judges the findings of a command.
    #[must_use]
    pub fn findings(&self, command: &'static str, report: &Report) -> (Found, Vec<Disagreement>) {
        let mut found = Found::default();
        let mut wrong = Vec::new();
        for finding in report.findings.iter().filter(|f| f.rung != "warning") {
            let lines = finding.lines(self.file);
            let mut say = |wrong_kind, what: &str| {
                wrong.push(Disagreement {
                    command,
                    wrong: wrong_kind,
                    detail: format!(
                        "{} {} [{}] at lines {lines:?}: {what}",
                        finding.rung, finding.kind, finding.id
                    ),
                });
            };
            match finding.kind.as_str() {
                "race" => match self.race(finding) {
                    Some(pair) if self.most.races.contains(&pair) => {
                        found.races.insert(pair);
                    }
                    _ if lines.iter().any(|line| self.dangling.contains(line)) => {}
                    _ if self.optimised && !self.most.races.is_empty() => {}
                    _ => say(Wrong::FalseRace, "no interleaving has it"),
                },
                "deadlock" => {
                    // Where a library without hooks waits, the innermost frame of the program's own is not
                    // known: see `Judge::own`.
                    let set: BTreeSet<u32> = lines
                        .iter()
                        .copied()
                        .filter(|line| self.own.contains(line))
                        .collect();
                    if self.most.stuck.iter().any(|stuck| set.is_subset(stuck)) {
                        found.deadlocks.push(set);
                    } else if !self.optimised || self.most.stuck.is_empty() {
                        say(Wrong::FalseDeadlock, "no interleaving has it");
                    }
                }
                _ => match lines.first() {
                    Some(line) if self.most.failures.contains(line) => {
                        found.failures.insert(*line);
                    }
                    _ if self.optimised && !self.most.failures.is_empty() => {}
                    _ => say(Wrong::FalseFailure, "no interleaving has it"),
                },
            }
            for ending in &finding.endings {
                if !self.can_print(ending) {
                    say(
                        Wrong::Ending,
                        &format!("said to print {ending:?}, which it cannot"),
                    );
                }
            }
        }
        (found, wrong)
    }

    /// Whether the program may print this.
    fn can_print(&self, text: &str) -> bool {
        self.known.most.outputs.contains(text) || self.optimised && !self.most.races.is_empty()
    }

    /// Judges an exhausted search. Optimised programs may lack what their source has.
    #[must_use]
    pub fn exhausted(&self, command: &'static str, found: &Found) -> Vec<Disagreement> {
        let mut missing = Vec::new();
        if self.optimised {
            return missing;
        }
        let mut say = |wrong, detail: String| {
            missing.push(Disagreement {
                command,
                wrong,
                detail,
            })
        };
        for pair in self.least.races.difference(&found.races) {
            say(
                Wrong::MissedRace,
                format!("exhausted, without the race at lines {pair:?}"),
            );
        }
        for lines in self.least.failures.difference(&found.failures) {
            say(
                Wrong::MissedFailure,
                format!("exhausted, without the failure at line {lines}"),
            );
        }
        for deadlock in &self.least.deadlocks {
            if !found.deadlocks.iter().any(|set| set.is_subset(deadlock)) {
                say(
                    Wrong::MissedDeadlock,
                    format!("exhausted, without the deadlock at lines {deadlock:?}"),
                );
            }
        }
        missing
    }

    /// Judges how a command ended, and what the program printed in it.
    #[must_use]
    pub fn ending(
        &self,
        command: &'static str,
        ran: &Ran,
        codes: &[i32],
        reported: usize,
    ) -> Vec<Disagreement> {
        let mut wrong = Vec::new();
        let mut say = |kind, detail: String| {
            wrong.push(Disagreement {
                command,
                wrong: kind,
                detail,
            })
        };
        if ran.timed_out {
            // A program that runs free may stand still where it can.
            if !matches!(command, "watch" | "native") || self.known.most.stuck.is_empty() {
                say(Wrong::Hang, "its time was up".to_owned());
            }
            return wrong;
        }
        match ran.code {
            Some(66) if reported == 0 => say(
                Wrong::NothingToShow,
                "exit code 66 without a finding".to_owned(),
            ),
            Some(code) if codes.contains(&code) => {}
            _ => say(
                Wrong::Crash,
                format!(
                    "ended with {:?}, signal {:?}: {}",
                    ran.code,
                    ran.signal,
                    ran.stderr.trim()
                ),
            ),
        }
        if !self.can_print(&ran.stdout) {
            say(
                Wrong::Output,
                format!("printed {:?}, which the program cannot", ran.stdout),
            );
        }
        wrong
    }
}
