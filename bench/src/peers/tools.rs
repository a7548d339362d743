//! The tools, and what each says about a program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deadheat_oracle::Oracle;

use super::names::{self, Names};
use super::valgrind;
use crate::kernel::Place;
use crate::scenarios::reports::{Score, errors, of_check, of_tsan, score};
use crate::scenarios::{PATIENCE, build, run, with_ours, with_tsan};

/// What is told of tools that are run many times: what they had found after so many runs.
const OFTEN: [usize; 2] = [1, 20];

/// Of a program that has hung so often, runs are ended sooner.
const HANGS: usize = 5;

/// Then.
const LITTLE_PATIENCE: Duration = Duration::from_millis(500);

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The compiler's ThreadSanitizer.
    Tsan(&'static str),
    /// Valgrind's Helgrind.
    Helgrind,
    /// Valgrind's DRD.
    Drd,
    /// `deadheat watch`.
    Watch,
    /// `deadheat check`.
    Check,
}

/// What a tool said about programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// How many programs.
    pub programs: usize,
    /// How many errors they have.
    pub errors: usize,
    /// What was reported.
    pub score: Score,
    /// Runs that did not end by themselves.
    pub hung: usize,
    /// How long all of it took.
    pub took: Duration,
    /// The most memory of a run.
    pub memory: u64,
}

impl Sum {
    /// Both together.
    pub fn add(&mut self, other: &Sum) {
        self.programs += other.programs;
        self.errors += other.errors;
        self.score.found += other.score.found;
        self.score.wrong += other.score.wrong;
        self.hung += other.hung;
        self.took += other.took;
        self.memory = self.memory.max(other.memory);
    }
}

impl Tool {
    /// Those for a language.
    pub fn all(extension: &str) -> Vec<Tool> {
        let compilers: &[&str] = match extension {
            "c" => &["gcc", "clang-19"],
            "cpp" => &["g++", "clang++-19"],
            _ => &["rustc"],
        };
        let mut all: Vec<Tool> = compilers.iter().map(|name| Tool::Tsan(name)).collect();
        all.extend([Tool::Helgrind, Tool::Drd, Tool::Watch, Tool::Check]);
        all
    }

    /// As the table has it, after so many runs.
    pub fn name(self, times: usize) -> String {
        let often = match times {
            1 => "once".to_owned(),
            _ => format!("{times} times"),
        };
        match self {
            Tool::Tsan(compiler) => format!("{compiler}'s TSan, {often}"),
            Tool::Helgrind => format!("Helgrind, {often}"),
            Tool::Drd => format!("DRD, {often}"),
            Tool::Watch => format!("`deadheat watch`, {often}"),
            Tool::Check => format!("`deadheat check`, {often}"),
        }
    }

    /// Lets it judge a program: what it has said after how many runs.
    pub fn judge(
        self,
        place: &Place,
        oracle: &Oracle,
        runs: usize,
    ) -> Result<Vec<(usize, Sum)>, String> {
        let work = std::path::absolute(&place.work).map_err(|error| error.to_string())?;
        let program = work.join("judged");
        build(self.compiler(place, oracle)?, oracle, &program)?;
        let file = oracle.path.file_name().unwrap_or_default();
        let file = file.to_string_lossy();
        let times = match self {
            Tool::Tsan(_) => runs.max(1),
            _ => 1,
        };
        let mut names = Names::of(&program);
        let mut reports = BTreeSet::new();
        let mut told = Vec::new();
        let mut sum = Sum {
            programs: 1,
            errors: errors(oracle),
            ..Sum::default()
        };
        for done in 1..=times {
            let patience = match self {
                Tool::Tsan(_) if sum.hung >= HANGS => LITTLE_PATIENCE,
                Tool::Tsan(_) => PATIENCE,
                // They are far slower, and one run is all that they get.
                _ => PATIENCE * 20,
            };
            let one = run(self.command(place, oracle, &program)?, &work, patience)?;
            sum.hung += usize::from(one.hung);
            sum.took += one.took;
            sum.memory = sum.memory.max(one.memory);
            reports.extend(match self {
                Tool::Tsan(_) => of_tsan(&names.told(&one.said), &file),
                Tool::Helgrind => valgrind::of_helgrind(&one.said, &file),
                Tool::Drd => valgrind::of_drd(&one.said, &file),
                Tool::Watch | Tool::Check => of_check(&said_to(&work), &file)?,
            });
            if done == times || OFTEN.contains(&done) {
                sum.score = match self {
                    Tool::Drd => valgrind::score_of_one_side(oracle, &reports),
                    _ => score(oracle, &reports),
                };
                told.push((done, sum));
            }
        }
        let _ = std::fs::remove_dir_all(work.join(".deadheat"));
        let _ = std::fs::remove_file(work.join(REPORT));
        let _ = std::fs::remove_file(&program);
        Ok(told)
    }

    fn compiler(self, place: &Place, oracle: &Oracle) -> Result<Command, String> {
        let usual = match crate::scenarios::extension(&oracle.path) {
            "c" => "gcc",
            "cpp" => "g++",
            _ => "rustc",
        };
        Ok(match self {
            Tool::Tsan(compiler) => with_tsan(compiler),
            Tool::Helgrind | Tool::Drd => Command::new(usual),
            Tool::Watch | Tool::Check => with_ours(place, usual)?,
        })
    }

    fn command(self, place: &Place, oracle: &Oracle, program: &Path) -> Result<Command, String> {
        let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
        let mut command = match self {
            Tool::Tsan(_) => {
                let mut program = Command::new(program);
                program.env("TSAN_OPTIONS", names::OPTIONS);
                program
            }
            Tool::Helgrind | Tool::Drd => {
                let tool = if self == Tool::Drd { "drd" } else { "helgrind" };
                let mut valgrind = Command::new("valgrind");
                valgrind
                    .arg(format!("--tool={tool}"))
                    .arg("--fullpath-after=")
                    .arg(program);
                valgrind
            }
            Tool::Watch | Tool::Check => {
                let what = if self == Tool::Check {
                    "check"
                } else {
                    "watch"
                };
                let mut ours = Command::new(deadheat);
                ours.args([what, "--format", "json", "-o", REPORT, "--"])
                    .arg(program);
                ours
            }
        };
        command.args(&oracle.directives.run).current_dir(
            program
                .parent()
                .map_or_else(|| PathBuf::from("."), Path::to_owned),
        );
        Ok(command)
    }
}

/// Where our own reports go.
const REPORT: &str = "judged.json";

/// What a command of ours has written; nothing if it found no time to.
fn said_to(work: &Path) -> String {
    let text = std::fs::read_to_string(work.join(REPORT)).unwrap_or_default();
    match text.is_empty() {
        true => "{\"version\":1,\"findings\":[],\"stats\":{}}".to_owned(),
        false => text,
    }
}
