//! What is likely is asked about first: with enough work to be done the same is found, with little the likely.

mod oracle;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use deadheat_predict::{
    Border, Effort, NOBODY, Observer, Options, Prediction, Predictor, Proven, Reads, Size, Source,
    Window, needed_by,
};
use deadheat_trace::{EventIndex, Pc, Step};
use proptest::prelude::*;

use oracle::Needed;
use oracle::random::{Rest, Shape, windows_of_parts};

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

/// In which order windows are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InOrder {
    /// That of the trace.
    Trace,
    /// Likely ones of each segment first.
    Likely,
    /// Likely ones of all segments first.
    Passes,
}

/// Looks at a trace in segments of a length.
fn look(
    (steps, needed): (&[Step], &[u32]),
    (size, length): (usize, usize),
    order: InOrder,
    (first, jobs): (Effort, usize),
) -> Prediction {
    let options = Options {
        size: Size::Events(size),
        budget: Effort::ALL,
        first,
        growth: Effort::ALL,
        jobs,
        memory: usize::MAX,
    };
    let nobody = Nobody(AtomicBool::new(false));
    let mut predictor = Predictor::new(steps.len() as u64, &options, &nobody);
    let passes = if order == InOrder::Passes { 2 } else { 1 };
    for pass in 0..passes {
        predictor.start_again();
        let (mut start, mut end) = (0, 0);
        while end < steps.len() {
            end = (start + length).min(steps.len());
            let by = needed[start..end].iter().map(|by| match *by {
                by if (by as usize) < end => by - start as u32,
                _ => NOBODY,
            });
            let source = Source {
                steps: &steps[start..end],
                needed_by: &by.collect::<Vec<u32>>(),
                counts: &[],
                is_judged: &|_| true,
            };
            let indexes: Vec<EventIndex> = (start as u64..end as u64).map(EventIndex).collect();
            if order != InOrder::Trace && pass == 0 {
                predictor.glance(&source, &indexes, &|_| false);
            }
            if pass + 1 == passes {
                predictor.look(&source, &indexes);
            }
            predictor.go_on(&source, &indexes);
            start = end - predictor.common(end - start);
        }
    }
    let found = predictor.finish();
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    found
}

/// The places of what was found.
fn places(steps: &[Step], found: &[Proven]) -> BTreeSet<Vec<Pc>> {
    let places = found.iter().map(|proven| {
        let places = proven.core().iter();
        let mut places: Vec<Pc> = places.map(|at| steps[at.0 as usize].event.pc()).collect();
        places.sort_unstable();
        places
    });
    places.collect()
}

/// All that was found, in its order.
fn all(found: Prediction) -> Vec<Proven> {
    [found.races, found.deadlocks].concat()
}

/// Nothing that was before the trace, no gaps.
const TRACE: Rest = Rest {
    border: false,
    gaps: false,
    ..Shape::EVERYTHING.rest
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Which windows come first decides nothing if all have their turn; neither does how many are looked at at once.
    #[test]
    fn any_order_of_windows_finds_the_same(window in windows_of_parts(
        Shape { steps: 40, rest: TRACE, ..Shape::EVERYTHING },
        Needed::ByBranch,
    )) {
        let window = Window { border: Border::default(), ..window };
        // Few places: what was asked of some of them is not asked again.
        let few = window.steps.iter().map(|step| {
            let mut few = *step;
            few.event = step.event.with_pc(Pc(step.event.pc().0 % 5));
            few
        });
        let steps: Vec<Step> = few.collect();
        let trace = (&steps[..], &window.needed_by[..]);
        for sizes in [(4, 24), (10, 24), (10, 40), (20, 64)] {
            let run = |order, jobs| look(trace, sizes, order, (Effort::ALL, jobs));
            let in_trace = run(InOrder::Trace, 1);
            let expected = [&in_trace.races, &in_trace.deadlocks].map(|found| places(&steps, found));
            for order in [InOrder::Likely, InOrder::Passes] {
                let found = run(order, 1);
                let of = [&found.races, &found.deadlocks].map(|found| places(&steps, found));
                prop_assert_eq!(&of, &expected);
                prop_assert_eq!(all(found), all(run(order, 3)));
            }
        }
    }
}

/// Something is handed over by a flag under a lock, over and over; then there is a race that the order of two critical sections hides.
fn late(rounds: usize) -> Vec<Step> {
    let mut text = String::new();
    for round in 1..=rounds {
        text.push_str(&format!(
            "T0|w(d)|1\nT0|acq(m)|2\nT0|w(f={round})|3\nT0|rel(m)|4\n\
             T1|acq(m)|5\nT1|r(f={round})|6\nT1|rel(m)|7\nT1|w(d)|8\n\
             T1|acq(m)|9\nT1|w(f=0)|10\nT1|rel(m)|11\n\
             T0|acq(m)|12\nT0|r(f=0)|13\nT0|rel(m)|14\n"
        ));
    }
    text.push_str(
        "T0|w(x)|50\nT0|acq(n)|51\nT0|rel(n)|52\nT1|acq(n)|53\nT1|rel(n)|54\nT1|w(x)|55\n",
    );
    deadheat_trace::text::parse(&text).unwrap().steps
}

#[test]
fn a_late_race_is_found_with_little_work() {
    let steps = late(3000);
    let needed = needed_by(&steps, Reads::ByNext);
    let race = BTreeSet::from([vec![
        steps[steps.len() - 6].event.pc(),
        steps[steps.len() - 1].event.pc(),
    ]]);
    for length in [steps.len(), steps.len() / 4] {
        let run = |order, first| look((&steps, &needed), (600, length), order, (first, 2));
        let little = Effort {
            work: 3_000_000,
            time: None,
        };
        // Each segment has a share of its own.
        if length == steps.len() {
            let missed = run(InOrder::Trace, little);
            assert!(missed.is_unfinished && missed.races.is_empty());
        }
        for order in [InOrder::Likely, InOrder::Passes] {
            let found = run(order, little);
            assert!(found.is_unfinished, "little is not enough for all of it");
            assert_eq!(places(&steps, &found.races), race);
            let found = run(order, Effort::ALL);
            assert!(!found.is_unfinished);
            assert_eq!(places(&steps, &found.races), race);
        }
    }
}
