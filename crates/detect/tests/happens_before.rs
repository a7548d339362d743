//! `hb` and `shb` against their definitions, against all interleavings.

mod oracle;
mod reported;

use std::collections::BTreeSet;

use deadheat_detect::{Hb, Shb};
use deadheat_trace::{Op, Step, Trace, text};
use oracle::order::{Before, Rules, conflicts, touched};
use oracle::random::{Shape, traces_of_parts};
use oracle::reorder::Reorder;
use proptest::prelude::*;
use reported::{Pairs, pairs, run};

/// What a step conflicts with, most of all: plain writes with everything.
fn stands_for(a: &Step, b: &Step) -> bool {
    let class = |step: &Step| {
        let op = step.event.op();
        (op.writes() || op == Op::Free, op.is_atomic())
    };
    class(a) == (true, false) || class(a) == class(b) || class(b) == (false, true)
}

/// Those of the races whose first access nothing later stands for.
fn latest(trace: &Trace, before: &Before, races: &Pairs) -> Pairs {
    let steps = &trace.steps;
    let hidden = |i: usize, j: usize| {
        (i + 1..j).any(|k| {
            before.is_before(i, k)
                && stands_for(&steps[k], &steps[i])
                && touched(steps, k)
                    .intersection(&touched(steps, i))
                    .next()
                    .is_some()
        })
    };
    races
        .iter()
        .copied()
        .filter(|(i, j)| !hidden(*i, *j))
        .collect()
}

/// The reported races are races, every access that races is reported, and with every thread that
/// it races with, as far as nothing later stands for that thread's access.
fn check_exact(trace: &Trace, rules: &Rules, reported: &Pairs) -> Result<(), TestCaseError> {
    let before = Before::new(trace, rules);
    let races = before.races(trace);
    prop_assert!(reported.is_subset(&races), "{reported:?} {races:?}");
    let seconds = |pairs: &Pairs| pairs.iter().map(|pair| pair.1).collect::<BTreeSet<_>>();
    prop_assert_eq!(seconds(reported), seconds(&races));
    let with_thread = |pairs: &Pairs| {
        let thread = |i: usize| trace.steps[i].event.thread();
        pairs
            .iter()
            .map(|(i, j)| (thread(*i), *j))
            .collect::<BTreeSet<_>>()
    };
    let expected = with_thread(&latest(trace, &before, &races));
    prop_assert!(
        expected.is_subset(&with_thread(reported)),
        "{expected:?} {reported:?}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hb_is_its_definition(trace in traces_of_parts(Shape::EVERYTHING)) {
        let reported = pairs(&run(Hb::new(), &trace));
        check_exact(&trace, &Rules::happens_before(&trace), &reported)?;
    }

    #[test]
    fn shb_is_its_definition(trace in traces_of_parts(Shape::EVERYTHING)) {
        let reported = pairs(&run(Shb::new(), &trace));
        check_exact(&trace, &Rules::schedulable(&trace), &reported)?;
    }

    /// All races of the first access that has any.
    #[test]
    fn the_first_hb_race_is_real(trace in traces_of_parts(Shape::REORDERABLE)) {
        let reported = pairs(&run(Hb::new(), &trace));
        if let Some(first) = reported.iter().map(|pair| pair.1).min() {
            let real = Reorder::new(&trace).real_races();
            let expected: Pairs = reported.into_iter().filter(|pair| pair.1 == first).collect();
            prop_assert!(expected.is_subset(&real), "{expected:?} {real:?}");
        }
    }

    #[test]
    fn every_shb_race_is_real(trace in traces_of_parts(Shape { heap: false, channels: false, ..Shape::EVERYTHING })) {
        let reported = pairs(&run(Shb::new(), &trace));
        let real = Reorder::new(&trace).real_races();
        prop_assert!(reported.is_subset(&real), "{reported:?} {real:?}");
    }

    /// By pairs, and by the first access that races.
    #[test]
    fn shb_is_within_hb(trace in traces_of_parts(Shape::EVERYTHING)) {
        let races = |rules: &Rules| Before::new(&trace, rules).races(&trace);
        let (hb, shb) = (races(&Rules::happens_before(&trace)), races(&Rules::schedulable(&trace)));
        prop_assert!(shb.is_subset(&hb));
        let first = |pairs: &Pairs| pairs.iter().map(|pair| pair.1).min();
        let (hb, shb) = (pairs(&run(Hb::new(), &trace)), pairs(&run(Shb::new(), &trace)));
        if trace.steps.iter().all(|step| !step.event.op().is_atomic()) {
            prop_assert_eq!(first(&hb), first(&shb));
        }
        prop_assert!(shb.is_subset(&conflicts(&trace)));
    }
}

/// What a read-modify-write sends includes what it read.
#[test]
fn a_read_comes_before_what_is_sent() {
    let text = "A|aw(x,rlx)|1\nA|aw(f,rlx)|2\nB|rmw(f,rel)|3\nC|ar(f,acq)|4\nC|w(x)|5\n";
    let trace = text::parse(text).unwrap();
    assert!(run(Shb::new(), &trace).is_empty());
    assert_eq!(pairs(&run(Hb::new(), &trace)), Pairs::from([(0, 4)]));
}
