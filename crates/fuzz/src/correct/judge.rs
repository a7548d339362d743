//! What each command says of a program that is correct.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::build::Built;
use crate::tool::{self, Ran};

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Without Deadheat.
    Native,
    /// `check`.
    Check,
    /// `watch`.
    Watch,
    /// `explore`, bounded.
    Explore,
    /// `record --serial` with another seed, then `predict`.
    Predict,
    /// `record --serial --threads real`, then `predict`.
    Real,
    /// `record`, then `predict`: threads run in parallel.
    Parallel,
}

impl Way {
    /// All of them, the plain one first.
    pub const ALL: [Way; 7] = [
        Way::Native,
        Way::Check,
        Way::Watch,
        Way::Explore,
        Way::Predict,
        Way::Real,
        Way::Parallel,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Native => "natively",
            Way::Check => "check",
            Way::Watch => "watch",
            Way::Explore => "explore",
            Way::Predict => "predict",
            Way::Real => "real threads",
            Way::Parallel => "parallel",
        }
    }

    /// The commands' arguments before the program.
    fn commands(self, seed: u64) -> Vec<Vec<String>> {
        let seed = seed.to_string();
        let lines: &[&[&str]] = match self {
            Way::Native => &[&[]],
            Way::Check => &[&["check", "--"]],
            Way::Watch => &[&["watch", "--"]],
            Way::Explore => &[&[
                "explore",
                "--executions",
                "300",
                "--search-time",
                "5s",
                "--",
            ]],
            Way::Predict => &[&["record", "--serial", "--seed", &seed, "--"], &["predict"]],
            Way::Real => &[
                &[
                    "record",
                    "--serial",
                    "--threads",
                    "real",
                    "--seed",
                    &seed,
                    "--",
                ],
                &["predict"],
            ],
            Way::Parallel => &[&["record", "--"], &["predict"]],
        };
        let owned = |line: &&[&str]| line.iter().map(|&word| word.to_owned()).collect();
        lines.iter().map(owned).collect()
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Nothing was found, and the result is right.
    Good,
    /// The same, with warnings: noise.
    Warned,
    /// Anything else, with the command and what it said.
    Wrong(Box<Wrong>),
}

/// A disagreement.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What is wrong in a few words.
    pub what: String,
    /// The command.
    pub command: String,
    /// What it said.
    pub output: String,
}

/// Runs one program of a built file in a way.
///
/// # Errors
/// If a command cannot be started.
pub fn judge(
    deadheat: &Path,
    built: &Built,
    number: usize,
    expected: &str,
    way: Way,
    folder: &Path,
    limit: Duration,
) -> Result<Verdict, String> {
    let _ = std::fs::remove_dir_all(folder.join(".deadheat"));
    let mut warned = false;
    for (step, arguments) in way.commands(number as u64 + 1).iter().enumerate() {
        let mut command = match way {
            Way::Native => Command::new(&built.plain),
            _ => Command::new(deadheat),
        };
        command.args(arguments);
        if way != Way::Native && step == 0 {
            command.arg(&built.instrumented);
        }
        if step == 0 {
            command.arg(number.to_string());
        }
        command.env_remove("DEADHEAT_OPTIONS").env("NO_COLOR", "1");
        let ran = tool::run(&mut command, folder, limit).map_err(|error| error.to_string())?;
        if let Some(what) = disagreement(&ran, way, step, expected) {
            return Ok(Verdict::Wrong(Box::new(Wrong {
                what,
                command: format!("{command:?}"),
                output: ran.text(),
            })));
        }
        warned |= has_warnings(&ran.text());
    }
    Ok(if warned {
        Verdict::Warned
    } else {
        Verdict::Good
    })
}

/// What is wrong with a run, if anything.
fn disagreement(ran: &Ran, way: Way, step: usize, expected: &str) -> Option<String> {
    if ran.timed_out {
        return Some(format!("does not end within {} s", ran.took.as_secs()));
    }
    // Code 5 of `explore`: nothing was found, and not all was searched.
    let is_fine = ran.code == Some(0) || way == Way::Explore && ran.code == Some(5);
    if !is_fine {
        return Some(match ran.code {
            Some(66) => "something is found".to_owned(),
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".to_owned(),
        });
    }
    let prints = step == 0;
    if prints && !ran.stdout.lines().any(|line| line == expected) {
        return Some(format!("does not print {expected:?}"));
    }
    None
}

/// Whether a report speaks of warnings.
fn has_warnings(text: &str) -> bool {
    text.lines().any(|line| {
        let Some(rest) = line.strip_prefix("warnings") else {
            return false;
        };
        !rest.trim().starts_with("none") && !rest.trim().starts_with('0')
    })
}
