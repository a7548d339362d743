//! The tools, and what each says about a program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deadheat_oracle::Oracle;

use super::valgrind;
use crate::kernel::Place;
use crate::scenarios::reports::{Score, errors, of_check, of_tsan, score};
use crate::scenarios::{PATIENCE, Run, build, run, with_ours, with_tsan};

/// As many times a program is run at most to be on a par with what people do.
const OFTEN: usize = 20;

/// A tool, and how often the program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The compiler's ThreadSanitizer.
    Tsan(&'static str, usize),
    /// Valgrind's Helgrind.
    Helgrind,
    /// Valgrind's DRD.
    Drd,
    /// `deadheat watch`.
    Watch,
    /// `deadheat check`.
    Check,
}

/// What a tool said about many programs.
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
    fn add(&mut self, run: &Run) {
        self.hung += usize::from(run.hung);
        self.took += run.took;
        self.memory = self.memory.max(run.memory);
    }
}

impl Tool {
    /// Those for a language.
    pub fn all(extension: &str, runs: usize) -> Vec<Tool> {
        let compilers: &[&str] = match extension {
            "c" => &["gcc", "clang-19"],
            "cpp" => &["g++", "clang++-19"],
            _ => &["rustc"],
        };
        let mut times = vec![1, OFTEN.min(runs), runs];
        times.dedup();
        let mut all = Vec::new();
        for compiler in compilers {
            all.extend(times.iter().map(|times| Tool::Tsan(compiler, *times)));
        }
        all.extend([Tool::Helgrind, Tool::Drd, Tool::Watch, Tool::Check]);
        all
    }

    /// As the table has it.
    pub fn name(self) -> String {
        match self {
            Tool::Tsan(compiler, 1) => format!("{compiler}'s TSan, once"),
            Tool::Tsan(compiler, times) => format!("{compiler}'s TSan, {times} times"),
            Tool::Helgrind => "Helgrind, once".to_owned(),
            Tool::Drd => "DRD, once".to_owned(),
            Tool::Watch => "`deadheat watch`, once".to_owned(),
            Tool::Check => "`deadheat check`, once".to_owned(),
        }
    }

    /// Lets it judge a program.
    pub fn judge(self, place: &Place, oracle: &Oracle, sum: &mut Sum) -> Result<(), String> {
        let work = std::path::absolute(&place.work).map_err(|error| error.to_string())?;
        let program = work.join("judged");
        build(self.compiler(place, oracle)?, oracle, &program)?;
        let file = oracle.path.file_name().unwrap_or_default();
        let file = file.to_string_lossy();
        let (times, patience) = match self {
            Tool::Tsan(_, times) => (times, PATIENCE),
            // They are far slower, and one run is all that they get.
            _ => (1, PATIENCE * 20),
        };
        let mut reports = BTreeSet::new();
        for _ in 0..times {
            let one = run(self.command(place, oracle, &program)?, &work, patience)?;
            sum.add(&one);
            reports.extend(match self {
                Tool::Tsan(..) => of_tsan(&one.said, &file),
                Tool::Helgrind => valgrind::of_helgrind(&one.said, &file),
                Tool::Drd => valgrind::of_drd(&one.said, &file),
                Tool::Watch | Tool::Check => of_check(&said_to(&work), &file)?,
            });
        }
        let one = match self {
            Tool::Drd => valgrind::score_of_one_side(oracle, &reports),
            _ => score(oracle, &reports),
        };
        sum.programs += 1;
        sum.errors += errors(oracle);
        sum.score.found += one.found;
        sum.score.wrong += one.wrong;
        let _ = std::fs::remove_dir_all(work.join(".deadheat"));
        let _ = std::fs::remove_file(work.join(REPORT));
        let _ = std::fs::remove_file(&program);
        Ok(())
    }

    fn compiler(self, place: &Place, oracle: &Oracle) -> Result<Command, String> {
        let usual = match crate::scenarios::extension(&oracle.path) {
            "c" => "gcc",
            "cpp" => "g++",
            _ => "rustc",
        };
        Ok(match self {
            Tool::Tsan(compiler, _) => with_tsan(compiler),
            Tool::Helgrind | Tool::Drd => Command::new(usual),
            Tool::Watch | Tool::Check => with_ours(place, usual)?,
        })
    }

    fn command(self, place: &Place, oracle: &Oracle, program: &Path) -> Result<Command, String> {
        let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
        let mut command = match self {
            Tool::Tsan(..) => Command::new(program),
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
