//! One program put to all commands.

use super::build::Built;
use super::compare::{Disagreement, Found, Judge, Wrong};
use super::known::Known;
use crate::tool::{self, Ran, Report, Tool};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The commands, in the order of their columns.
pub const COMMANDS: [&str; 5] = ["check", "watch", "predict", "explore", "scan"];

/// What came of a program.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is wrong.
    pub wrong: Vec<Disagreement>,
    /// What each command found, as in [`COMMANDS`].
    pub found: Vec<Option<Found>>,
    /// Whether the search saw everything.
    pub exhausted: bool,
    /// Pairs that race, and that the search has listed without confirming them.
    pub unconfirmed: usize,
    /// The commands as they went.
    pub ran: Vec<Ran>,
    /// How often findings were replayed.
    pub replays: usize,
}

/// What is done with each program.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Only this command, and what it needs; all if there is none.
    pub only: Option<&'static str>,
    /// Replays of one finding.
    pub replays: usize,
    /// The seed of the recorded run.
    pub seed: u64,
}

struct Trial<'a> {
    tool: &'a Tool,
    folder: PathBuf,
    judge: Judge<'a>,
    outcome: Outcome,
}

/// Puts program `n` of a file to the commands.
///
/// # Errors
///
/// If a command cannot be started.
pub fn run(
    tool: &Tool,
    built: &Built,
    n: usize,
    known: &Known,
    plan: &Plan,
) -> io::Result<Outcome> {
    let folder = built.folder.join(format!("run-{n}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let Some(lines) = built.batch.lines.get(n) else {
        return Ok(Outcome::default());
    };
    let mut trial = Trial {
        tool,
        folder,
        judge: Judge::new(known, lines, &built.file, built.build.optimised),
        outcome: Outcome::default(),
    };
    let wanted = |name: &str| plan.only.is_none_or(|only| only == name);
    let number = n.to_string();
    let program = built.program.to_string_lossy().into_owned();
    let seed = plan.seed.to_string();
    if wanted("native") {
        trial.native(&built.program, &number)?;
    }
    let behind = ["--", program.as_str(), number.as_str()];
    let mut replay = None;
    let check = if wanted("check") || wanted("predict") || wanted("replay") {
        // Some short runs are recorded as long ones are: without what threads do not share.
        let longest = if plan.seed % 3 == 2 { "0" } else { "never" };
        let check = ["check", "--seed", &seed, "--survey-above", longest];
        let (found, report) = trial.command("check", &check, &behind, &[0, 66])?;
        replay = report
            .and_then(|r| {
                r.findings
                    .into_iter()
                    .find(|f| f.rung == "confirmed" && f.replay)
            })
            .map(|f| f.id);
        found
    } else {
        None
    };
    trial.outcome.found.push(check);
    let watch = if wanted("watch") {
        trial.command("watch", &["watch"], &behind, &[0, 66])?.0
    } else {
        None
    };
    trial.outcome.found.push(watch);
    let predict = if wanted("predict") {
        trial.command("predict", &["predict"], &["1"], &[0, 66])?.0
    } else {
        None
    };
    trial.outcome.found.push(predict);
    if let Some(id) = replay
        && plan.replays > 0
        && wanted("replay")
    {
        trial.replay(&id, plan.replays)?;
    }
    let explore = if wanted("explore") {
        trial.explore(&behind)?
    } else {
        None
    };
    trial.outcome.found.push(explore);
    let Trial {
        folder,
        mut outcome,
        ..
    } = trial;
    if let Some(only) = plan.only {
        outcome.wrong.retain(|w| w.command == only);
    }
    let _ = fs::remove_dir_all(folder);
    Ok(outcome)
}

impl Trial<'_> {
    fn native(&mut self, program: &Path, number: &str) -> io::Result<()> {
        if !self.judge.known.most.stuck.is_empty() {
            return Ok(());
        }
        let ran = tool::run(
            Command::new(program).arg(number),
            &self.folder,
            self.tool.limit / 3,
        )?;
        let aborted = ran.signal == Some(6) && !self.judge.known.most.failures.is_empty();
        let mut seen = ran.clone();
        if aborted {
            seen.code = Some(0);
        }
        let wrong = self.judge.ending("native", &seen, &[0], 0);
        self.outcome.wrong.extend(wrong);
        self.outcome.ran.push(ran);
        Ok(())
    }

    fn command(
        &mut self,
        name: &'static str,
        arguments: &[&str],
        behind: &[&str],
        codes: &[i32],
    ) -> io::Result<(Option<Found>, Option<Report>)> {
        let mut tool = self.tool.clone();
        if name == "watch" && !self.judge.known.most.stuck.is_empty() {
            tool.limit = Duration::from_secs(3);
        }
        let (mut ran, report) = tool.report(&self.folder, name, arguments, behind)?;
        let reported = report.as_ref().map_or(0, |r| r.findings.len());
        if matches!(name, "predict" | "explore")
            && !self.judge.known.most.outputs.contains(&ran.stdout)
        {
            // The recorded run's output is the program's; a search prints none.
            ran.stdout.clear();
        }
        let mut wrong = self.judge.ending(name, &ran, codes, reported);
        if name == "predict" {
            wrong.retain(|w| w.wrong != Wrong::Output);
        }
        if report.is_none() && !ran.timed_out && wrong.iter().all(|w| w.wrong != Wrong::Crash) {
            wrong.push(Disagreement {
                command: name,
                wrong: Wrong::Crash,
                detail: format!("no report: {}", ran.stderr.trim()),
            });
        }
        self.outcome.ran.push(ran);
        let mut found = None;
        if let Some(report) = &report {
            let (of_it, false_words) = self.judge.findings(name, report);
            wrong.extend(false_words);
            found = Some(of_it);
        }
        self.outcome.wrong.extend(wrong);
        Ok((found, report))
    }

    fn explore(&mut self, behind: &[&str]) -> io::Result<Option<Found>> {
        let (found, report) = self.command(
            "explore",
            &["explore", "--search-time", "5s"],
            behind,
            &[0, 5, 66],
        )?;
        let stats = report.map(|r| r.stats).unwrap_or_default();
        // What is unconfirmed makes no search exhausted, but it has seen all orders.
        let cuts = stats.get("cuts").and_then(Value::as_array);
        let exhausted = cuts.is_some_and(Vec::is_empty);
        self.outcome.exhausted = exhausted;
        if let Some(found) = found.as_ref().filter(|_| exhausted) {
            let mut missing = self.judge.exhausted("explore", found);
            // What a search lists as unconfirmed it does not deny: that is counted.
            let listed = stats.get("unconfirmed").and_then(Value::as_array);
            if listed.is_some_and(|listed| !listed.is_empty()) {
                let races = |d: &Disagreement| d.wrong == Wrong::MissedRace;
                self.outcome.unconfirmed = missing.iter().filter(|d| races(d)).count();
                missing.retain(|d| !races(d));
            }
            self.outcome.wrong.extend(missing);
        }
        Ok(found)
    }

    fn replay(&mut self, id: &str, times: usize) -> io::Result<()> {
        let ran = self
            .tool
            .plain(&self.folder, &["replay", id, "--times", &times.to_string()])?;
        self.outcome.replays += times;
        if ran.code != Some(66) {
            self.outcome.wrong.push(Disagreement {
                command: "replay",
                wrong: Wrong::Replay,
                detail: format!("{id} ended with {:?}: {}", ran.code, ran.stderr.trim()),
            });
        }
        self.outcome.ran.push(ran);
        Ok(())
    }
}
