//! Branches that the facts about machine code tell of, held against the ways that programs are
//! seen to go.
//!
//! Programs are built with the compiler's own coverage as well, so that every basic block that is
//! entered stands in the trace, and recorded serially. See [`code_oracle::ways`] for what is
//! demanded. `DEADHEAT_ORACLE=long` takes more programs; `--nocapture` shows the tables.

mod code_oracle;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use code_oracle::build::{Extra, Toolchain};
use code_oracle::dialect::Language;
use code_oracle::generate;
use code_oracle::recording::Program;
use code_oracle::said::Known;
use code_oracle::stops::stops;
use code_oracle::ways::{Said, Ways};
use deadheat_code::{Depends, Passed};
use support::Sandbox;

/// A program to be looked at.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    toolchain: Toolchain,
    extra: Extra,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Generated { seed: u64, language: Language, threads: bool },
    Zoo(PathBuf, deadheat_oracle::Directives),
}

/// What is printed about a compiler and level.
#[derive(Default)]
struct Row {
    programs: usize,
    stops: usize,
    branched: usize,
    unknown: usize,
    ways: [usize; 5],
}

fn is_long() -> bool {
    std::env::var_os("DEADHEAT_ORACLE").is_some_and(|value| value == "long")
}

#[test]
fn generated_programs_go_the_ways_they_are_said_to_go() {
    let mut cases = Vec::new();
    let seeds = if is_long() { 60 } else { 2 };
    for seed in 0..seeds {
        for language in [Language::C, Language::Cpp, Language::Rust] {
            for toolchain in Toolchain::all(language) {
                for extra in [Extra::Markers, Extra::None] {
                    let threads = seed % 2 == 1;
                    cases.push(Case {
                        name: format!("{language:?} {seed}, {toolchain}, {extra:?}"),
                        toolchain,
                        extra,
                        source: Source::Generated { seed, language, threads },
                    });
                }
            }
        }
    }
    check(&cases);
}

#[test]
fn the_zoo_goes_the_ways_it_is_said_to_go() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let oracles = deadheat_oracle::read_folder(&top).unwrap();
    let mut cases = Vec::new();
    for (number, oracle) in oracles.iter().enumerate() {
        if oracle.directives.part_of.is_some() {
            continue;
        }
        let toolchains = Toolchain::all(Language::C);
        for (turn, &toolchain) in toolchains.iter().enumerate() {
            if !is_long() && turn != number % toolchains.len() {
                continue; // each program with one toolchain, each toolchain with many programs
            }
            let name = oracle.path.strip_prefix(&top).unwrap().display();
            cases.push(Case {
                name: format!("{name}, {toolchain}"),
                toolchain,
                extra: Extra::Markers,
                source: Source::Zoo(oracle.path.clone(), oracle.directives.clone()),
            });
        }
    }
    check(&cases);
}

/// Looks at all of them, on all processors.
fn check(cases: &[Case]) {
    let next = AtomicUsize::new(0);
    let rows: Mutex<BTreeMap<(Toolchain, bool), Row>> = Mutex::default();
    let contradictions: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (ways, found) = case.run();
                    let key = (case.toolchain, case.extra == Extra::Markers);
                    rows.lock().unwrap().entry(key).or_default().add(&ways);
                    contradictions.lock().unwrap().extend(found);
                }
            });
        }
    });
    println!("compiler   blocks programs   events with a branch on anything | ways  straight branched only way seen in one block");
    for ((toolchain, markers), row) in &*rows.lock().unwrap() {
        let percent = |part: usize, whole: usize| 100 * part / whole.max(1);
        println!(
            "{:10} {:6} {:8} {:8} {:12}% {:10}% | {:5} {:8} {:8} {:13} {:12}",
            toolchain.to_string(),
            if *markers { "seen" } else { "unseen" },
            row.programs,
            row.stops,
            percent(row.branched, row.stops),
            percent(row.unknown, row.stops),
            row.ways[0],
            row.ways[1],
            row.ways[2],
            row.ways[3],
            row.ways[4],
        );
    }
    let contradictions = contradictions.lock().unwrap();
    let first: Vec<&str> = contradictions.iter().take(30).map(String::as_str).collect();
    assert!(
        contradictions.is_empty(),
        "{} contradictions:\n{}",
        contradictions.len(),
        first.join("\n")
    );
}

impl Row {
    fn add(&mut self, ways: &Ways) {
        self.programs += 1;
        self.stops += ways.stops;
        self.branched += ways.branched;
        self.unknown += ways.unknown;
        for (sum, count) in self.ways.iter_mut().zip(ways.counts()) {
            *sum += count;
        }
    }
}

impl Case {
    fn run(&self) -> (Ways, Vec<String>) {
        let here = Sandbox::new();
        let (program, inputs) = self.build(&here);
        let mut ways = Ways::default();
        let mut known = Known::default();
        let mut found = Vec::new();
        for input in &inputs {
            let args: Vec<&str> = input.iter().map(String::as_str).collect();
            let recording = match program.record(&here, &args, &[]) {
                Ok(recording) => recording,
                Err(error) => {
                    found.push(format!("{}: {error}", self.name));
                    continue;
                }
            };
            known.learn(&recording);
            let passed = known.passed(&recording);
            for (_, stops) in stops(&recording, self.toolchain.compiler == "rustc") {
                let said: Vec<Said> = stops
                    .iter()
                    .map(|stop| match passed[stop.step].as_ref().unwrap() {
                        Passed::Straight => Said::Straight,
                        Passed::Branched(Depends::Everything) => Said::Unknown,
                        Passed::Branched(_) => Said::Branched,
                    })
                    .collect();
                ways.add(&recording, &stops, &said);
            }
        }
        let contradictions = ways.contradictions().into_iter();
        found.extend(contradictions.map(|text| format!("{}: {text}", self.name)));
        if !found.is_empty()
            && let Some(folder) = std::env::var_os("DEADHEAT_ORACLE_KEEP")
        {
            let name: String = self.name.replace(['/', ' ', ','], "_");
            std::fs::copy(&program.path, Path::new(&folder).join(name)).unwrap();
        }
        (ways, found)
    }

    /// The program and the arguments that it is run with.
    fn build(&self, here: &Sandbox) -> (Program, Vec<Vec<String>>) {
        match &self.source {
            Source::Generated { seed, language, threads } => {
                let name = match language {
                    Language::C => "program.c",
                    Language::Cpp => "program.cpp",
                    Language::Rust => "program.rs",
                };
                let text = generate::program(*seed, *language, *threads);
                let source = here.file(name, &text);
                let program = self.toolchain.build(here, &[&source], &[], self.extra);
                let inputs = (1..=4).map(|input| vec![input.to_string()]).collect();
                (Program::open(&program), inputs)
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
                let program = self.toolchain.build(here, &[&source], &args, self.extra);
                (Program::open(&program), vec![directives.run.clone()])
            }
        }
    }
}
