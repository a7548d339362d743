//! How methods and windows relate on the same trace: what a weaker one finds, a stronger one finds too.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadheat_bench::runs::Run;
use deadheat_detect::{Method, Race, Races, Signature};
use deadheat_predict::{
    Effort, Observer, Options, Prediction, Reads, Size, Source, needed_by, predict,
};
use deadheat_trace::{EventIndex, Step, Tables, text};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");

struct Patient(AtomicBool);

impl Observer for Patient {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

fn predicted(steps: &[Step], reads: Reads, size: Size) -> Prediction {
    let needed_by = needed_by(steps, reads);
    let source = Source {
        steps,
        needed_by: &needed_by,
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size,
        budget: Effort::about(Duration::from_secs(60)),
        first: Effort::ALL,
        growth: Effort::about(Duration::from_secs(60)),
        jobs: 1,
        memory: usize::MAX,
    };
    let found = predict(&source, &options, &Patient(AtomicBool::new(false)));
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    assert_eq!(found.statistics.unknown, 0);
    found
}

/// Pairs of places.
fn places(steps: &[Step], found: &Prediction) -> BTreeSet<Signature> {
    let signature = |next: &[EventIndex]| {
        let [one, other] = [next[0], next[1]].map(|at| steps[at.0 as usize].event.pc());
        Signature(one.min(other), one.max(other))
    };
    found
        .races
        .iter()
        .map(|race| signature(&race.next))
        .collect()
}

fn detected(steps: &[Step], tables: &Tables, method: Method) -> Vec<Race> {
    let mut detector = method.detector();
    let mut races = Races::new();
    for (at, step) in steps.iter().enumerate() {
        detector.step(EventIndex(at as u64), step, tables, &mut races);
    }
    detector.finish(tables, &mut races);
    races.found().iter().map(|found| found.race).collect()
}

/// The race that is there first: the one with the earliest second access, and the latest first.
fn first(races: &[Race]) -> Option<&Race> {
    races
        .iter()
        .min_by_key(|race| (race.second.index, std::cmp::Reverse(race.first.index)))
}

fn methods_are_ordered(name: &str, steps: &[Step], tables: &Tables, maximal: Reads) {
    let maximal = predicted(steps, maximal, Size::Auto);
    let most = places(steps, &maximal);
    let said = predicted(steps, Reads::ByNext, Size::Auto);
    let said = places(steps, &said);
    assert!(said.is_subset(&most), "{name}: said {said:?}, {most:?}");
    for method in [Method::Shb, Method::Syncp] {
        for race in detected(steps, tables, method) {
            let signature = race.signature();
            assert!(said.contains(&signature), "{name}: {method:?} {race:?}");
        }
    }
    for method in [Method::Hb, Method::Wcp, Method::Cp] {
        let races = detected(steps, tables, method);
        let Some(race) = first(&races) else {
            continue;
        };
        // What wcp and cp promise is a race or a deadlock.
        let may_be_deadlock = method != Method::Hb && !maximal.deadlocks.is_empty();
        assert!(
            most.contains(&race.signature()) || may_be_deadlock,
            "{name}: the first of {method:?} is {race:?}"
        );
    }
}

/// Small, with a race in nearly every one; each access has a place of its own.
fn small(seed: u64) -> Run {
    Run {
        events: 24 + seed as usize % 60,
        threads: 2 + seed as u32 % 3,
        locks: 1 + seed as u32 % 4,
        variables: 2 + seed as u32 % 5,
        values: 2,
        careless: 300,
        places: 20,
        switches: 400,
        seed,
        ..Run::default()
    }
}

#[test]
fn methods_are_ordered_on_made_up_runs() {
    let mut races = 0;
    for seed in 1..=400 {
        let steps = small(seed).steps();
        let name = format!("seed {seed}");
        methods_are_ordered(&name, &steps, &Tables::default(), Reads::ByBranch);
        races += detected(&steps, &Tables::default(), Method::Shb).len();
    }
    assert!(races > 400, "too few races to compare: {races}");
}

#[test]
fn methods_are_ordered_on_traces_of_real_programs() {
    for name in [
        "demo_example",
        "array",
        "critical",
        "account",
        "airlinetickets",
        "boundedbuffer",
        "dl_real",
        "dl_gate",
        "joinfeas",
    ] {
        let std = std::fs::read_to_string(format!("{TRACES}/{name}.std")).unwrap();
        let std = text::parse_std(&std).unwrap();
        methods_are_ordered(name, &std.steps, &std.tables, Reads::ByNext);
        // There threads wake up without anybody who notifies, which no schedule has and detectors do not ask about.
        if name == "boundedbuffer" {
            continue;
        }
        let full = std::fs::read_to_string(format!("{TRACES}/{name}.dht.txt")).unwrap();
        let full = text::parse(&full).unwrap();
        methods_are_ordered(name, &full.steps, &full.tables, Reads::ByNext);
    }
}

#[test]
fn a_bigger_window_never_loses_a_race() {
    let mut grown = 0;
    for seed in 1..=8 {
        let run = Run {
            events: 600,
            threads: 4,
            locks: 4,
            variables: 24,
            places: 3,
            seed,
            ..Run::default()
        };
        let steps = run.steps();
        let mut known = BTreeSet::new();
        for size in [8, 16, 32, 64, 128, 256, 512, 1024] {
            let found = predicted(&steps, Reads::ByBranch, Size::Events(size));
            let found = places(&steps, &found);
            let lost: Vec<_> = known.difference(&found).collect();
            assert!(lost.is_empty(), "seed {seed}, window {size}: {lost:?}");
            grown += usize::from(found.len() > known.len());
            known = found;
        }
    }
    assert!(grown > 8, "windows made no difference");
}
