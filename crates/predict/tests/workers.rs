//! Several workers share the windows of a trace, and find what one finds. Deadheat looks at this test itself
//! (`crates/cli/tests/itself.rs`), so it is small.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadheat_predict::{
    Effort, NOBODY, Observer, Options, Prediction, Proven, Size, Source, predict,
};
use deadheat_trace::Pc;

/// Remembers how much is done, as a progress bar would.
struct Counts {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Observer for Counts {
    fn progress(&self, done: u64, all: u64, _so_far: &Prediction) {
        assert!(done <= all);
        let before = self.done.swap(done, Ordering::Relaxed);
        assert!(
            before <= done,
            "{before}, then {done}: a bar does not go back"
        );
    }

    fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

/// Races by the lines of their accesses, and all that was proven.
fn found(text: &str, jobs: usize) -> (BTreeSet<Vec<Pc>>, Vec<Proven>) {
    let steps = deadheat_trace::text::parse(text).unwrap().steps;
    let source = Source {
        steps: &steps,
        needed_by: &vec![NOBODY; steps.len()],
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Events(12),
        budget: Effort::ALL,
        first: Effort::ALL,
        growth: Effort::NONE,
        jobs,
        memory: usize::MAX,
    };
    let observer = Counts {
        stop: AtomicBool::new(false),
        done: AtomicU64::new(0),
    };
    let found = predict(&source, &options, &observer);
    assert_eq!(observer.done.into_inner(), steps.len() as u64);
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    let places = found.races.iter().map(|race| {
        let mut places: Vec<Pc> = race
            .next
            .iter()
            .map(|at| steps[at.0 as usize].event.pc())
            .collect();
        places.sort_unstable();
        places
    });
    let places = places.collect();
    (places, [found.races, found.deadlocks].concat())
}

#[test]
fn several_side_by_side_find_what_one_finds() {
    let mut text = String::new();
    for round in 0..3 {
        let at = round * 20;
        let mut say = |line: &str, place: i32| text.push_str(&format!("{line}|{}\n", at + place));
        say("T0|acq(m)", 1);
        say("T0|w(x)", 2);
        say("T0|rel(m)", 3);
        say("T0|w(y)", 4);
        say("T1|acq(m)", 5);
        say("T1|w(x)", 6);
        say("T1|rel(m)", 7);
        say("T1|w(y)", 8);
        say("T0|acq(a)", 9);
        say("T0|acq(b)", 10);
        say("T0|rel(b)", 11);
        say("T0|rel(a)", 12);
        say("T1|acq(b)", 13);
        say("T1|acq(a)", 14);
        say("T1|rel(a)", 15);
        say("T1|rel(b)", 16);
    }
    let one = found(&text, 1);
    assert!(one.0.len() >= 3, "{one:?}");
    // The same events by the same schedules, too.
    assert_eq!(found(&text, 3), one);
}
