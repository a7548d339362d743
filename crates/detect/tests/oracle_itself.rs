//! The oracle is right where the answer is known.

mod oracle;

use deadheat_trace::{text, verify};
use oracle::order::{Before, Rules};
use oracle::random::{Shape, traces};
use oracle::reorder::Reorder;
use proptest::prelude::*;

fn real(text: &str) -> Vec<(usize, usize)> {
    let trace = text::parse(text).unwrap();
    Reorder::new(&trace).real_races().into_iter().collect()
}

#[test]
fn locks_keep_accesses_apart() {
    assert_eq!(real("A|w(x)|1\nB|w(x)|1\n"), [(0, 1)]);
    let locked = "A|acq(m)|1\nA|w(x)|1\nA|rel(m)|1\nB|acq(m)|1\nB|w(x)|1\nB|rel(m)|1\n";
    assert_eq!(real(locked), []);
}

#[test]
fn a_lock_in_between_hides_nothing() {
    let figure_4 = "A|w(x)|1\nA|acq(m)|1\nA|rel(m)|1\nB|acq(m)|1\nB|rel(m)|1\nB|r(x)|1\n";
    assert_eq!(real(figure_4), [(0, 5)]);
    let trace = text::parse(figure_4).unwrap();
    let before = Before::new(&trace, &Rules::happens_before(&trace));
    assert!(before.races(&trace).is_empty());
    let before = Before::new(&trace, &Rules::messages());
    assert_eq!(
        before.races(&trace).into_iter().collect::<Vec<_>>(),
        [(0, 5)]
    );
}

#[test]
fn reads_keep_their_writes() {
    // B reads x only after A's write, so y is not written by both at once.
    assert_eq!(real("A|w(y)|1\nA|w(x)|1\nB|r(x)|1\nB|w(y)|1\n"), [(1, 2)]);
    // The race on x alone: its read may see anything.
    assert_eq!(real("A|w(x)|1\nB|r(x)|1\n"), [(0, 1)]);
}

#[test]
fn waiting_and_barriers() {
    let woken = "B|acq(m)|1\nB|rel(m)|1\nB|wait(c)|1\nA|w(x)|1\nA|notify(c)|1\nB|wake(c)|1\nB|acq(m)|1\nB|w(x)|1\n";
    assert_eq!(real(woken), []);
    let barrier =
        "A|init(barrier:b=2)|1\nA|w(x)|1\nA|benter(b)|1\nB|benter(b)|1\nB|bexit(b)|1\nB|w(x)|1\n";
    assert_eq!(real(barrier), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_traces_are_traces(trace in traces(Shape::EVERYTHING)) {
        let report = verify::verify(&mut trace.stream()).unwrap();
        prop_assert!(report.is_well_formed(), "{:?}", report.violations);
    }

    /// The trace itself is one of its reorderings: each pair of neighbours that conflict is found.
    #[test]
    fn a_trace_is_its_own_reordering(trace in traces(Shape::REORDERABLE)) {
        let real = Reorder::new(&trace).real_races();
        for (i, pair) in trace.steps.windows(2).enumerate() {
            if oracle::conflict(&pair[0], &pair[1]) {
                prop_assert!(real.contains(&(i, i + 1)));
            }
        }
    }
}
