//! One program put to all commands.

use super::compare::{Disagreement, Found, Judge, Wrong};
use super::generate::Known;
use super::program::{Language, Program};
use super::render::{Batch, render};
use crate::tool::{self, Ran, Report, Tool};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The commands, in the order of their columns.
pub const COMMANDS: [&str; 4] = ["check", "watch", "predict", "explore"];

/// A file of programs, built.
#[derive(Debug)]
pub struct Built {
    /// The text and its lines.
    pub batch: Batch,
    /// The name of its file.
    pub file: String,
    /// The program.
    pub program: PathBuf,
    folder: PathBuf,
}

/// Renders and builds programs in a folder.
///
/// # Errors
///
/// What the compiler said.
pub fn build(tool: &Tool, folder: &Path, programs: &[&Program]) -> Result<Built, String> {
    let language = programs.first().map_or(Language::C, |p| p.language);
    let batch = render(programs);
    let file = format!("batch.{}", language.ending());
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    fs::write(folder.join(&file), &batch.text).map_err(|e| e.to_string())?;
    let arguments: &[&str] = match language {
        Language::C => &["cc", "-O0", "-g", "-pthread"],
        Language::Cpp => &["c++", "-std=c++20", "-O0", "-g", "-pthread"],
        Language::Rust => &["rustc", "--edition", "2021", "-g"],
    };
    let mut all = arguments.to_vec();
    all.extend([file.as_str(), "-o", "batch"]);
    let tool = Tool {
        limit: Duration::from_secs(300),
        ..tool.clone()
    };
    let ran = tool.plain(folder, &all).map_err(|e| e.to_string())?;
    if ran.code != Some(0) {
        return Err(format!(
            "{} ended with {:?}: {}",
            ran.command, ran.code, ran.stderr
        ));
    }
    Ok(Built {
        program: folder.join("batch"),
        folder: folder.to_owned(),
        batch,
        file,
    })
}

/// What came of a program.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is wrong.
    pub wrong: Vec<Disagreement>,
    /// What each command found, as in [`COMMANDS`].
    pub found: Vec<Option<Found>>,
    /// Whether the search saw everything.
    pub exhausted: bool,
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
        judge: Judge::new(known, lines, &built.file),
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
        let (found, report) =
            trial.command("check", &["check", "--seed", &seed], &behind, &[0, 66])?;
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
            Duration::from_secs(20),
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
        // What a search lists as unconfirmed it does not deny.
        let exhausted = report.is_some_and(|r| {
            let unconfirmed = r
                .stats
                .get("unconfirmed")
                .and_then(serde_json::Value::as_array);
            r.stats
                .get("exhausted")
                .and_then(serde_json::Value::as_bool)
                == Some(true)
                && unconfirmed.is_none_or(Vec::is_empty)
        });
        self.outcome.exhausted = exhausted;
        if let Some(found) = found.as_ref().filter(|_| exhausted) {
            let missing = self.judge.exhausted("explore", found);
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
