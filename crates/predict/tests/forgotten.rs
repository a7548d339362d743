//! What memory holds where a window begins may be forgotten, as there is no room for all of it. That costs findings and
//! makes none.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use deadheat_predict::{Effort, NOBODY, Observer, Options, Prediction, Size, Source, predict};
use deadheat_trace::{Step, text};
use proptest::prelude::*;

struct Silent(AtomicBool);

impl Observer for Silent {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

/// What is done next: by whom, what, to which word.
type Deed = (u64, u64, u64);

/// Words lie far apart, so that what is known of one takes as much room as what is known of many.
fn trace(deeds: &[Deed]) -> Vec<Step> {
    const WORDS: u64 = 8;
    let (mut memory, mut text, mut owner) = ([0; WORDS as usize], String::new(), None);
    for (number, (thread, deed, word)) in deeds.iter().enumerate() {
        let (word, address) = (*word as usize, 0x1000 * (word + 1));
        let what = match deed {
            0 if owner == Some(*thread) => {
                owner = None;
                "rel(m)".to_owned()
            }
            0 if owner.is_none() => {
                owner = Some(*thread);
                "acq(m)".to_owned()
            }
            0..=3 => format!("r({address:#x}:8={})", memory[word]),
            value => {
                memory[word] = *value;
                format!("w({address:#x}:8={value})")
            }
        };
        text.push_str(&format!("T{thread}|{what}|{}\n", number + 1));
    }
    text::parse(&text).unwrap().steps
}

/// Every event depends on what its thread has read before.
fn needed_by(steps: &[Step]) -> Vec<u32> {
    let next = |at: usize| {
        let thread = steps[at].event.thread();
        let mut behind = (at + 1..).zip(&steps[at + 1..]);
        behind.find(|(_, step)| step.event.thread() == thread)
    };
    let all = 0..steps.len();
    all.map(|at| next(at).map_or(NOBODY, |(next, _)| next as u32))
        .collect()
}

fn found(steps: &[Step], memory: usize) -> Prediction {
    let source = Source {
        steps,
        needed_by: &needed_by(steps),
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Events(12),
        budget: Effort::ALL,
        first: Effort::ALL,
        growth: Effort::NONE,
        jobs: 1,
        memory,
    };
    let found = predict(&source, &options, &Silent(AtomicBool::new(false)));
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    found
}

fn races(found: &Prediction) -> BTreeSet<Vec<u64>> {
    let races = found.races.iter();
    races
        .map(|race| race.next.iter().map(|at| at.0).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_forgotten_makes_no_findings(
        deeds in prop::collection::vec((0u64..3, 0u64..6, 0u64..8), 0..60),
    ) {
        let steps = trace(&deeds);
        let (all, few) = (found(&steps, usize::MAX), found(&steps, 1));
        prop_assert!(races(&few).is_subset(&races(&all)), "{:?} {:?}", races(&few), races(&all));
        prop_assert_eq!(all.forgotten, 0);
        prop_assert!(few.forgotten == 0 || few.is_open(), "it is not said to be all");
    }
}

/// The first window has the write of what the last one reads, which decides whether its thread goes on.
#[test]
fn what_is_forgotten_is_said() {
    let mut deeds = vec![(0, 5, 7)];
    deeds.extend((0..40).map(|number| (0, 4, number % 7)));
    deeds.extend([(1, 4, 0), (0, 1, 7), (0, 4, 0), (1, 4, 7)]);
    let steps = trace(&deeds);
    let (all, few) = (found(&steps, usize::MAX), found(&steps, 1));
    assert_eq!(all.forgotten, 0);
    assert!(few.forgotten > 0 && few.is_open());
    assert!(!races(&all).is_empty());
    assert!(races(&few).is_subset(&races(&all)));
}
