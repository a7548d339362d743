//! `lockset` against the formula, and against known figures.

mod oracle;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_detect::{Detector, Races, Simple};
use deadheat_trace::{EventIndex, LockId, Op, ThreadId, Trace, text};
use oracle::order::{held_at, touched};
use oracle::random::{Shape, traces_of_parts};
use proptest::prelude::*;

fn run(mut detector: Simple, trace: &Trace) -> Races {
    let mut races = Races::new();
    for (index, step) in trace.steps.iter().enumerate() {
        detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
    }
    races
}

/// The accesses at which the formula holds for some byte.
fn suspicious(trace: &Trace, every_access: bool) -> BTreeSet<usize> {
    let held = held_at(trace);
    let steps = &trace.steps;
    // All accesses to each byte that count, in this life of it.
    let mut counted: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    // The threads that have accessed each object: a byte of a live block stands for the block.
    let mut threads: BTreeMap<u64, BTreeSet<ThreadId>> = BTreeMap::new();
    let mut blocks: BTreeMap<u64, u64> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (i, step) in steps.iter().enumerate() {
        let event = &step.event;
        let start = event.addr().0;
        match event.op() {
            Op::Alloc => {
                let size = step.written().unwrap();
                blocks.insert(start, size);
                counted.retain(|byte, _| !(start..start + size).contains(byte));
                threads.retain(|byte, _| !(start..start + size).contains(byte));
            }
            Op::Free => {
                // What was accessed in the block is shared from now on.
                blocks.remove(&start).unwrap();
                let strangers = [ThreadId(900), ThreadId(901)];
                for byte in touched(steps, i) {
                    threads.insert(byte, strangers.into());
                }
            }
            _ => {}
        }
        if !event.op().is_access() {
            continue;
        }
        for byte in touched(steps, i) {
            let block = blocks.range(..=byte).next_back();
            let object = match block {
                Some((start, size)) if byte < start + size => *start,
                _ => byte,
            };
            let users = threads.entry(object).or_default();
            users.insert(event.thread());
            if every_access || users.len() > 1 {
                counted.entry(byte).or_default().push(i);
            } else {
                continue;
            }
            let accesses = &counted[&byte];
            let by: BTreeSet<ThreadId> =
                accesses.iter().map(|k| steps[*k].event.thread()).collect();
            let written = accesses.iter().any(|k| steps[*k].event.op().writes());
            let locks = |k: &usize| {
                let op = steps[*k].event.op();
                let held = held[*k].iter();
                let protects = held.filter(|(_, shared)| !**shared || !op.writes());
                let mut locks: BTreeSet<LockId> = protects.map(|(lock, _)| *lock).collect();
                if op.is_atomic() {
                    locks.insert(LockId(u32::MAX));
                }
                locks
            };
            let common = accesses.iter().map(locks).reduce(|a, b| &a & &b).unwrap();
            if by.len() > 1 && written && common.is_empty() {
                found.insert(i);
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_formula_of_every_access(trace in traces_of_parts(Shape { heap: false, ..Shape::EVERYTHING })) {
        let races = run(Simple::of_every_access(), &trace);
        prop_assert_eq!(races.racy_events(), suspicious(&trace, true).len() as u64);
        for found in races.found() {
            prop_assert!(found.race.first.event.conflicts_with(&found.race.second.event));
        }
    }

    #[test]
    fn the_formula_of_shared_objects(trace in traces_of_parts(Shape::EVERYTHING)) {
        let races = run(Simple::new(), &trace);
        prop_assert_eq!(races.racy_events(), suspicious(&trace, false).len() as u64);
    }
}

/// Racy events and racy lines, as RAPID counts them: every access counts there.
#[test]
fn figures_of_rapid() {
    let expected = [
        ("demo_example", (4, 3)),
        ("array", (7, 5)),
        ("critical", (16, 12)),
        ("account", (46, 8)),
        ("airlinetickets", (45, 6)),
        ("boundedbuffer", (906, 25)),
    ];
    for (name, figures) in expected {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");
        let text = std::fs::read_to_string(format!("{folder}/{name}.std")).unwrap();
        let trace = text::parse_std(&text).unwrap();
        let races = run(Simple::of_every_access(), &trace);
        assert_eq!(
            (races.racy_events(), races.racy_places()),
            figures,
            "{name}"
        );
    }
}
