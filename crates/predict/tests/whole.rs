//! Whole traces: what is found window by window is what brute force finds, and larger windows lose nothing.

mod oracle;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadheat_detect::Suspects;
use deadheat_predict::{
    Border, Effort, NOBODY, Observer, Options, Prediction, Predictor, Size, Source, Window, predict,
};
use deadheat_trace::{EventIndex, Step};
use proptest::prelude::*;

use oracle::random::{Rest, Shape, windows, windows_of_parts};
use oracle::{Needed, is_mixed, reachable};

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

fn run(window: &Window, size: Size, jobs: usize) -> Prediction {
    let source = Source {
        steps: &window.steps,
        needed_by: &window.needed_by,
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size,
        budget: Effort::about(Duration::from_secs(60)),
        first: Effort::ALL,
        growth: Effort::about(Duration::from_secs(60)),
        jobs,
        memory: usize::MAX,
    };
    let found = predict(&source, &options, &Nobody(AtomicBool::new(false)));
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    assert_eq!(found.statistics.unknown, 0);
    are_suspects(&window.steps, &found);
    found
}

/// The same a segment at a time.
fn run_in_segments(window: &Window, size: Size, length: usize) -> Prediction {
    let options = Options {
        size,
        budget: Effort::ALL,
        first: Effort::ALL,
        growth: Effort::ALL,
        jobs: 1,
        memory: usize::MAX,
    };
    let (events, nobody) = (window.steps.len(), Nobody(AtomicBool::new(false)));
    let mut predictor = Predictor::new(events as u64, &options, &nobody);
    let (mut start, mut end) = (0, 0);
    while end < events {
        end = (start + length).min(events);
        let needed_by = window.needed_by[start..end].iter().map(|by| match *by {
            by if (by as usize) < end => by - start as u32,
            _ => NOBODY,
        });
        let source = Source {
            steps: &window.steps[start..end],
            needed_by: &needed_by.collect::<Vec<u32>>(),
            counts: &[],
            is_judged: &|_| true,
        };
        let indexes: Vec<EventIndex> = (start as u64..end as u64).map(EventIndex).collect();
        predictor.glance(&source, &indexes, &|_| false);
        predictor.look(&source, &indexes);
        predictor.go_on(&source, &indexes);
        start = end - predictor.common(end - start);
    }
    let found = predictor.finish();
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    found
}

/// All races are where others would look for them, too.
fn are_suspects(steps: &[Step], found: &Prediction) {
    let mut suspects = Suspects::default();
    steps.iter().for_each(|step| suspects.step(step));
    for at in found.races.iter().flat_map(|race| &race.next) {
        let event = &steps[at.0 as usize].event;
        assert!(suspects.may_race(event) && !suspects.is_empty());
    }
}

#[test]
fn what_there_was_no_time_for_is_said() {
    let round = "T0|acq(m)|1\nT0|w(x)|2\nT0|rel(m)|3\nT1|acq(m)|4\nT1|w(x)|5\nT1|rel(m)|6\n";
    let steps = deadheat_trace::text::parse(&round.repeat(2000))
        .unwrap()
        .steps;
    let needed_by = vec![deadheat_predict::NOBODY; steps.len()];
    let source = Source {
        steps: &steps,
        needed_by: &needed_by,
        counts: &[],
        is_judged: &|_| true,
    };
    let is_cut_short = |growth: Effort, size: Size| {
        let options = Options {
            size,
            budget: Effort::ALL,
            first: Effort::ALL,
            growth,
            jobs: 1,
            memory: usize::MAX,
        };
        predict(&source, &options, &Nobody(AtomicBool::new(false))).is_cut_short
    };
    assert!(is_cut_short(Effort::NONE, Size::Auto));
    assert!(!is_cut_short(Effort::ALL, Size::Auto));
    assert!(!is_cut_short(Effort::NONE, Size::Events(100)));
}

fn races(prediction: &Prediction) -> BTreeSet<[u32; 2]> {
    let pairs = prediction.races.iter().map(|proven| {
        let mut pair = [proven.next[0].0 as u32, proven.next[1].0 as u32];
        pair.sort_unstable();
        pair
    });
    pairs.collect()
}

/// A trace begins with the window: nothing is known of what was before.
fn from_the_start(mut window: Window) -> Window {
    window.border = Border::default();
    window
}

fn agrees(window: Window) {
    let window = &from_the_start(window);
    let found = run(window, Size::Auto, 1);
    let expected: BTreeSet<[u32; 2]> = reachable::races(window)
        .into_keys()
        .filter(|pair| !is_mixed(window, pair))
        .collect();
    let found_races = races(&found);
    // In these windows every event has a place of its own, so that every pair is one to report.
    assert!(
        found_races.is_superset(&expected),
        "{found_races:?} {expected:?}\n{window:#?}"
    );
    let deadlocks = reachable::deadlocks(window);
    for proven in &found.deadlocks {
        let mut next: Vec<u32> = proven.next.iter().map(|at| at.0 as u32).collect();
        next.sort_unstable();
        assert!(deadlocks.contains_key(&next), "{next:?}\n{window:#?}");
    }
    // A deadlock in which others wait as well is no other one.
    for next in deadlocks.keys() {
        // A request and the acquisition behind it are the same wait.
        let waits = |at: u64| {
            let event = &window.steps[at as usize].event;
            (event.thread(), event.target())
        };
        let has = |at: &EventIndex| next.iter().any(|&of| waits(of.into()) == waits(at.0));
        let mut cores = found.deadlocks.iter().map(|proven| proven.core());
        assert!(
            cores.any(|core| core.iter().all(has)),
            "missed: {next:?}\n{window:#?}"
        );
    }
}

/// Times that no clock can tell, and a block that ends behind all memory.
#[test]
fn odd_figures_do_no_harm() {
    let text = "T0|fork(T1)|1\nT0|alloc(x:8)|2\nT0|w(x=1)|3\nT1|w(x=2)|4\n";
    let mut trace = deadheat_trace::text::parse(text).unwrap();
    trace.steps[1] = trace.steps[1].with_written(u64::MAX);
    let needed_by = vec![deadheat_predict::NOBODY; trace.steps.len()];
    let source = Source {
        steps: &trace.steps,
        needed_by: &needed_by,
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Auto,
        budget: Effort::ALL,
        first: Effort::ALL,
        growth: Effort::ALL,
        jobs: 1,
        memory: usize::MAX,
    };
    let found = predict(&source, &options, &Nobody(AtomicBool::new(false)));
    assert_eq!(found.races.len(), 1);
}

/// Nothing that began before the window, no gaps; and no attempts in vain, for which the predictor
/// knows fewer reasons than there may be.
const FROM_THE_START: Rest = Rest {
    border: false,
    gaps: false,
    refused: false,
    ..Shape::EVERYTHING.rest
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_is_found_and_nothing_else(window in windows_of_parts(
        Shape { rest: FROM_THE_START, ..Shape::EVERYTHING },
        Needed::ByBranch,
    )) {
        agrees(window);
    }

    #[test]
    fn deadlocks_are_found(window in windows(
        Shape { rest: Rest { border: false, refused: false, ..Shape::LOCKS.rest }, ..Shape::LOCKS },
        Needed::ByBranch,
    )) {
        agrees(window);
    }

    #[test]
    fn waits_that_nobody_ends_are_found(window in windows(
        Shape { rest: Rest { refused: false, ..Shape::WAITS.rest }, ..Shape::WAITS },
        Needed::ByBranch,
    )) {
        agrees(window);
    }

    /// Windows, and segments, that cut a trace find a part of what it proves, whatever is carried over their borders;
    /// and it does not matter how many are looked at at once.
    #[test]
    fn larger_windows_lose_nothing(window in windows_of_parts(
        // Without parts of variables, because of `is_mixed`; and without external writes, of which less is asked where only one
        // thread accesses what they write, which a larger window may show to be wrong; and without writes whose value is not known: what a
        // later read tells of it is known at the border of a window that begins behind that read, and not inside of one.
        Shape { steps: 40, rest: Rest { parts: false, external: false, unknown: false, ..FROM_THE_START }, ..Shape::EVERYTHING },
        Needed::ByBranch,
    )) {
        let window = from_the_start(window);
        let whole = races(&run(&window, Size::Auto, 1));
        for size in [4, 10, 20] {
            let small = races(&run(&window, Size::Events(size), 2));
            prop_assert!(small.is_subset(&whole), "{size}: {small:?} {whole:?}\n{window:#?}");
            let segments = races(&run_in_segments(&window, Size::Events(size), 24));
            prop_assert!(segments.is_subset(&whole), "{size}: {segments:?} {whole:?}\n{window:#?}");
            // Borders of windows between segments lie where they lay.
            let exact = races(&run_in_segments(&window, Size::Events(size), window.steps.len()));
            prop_assert_eq!(&exact, &small);
        }
    }
}
