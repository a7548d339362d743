//! Small programs at random, all interleavings of which are walked through: every race that one of them has must be among the
//! warnings.
//!
//! Three threads take and give back locks, directly, through pointers and in functions, try, wait for semaphores, pass barriers, run things
//! once, publish blocks of the heap, create each other and wait for each other, in branches and loops.

mod program;
mod walk;

use std::collections::BTreeSet;

use deadheat_scan::analysis::Analysis;
use deadheat_scan::model::Model;
use deadheat_scan::pairs::{self, Pair, Root, Wanted};
use deadheat_scan::path::Site;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The pairs of statements that are warned of.
fn warned(program: &deadheat_scan::ir::Program) -> BTreeSet<(Site, Site)> {
    warned_within(program, 2000)
}

/// The same with summaries of so many deeds of callees.
fn warned_within(program: &deadheat_scan::ir::Program, budget: usize) -> BTreeSet<(Site, Site)> {
    let model = Model::user().expect("own models are right");
    let main = program.named("main").expect("there is one");
    let mut analysis = Analysis::within(program, &model, &[main], budget);
    let root = Root::of(main, false);
    let done = pairs::all(&mut analysis, &[root]);
    let (pairs, _) = pairs::find(&mut analysis, &done, Wanted::All);
    pairs.iter().map(sites).collect()
}

fn sites(pair: &Pair) -> (Site, Site) {
    let [one, other] = &pair.deeds;
    (one.site.min(other.site), one.site.max(other.site))
}

/// The statements in pairs that no other pair covers.
fn open_places(program: &deadheat_scan::ir::Program, wanted: Wanted) -> BTreeSet<Site> {
    let model = Model::user().expect("own models are right");
    let main = program.named("main").expect("there is one");
    let mut analysis = Analysis::of(program, &model, &[main]);
    let done = pairs::all(&mut analysis, &[Root::of(main, false)]);
    let (pairs, _) = pairs::find(&mut analysis, &done, wanted);
    let open = pairs.iter().filter(|pair| !pair.is_covered).map(sites);
    open.flat_map(|(one, other)| [one, other]).collect()
}

/// How many programs are looked at; `PROPTEST_CASES` asks for more.
fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: asked.and_then(|asked| asked.parse().ok()).unwrap_or(100),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Programs at random have races, and many warnings are about them.
#[test]
fn races_are_found() {
    let mut runner = TestRunner::deterministic();
    let (mut races, mut all) = (0, 0);
    for _ in 0..100 {
        let plan = program::plan().new_tree(&mut runner).expect("there is one");
        let program = program::build(&plan.current());
        let found = walk::races(&program);
        let warned = warned(&program);
        races += found.len();
        all += warned.len();
    }
    println!("{races} races, {all} warnings");
    assert!(races > 100, "only {races} races");
    assert!(all < 3 * races, "{all} warnings of {races} races");
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn every_race_is_warned_of(plan in program::plan()) {
        let program = program::build(&plan);
        let races = walk::races(&program);
        let warned = warned(&program);
        let missed: Vec<_> = races.difference(&warned).collect();
        prop_assert!(
            missed.is_empty(),
            "no warning of {missed:?} in\n{}",
            deadheat_scan::ir::Text(&program)
        );
    }
    /// Where callees do too much for a summary, less is known, and nothing is missed.
    #[test]
    fn every_race_is_warned_of_without_arguments(plan in program::plan(), budget in 0usize..4) {
        let program = program::build(&plan);
        let races = walk::races(&program);
        let warned = warned_within(&program, budget);
        let missed: Vec<_> = races.difference(&warned).collect();
        prop_assert!(
            missed.is_empty(),
            "no warning of {missed:?} in\n{}",
            deadheat_scan::ir::Text(&program)
        );
    }

    /// Each statement that may race is in a pair, also where not all pairs are wanted.
    #[test]
    fn every_place_is_warned_of(plan in program::plan()) {
        let program = program::build(&plan);
        let all = open_places(&program, Wanted::All);
        let each = open_places(&program, Wanted::EachPlace);
        prop_assert_eq!(all, each);
    }
}
