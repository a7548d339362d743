//! What branches and addresses are said to depend on, held against runs in which one read returns
//! something else.
//!
//! Programs are linked with hooks that change what the n-th read of the run returns, see
//! `code_oracle/hooks.c`, and recorded serially with one seed: once as they are, then with one
//! read changed. See [`code_oracle::compare`] for what is demanded. `DEADHEAT_ORACLE=long` takes
//! more programs and reads; `--nocapture` shows the tables.

mod code_oracle;
mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;

use code_oracle::build::Toolchain;
use code_oracle::case::{Case, each, is_long, seen};
use code_oracle::compare::{Comparison, Tally};
use code_oracle::dice::Dice;
use code_oracle::recording::Recording;
use code_oracle::said::Known;
use deadheat_trace::Pc;
use support::Sandbox;

#[test]
fn generated_programs_depend_on_what_they_are_said_to_depend_on() {
    let seeds = if is_long() { 30 } else { 2 };
    check(&Case::generated(seeds, &[true, false]));
}

#[test]
fn written_programs_depend_on_what_they_are_said_to_depend_on() {
    check(&Case::written(&[true]));
}

#[test]
fn the_zoo_depends_on_what_it_is_said_to_depend_on() {
    // Each is run a dozen times: half of them, those of all toolchains in turn, unless there is time.
    const TURN: usize = 6;
    let cases = Case::zoo(true).into_iter().enumerate();
    let taken = cases.filter(|(number, _)| is_long() || (number / TURN).is_multiple_of(2));
    check(&taken.map(|(_, case)| case).collect::<Vec<_>>());
}

/// Changed reads show that something depends on them, in those programs that read much.
#[test]
fn facts_that_deny_every_dependence_are_contradicted() {
    let mut cases = Case::written(&[true]);
    cases.retain(|case| case.name.starts_with("stack_slots") || case.name.starts_with("switch"));
    assert!(!cases.is_empty());
    each(&cases, |case| {
        let tally = look(case, Known::that_denies_everything());
        assert!(!tally.contradictions.is_empty(), "{}", case.name);
    });
}

fn check(cases: &[Case]) {
    let tallies: Mutex<BTreeMap<(Toolchain, bool), Tally>> = Mutex::default();
    each(cases, |case| {
        let tally = look(case, Known::default());
        let mut tallies = tallies.lock().unwrap();
        tallies
            .entry((case.toolchain, case.coverage))
            .or_default()
            .add(tally);
    });
    println!(
        "compiler                 runs unsteady   events independent   values addresses  turns (by known reads)"
    );
    let mut contradictions = Vec::new();
    for ((toolchain, coverage), tally) in tallies.into_inner().unwrap() {
        println!(
            "{:10} {:11} {:6} {:8} {:8} {:11} {:8} {:9} {:6} {:16}",
            toolchain.to_string(),
            seen(coverage),
            tally.runs,
            tally.unsteady,
            tally.events,
            tally.independent,
            tally.values,
            tally.addresses,
            tally.turns,
            tally.explained,
        );
        contradictions.extend(tally.contradictions);
    }
    let first: Vec<&str> = contradictions.iter().take(30).map(String::as_str).collect();
    assert!(
        contradictions.is_empty(),
        "{} contradictions:\n{}\nThe number behind a language is the seed: DEADHEAT_ORACLE_SEED \
         makes it the first. DEADHEAT_ORACLE_KEEP names a folder for the programs.",
        contradictions.len(),
        first.join("\n")
    );
}

/// Runs a program as it is and with some of its reads changed.
fn look(case: &Case, mut known: Known) -> Tally {
    let here = Sandbox::new();
    let (program, runs) = case.build(&here);
    let mut tally = Tally::default();
    let mut dice = Dice::new(1);
    for run in &runs[..runs.len().min(2)] {
        let first = match program.record(&here, run, &[]) {
            Ok(first) => first,
            Err(error) => {
                tally.contradictions.push(format!("{}: {error}", case.name));
                break;
            }
        };
        known.learn(&first);
        let passed = known.passed(&first);
        for (read, mask) in choose(&first, &mut dice) {
            let environment = [
                ("ORACLE_READ", read.to_string()),
                ("ORACLE_MASK", mask.to_string()),
            ];
            let Ok(second) = program.record(&here, run, &environment) else {
                continue; // it ended before it had an event
            };
            Comparison::new(&known, &first, &passed, &second).run(&mut tally);
        }
    }
    if !tally.contradictions.is_empty() {
        case.keep(&program);
    }
    for text in &mut tally.contradictions {
        *text = format!("{}: {text}", case.name);
    }
    tally
}

/// Which reads are changed, and how: some executions of each site, and not too many in all.
/// Pointers to code are left alone: a program that jumps to nowhere shows nothing. So are pointers to locks and the like: unlocking
/// something beside one damages it, and then locking fails.
fn choose(recording: &Recording, dice: &mut Dice) -> Vec<(usize, u64)> {
    let mut sites: BTreeMap<Pc, Vec<usize>> = BTreeMap::new();
    let steps = &recording.trace.steps;
    let mut number = 0;
    for (index, marker) in steps.iter().enumerate() {
        let event = &marker.event;
        if recording.is_block(event) || !recording.is_marker(event) {
            continue;
        }
        let mut behind = steps[index + 1..].iter();
        let read = behind.find(|step| step.event.thread() == event.thread());
        let value = read.and_then(|step| step.read()).unwrap_or(0);
        let is_object = |value: u64| {
            let mut objects = recording.trace.tables.syncs.iter();
            value != 0 && objects.any(|object| object.addr.0 == value)
        };
        if !recording.is_code(value) && !is_object(value) {
            sites.entry(event.pc()).or_default().push(number);
        }
        number += 1;
    }
    let most = if is_long() { 400 } else { 8 };
    let of_one_site = (most / sites.len().max(1)).clamp(1, 6); // more of each in small programs
    let mut chosen = Vec::new();
    for numbers in sites.values() {
        for _ in 0..of_one_site {
            let mask = dice.one_of(&[1, 2, 4, 3, 0x20, 0x80, 0x4000_0000, 0x4000_0000_0000_0001]);
            chosen.push((dice.one_of(numbers), mask));
        }
    }
    while chosen.len() > most {
        let place = dice.below(chosen.len() as u64) as usize;
        chosen.swap_remove(place);
    }
    chosen
}
