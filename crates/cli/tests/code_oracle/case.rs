//! A program to be looked at, built one way, and looking at many of them at once.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_oracle::{Directives, read_folder};

use super::build::Toolchain;
use super::dialect::Language;
use super::generate;
use super::recording::Program;
use crate::support::Sandbox;

/// Where a program comes from.
#[derive(Clone, Debug)]
enum Source {
    Generated {
        seed: u64,
        language: Language,
        threads: bool,
    },
    Zoo(PathBuf, Directives),
    Written(&'static str, &'static str),
}

/// Programs that are hard to say something about.
const WRITTEN: [(&str, &str); 7] = [
    ("callback.c", include_str!("written/callback.c")),
    ("jump_back.c", include_str!("written/jump_back.c")),
    ("silent_write.cpp", include_str!("written/silent_write.cpp")),
    ("stack_slots.c", include_str!("written/stack_slots.c")),
    ("switch_in_loop.c", include_str!("written/switch_in_loop.c")),
    ("tail_call.c", include_str!("written/tail_call.c")),
    ("trylock_loop.c", include_str!("written/trylock_loop.c")),
];

/// One run of a program.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its arguments.
    pub args: Vec<String>,
    /// The seed of its schedule.
    pub seed: u64,
}

/// A program, and how it is built.
#[derive(Clone, Debug)]
pub struct Case {
    /// For people.
    pub name: String,
    /// By whom it is built.
    pub toolchain: Toolchain,
    /// Whether its basic blocks are seen.
    pub coverage: bool,
    source: Source,
}

/// Whether there is time for more than the usual.
pub fn is_long() -> bool {
    std::env::var_os("DEADHEAT_ORACLE").is_some_and(|value| value == "long")
}

impl Case {
    /// The programs of so many seeds (from `DEADHEAT_ORACLE_SEED` on), in all languages, with all
    /// toolchains. Those of odd seeds have threads.
    pub fn generated(seeds: u64, coverages: &[bool]) -> Vec<Case> {
        let first = std::env::var("DEADHEAT_ORACLE_SEED").map_or(0, |text| {
            text.parse().expect("DEADHEAT_ORACLE_SEED is a number")
        });
        let mut cases = Vec::new();
        for seed in first..first + seeds {
            for language in [Language::C, Language::Cpp, Language::Rust] {
                for toolchain in Toolchain::all(language) {
                    cases.extend(coverages.iter().map(|&coverage| Case {
                        name: format!("{language:?} {seed}, {toolchain}, {}", seen(coverage)),
                        toolchain,
                        coverage,
                        source: Source::Generated {
                            seed,
                            language,
                            threads: seed % 2 == 1,
                        },
                    }));
                }
            }
        }
        cases
    }

    /// The programs of `programs/`, each with one toolchain so that each toolchain has many, or
    /// with all of them if there is time. Those after the papers' tables are long, and do nothing that the others don't. Neither do
    /// those that are about waits and other processes: what they do next rests on answers that are not in the trace.
    /// `DEADHEAT_ORACLE_ONLY` is a part of the names of those that are taken.
    pub fn zoo(coverage: bool) -> Vec<Case> {
        let top = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs"));
        let oracles = read_folder(&top).unwrap();
        let only = std::env::var("DEADHEAT_ORACLE_ONLY").ok();
        let mut cases = Vec::new();
        let programs = oracles
            .into_iter()
            .filter(|oracle| oracle.directives.part_of.is_none())
            .filter(|oracle| is_long() || !oracle.path.starts_with(top.join("papers/tables")))
            .filter(|oracle| !is_about_the_outside(&oracle.path));
        for (number, oracle) in programs.enumerate() {
            let name = oracle
                .path
                .strip_prefix(&top)
                .unwrap()
                .display()
                .to_string();
            if only.as_ref().is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let language = match oracle.cargo_target() {
                None => Language::C,
                // One file and the standard library: rustc is enough.
                Some(target) if target.package == "zoo" => Language::Rust,
                Some(_) => continue,
            };
            let toolchains = Toolchain::all(language);
            for (turn, &toolchain) in toolchains.iter().enumerate() {
                if is_long() || turn == number % toolchains.len() {
                    cases.push(Case {
                        name: format!("{name}, {toolchain}"),
                        toolchain,
                        coverage,
                        source: Source::Zoo(oracle.path.clone(), oracle.directives.clone()),
                    });
                }
            }
        }
        cases
    }

    /// The programs in `written/`, with all toolchains.
    pub fn written(coverages: &[bool]) -> Vec<Case> {
        let mut cases = Vec::new();
        for (name, text) in WRITTEN {
            for toolchain in Toolchain::all(Language::C) {
                cases.extend(coverages.iter().map(|&coverage| Case {
                    name: format!("{name}, {toolchain}, {}", seen(coverage)),
                    toolchain,
                    coverage,
                    source: Source::Written(name, text),
                }));
            }
        }
        cases
    }

    /// Builds it, and says how it is run.
    pub fn build(&self, here: &Sandbox) -> (Program, Vec<Run>) {
        let (program, runs) = match &self.source {
            Source::Generated {
                seed,
                language,
                threads,
            } => {
                let name = match language {
                    Language::C => "program.c",
                    Language::Cpp => "program.cpp",
                    Language::Rust => "program.rs",
                };
                let source = here.file(name, &generate::program(*seed, *language, *threads));
                let program = self.toolchain.build(here, &source, &[], self.coverage);
                let runs = (1..=4).map(|number: u64| Run {
                    args: vec![number.to_string()],
                    seed: 1,
                });
                (program, runs.collect())
            }
            Source::Zoo(path, directives) => {
                let source = path.canonicalize().unwrap();
                let folder = source.parent().unwrap();
                let mut args: Vec<&str> = directives.cflags.iter().map(String::as_str).collect();
                for extra in &directives.also {
                    let library = folder.join(&extra.source);
                    self.toolchain
                        .build_library(here, &library, &extra.output, &args);
                }
                args.extend(directives.ldlibs.iter().map(String::as_str));
                let program = self.toolchain.build(here, &source, &args, self.coverage);
                let args = directives.run.clone();
                (program, vec![Run { args, seed: 1 }])
            }
            Source::Written(name, text) => {
                let source = here.file(name, text);
                let program = self.toolchain.build(here, &source, &[], self.coverage);
                let runs = (1..=4).map(|seed| Run {
                    args: Vec::new(),
                    seed,
                });
                (program, runs.collect())
            }
        };
        (Program::open(&program), runs)
    }

    /// Keeps the program in the folder that `DEADHEAT_ORACLE_KEEP` names, to be looked at.
    pub fn keep(&self, program: &Program) {
        if let Some(folder) = std::env::var_os("DEADHEAT_ORACLE_KEEP") {
            let name = self.name.replace(['/', ' ', ','], "_");
            std::fs::copy(&program.path, PathBuf::from(folder).join(name)).unwrap();
        }
    }
}

/// Whether a program of the zoo is about what comes from outside: signals, other processes, and what the C library answers.
fn is_about_the_outside(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or("");
    ["wait_", "signal_", "fork_"]
        .iter()
        .any(|about| name.starts_with(about))
}

/// Whether blocks are seen, for people.
pub fn seen(coverage: bool) -> &'static str {
    if coverage { "blocks seen" } else { "unseen" }
}

/// Does something with all of them, on all processors.
pub fn each(cases: &[Case], look: impl Fn(&Case) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    look(case);
                }
            });
        }
    });
}
