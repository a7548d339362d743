//! Branches that the facts about machine code tell of, held against the ways that programs are
//! seen to go.
//!
//! Programs are built with the compiler's own coverage as well, so that every basic block that is
//! entered stands in the trace, and recorded serially. Since coverage keeps compilers from some of
//! what they do to control flow, others are built without, and only their events are seen. See [`code_oracle::ways`] for what is
//! demanded. `DEADHEAT_ORACLE=long` takes more programs; `--nocapture` shows the tables.

mod code_oracle;
mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;

use code_oracle::build::Toolchain;
use code_oracle::case::{Case, each, is_long, seen};
use code_oracle::said::Known;
use code_oracle::stops::{Blocks, stops};
use code_oracle::ways::{Said, Ways};
use deadheat_code::{Depends, Passed};
use support::Sandbox;

/// What is printed about a compiler and level.
#[derive(Default)]
struct Row {
    programs: usize,
    stops: usize,
    branched: usize,
    unknown: usize,
    ways: [usize; 5],
}

#[test]
fn generated_programs_go_the_ways_they_are_said_to_go() {
    let seeds = if is_long() { 60 } else { 2 };
    check(&Case::generated(seeds, &[true, false]));
}

#[test]
fn written_programs_go_the_ways_they_are_said_to_go() {
    check(&Case::written(&[true]));
}

#[test]
fn the_zoo_goes_the_ways_it_is_said_to_go() {
    check(&Case::zoo(true));
}

/// Each toolchain's coverage shows that there are branches.
#[test]
fn facts_that_deny_every_branch_are_contradicted() {
    each(&Case::written(&[true]), |case| {
        let (_, found) = look(case, Known::that_denies_everything());
        assert!(!found.is_empty(), "{}", case.name);
    });
}

fn check(cases: &[Case]) {
    let rows: Mutex<BTreeMap<(Toolchain, bool), Row>> = Mutex::default();
    let contradictions: Mutex<Vec<String>> = Mutex::default();
    each(cases, |case| {
        let (ways, found) = look(case, Known::default());
        let key = (case.toolchain, case.coverage);
        rows.lock().unwrap().entry(key).or_default().add(&ways);
        contradictions.lock().unwrap().extend(found);
    });
    println!(
        "compiler               programs   events with a branch on anything |  ways straight branched \
         only way seen in one block"
    );
    for ((toolchain, coverage), row) in &*rows.lock().unwrap() {
        let percent = |part: usize| 100 * part / row.stops.max(1);
        println!(
            "{:10} {:11} {:8} {:8} {:12}% {:10}% | {:5} {:8} {:8} {:13} {:12}",
            toolchain.to_string(),
            seen(*coverage),
            row.programs,
            row.stops,
            percent(row.branched),
            percent(row.unknown),
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
        "{} contradictions:\n{}\nThe number behind a language is the seed: DEADHEAT_ORACLE_SEED \
         makes it the first. DEADHEAT_ORACLE_KEEP names a folder for the programs.",
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

/// Runs a program with all of its arguments.
fn look(case: &Case, mut known: Known) -> (Ways, Vec<String>) {
    let here = Sandbox::new();
    let (program, runs) = case.build(&here);
    let mut ways = Ways::default();
    for run in &runs {
        let recording = match program.record(&here, run, &[]) {
            Ok(recording) => recording,
            Err(error) => return (ways, vec![format!("{}: {error}", case.name)]),
        };
        known.learn(&recording);
        let passed = known.passed(&recording);
        let blocks = match case.toolchain.compiler {
            "rustc" => Blocks::BeforeEntry,
            _ => Blocks::AfterEntry,
        };
        for (_, stops) in stops(&recording, blocks) {
            let said = stops.iter().map(|stop| match &passed[stop.step] {
                Some(Passed::Straight) => Said::Straight,
                Some(Passed::Branched(Depends::Nothing | Depends::On(_))) => Said::Branched,
                _ => Said::Unknown,
            });
            ways.add(&recording, &stops, &said.collect::<Vec<_>>());
        }
    }
    let found = ways.contradictions().into_iter();
    let found: Vec<String> = found.map(|text| format!("{}: {text}", case.name)).collect();
    if !found.is_empty() {
        case.keep(&program);
    }
    (ways, found)
}
