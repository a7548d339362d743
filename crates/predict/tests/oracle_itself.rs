//! The slow answers against each other, and against what is known of them.

mod oracle;

use std::collections::{BTreeSet, HashSet};

use deadheat_predict::Window;
use deadheat_predict::check::{Observed, Simulation};
use deadheat_predict::{Cut, Goal};
use deadheat_trace::Op;
use oracle::random::{Shape, chains, windows, windows_of_parts};
use oracle::z3::{Verdict, verdict};
use oracle::{Needed, axioms, candidates, reachable};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn race(pair: [u32; 2]) -> Cut {
    Cut {
        goal: Goal::Race,
        next: pair.to_vec(),
    }
}

/// The same races by both oracles.
fn agree(window: &Window, needed: Needed) {
    let simulated: BTreeSet<[u32; 2]> = reachable::races(window).into_keys().collect();
    assert_eq!(simulated, axioms::races(window, needed));
}

/// What was observed is a schedule, too.
fn observed_order_is_feasible(window: &Window) {
    let observed = Observed::new(window);
    let mut simulation = Simulation::new(&observed);
    for position in 0..window.steps.len() as u32 {
        simulation.run(position).expect("it was observed so");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_observed_is_feasible(window in windows_of_parts(Shape::EVERYTHING, Needed::ByBranch)) {
        observed_order_is_feasible(&window);
    }

    #[test]
    fn what_was_observed_is_feasible_whatever_depends(window in windows(Shape::EVERYTHING, Needed::ByNext)) {
        observed_order_is_feasible(&window);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulation_is_the_papers_model(window in windows(Shape::PAPER, Needed::ByBranch)) {
        agree(&window, Needed::ByBranch);
    }

    #[test]
    fn simulation_is_the_model_without_control_flow(window in windows(Shape::PAPER, Needed::ByNext)) {
        agree(&window, Needed::ByNext);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulation_is_the_papers_model_of_values(window in chains(Needed::ByBranch)) {
        agree(&window, Needed::ByBranch);
    }

    #[test]
    fn simulation_is_the_model_of_values_without_control_flow(window in chains(Needed::ByNext)) {
        agree(&window, Needed::ByNext);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without branches everything before the race in the solver's order is feasible.
    #[test]
    fn what_the_formula_accepts_is_reachable_without_branches(
        window in windows(Shape { branches: false, steps: 12, ..Shape::PAPER }, Needed::ByBranch)
    ) {
        let races = reachable::races(&window);
        for pair in candidates(&window) {
            if verdict(&window, &race(pair), 10) == Verdict::Sat {
                prop_assert!(races.contains_key(&pair), "{:?}", pair);
            }
        }
    }
}

/// How many of so many random windows have candidate pairs that can be reached, that cannot, and both.
fn balance(windows: impl Strategy<Value = Window>) -> [u32; 4] {
    let mut runner = TestRunner::deterministic();
    let mut counts = [0; 4];
    for _ in 0..200 {
        let window = windows
            .new_tree(&mut runner)
            .expect("it makes windows")
            .current();
        let races = reachable::races(&window);
        let pairs = candidates(&window);
        let can = pairs.iter().any(|pair| races.contains_key(pair));
        let cannot = pairs.iter().any(|pair| !races.contains_key(pair));
        let deadlock = !reachable::deadlocks(&window).is_empty();
        for (count, there) in counts
            .iter_mut()
            .zip([can, cannot, can && cannot, deadlock])
        {
            *count += u32::from(there);
        }
    }
    counts
}

#[test]
fn random_windows_are_interesting() {
    let paper = balance(windows(Shape::PAPER, Needed::ByBranch));
    let locks = balance(windows(Shape::LOCKS, Needed::ByBranch));
    let parts = balance(windows_of_parts(Shape::EVERYTHING, Needed::ByBranch));
    let all = balance(windows(Shape::EVERYTHING, Needed::ByBranch));
    println!("reachable, unreachable, both, deadlocks: {paper:?} {locks:?} {parts:?} {all:?}");
    for [can, cannot, both, _] in [paper, locks, parts, all] {
        assert!(can >= 80 && cannot >= 25 && both >= 15);
    }
    assert!(locks[3] >= 12);
}

#[test]
fn random_windows_have_everything() {
    let windows = windows_of_parts(Shape::EVERYTHING, Needed::ByBranch);
    let mut runner = TestRunner::deterministic();
    let mut seen = HashSet::new();
    for _ in 0..1000 {
        let window = windows
            .new_tree(&mut runner)
            .expect("it makes windows")
            .current();
        seen.extend(window.steps.iter().map(|step| step.event.op()));
    }
    // These mean nothing to the model.
    seen.extend([Op::Enter, Op::Leave, Op::Fence, Op::ReceiveRefused]);
    seen.extend([Op::JoinRequest, Op::TakeRequest, Op::WakeRequest, Op::Exit]);
    let missing: Vec<Op> = Op::ALL
        .into_iter()
        .filter(|op| !seen.contains(op))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
