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
use deadheat_scan::pairs::{self, Root};
use deadheat_scan::path::Site;
use proptest::prelude::*;

/// The pairs of statements that are warned of.
fn warned(program: &deadheat_scan::ir::Program) -> BTreeSet<(Site, Site)> {
    let model = Model::user().expect("own models are right");
    let main = program.named("main").expect("there is one");
    let mut analysis = Analysis::of(program, &model, &[main]);
    let root = Root {
        function: main,
        is_parallel: false,
    };
    let (pairs, _) = pairs::find(&mut analysis, &[root]);
    let sites = pairs.iter().map(|pair| {
        let [one, other] = &pair.deeds;
        (one.site.min(other.site), one.site.max(other.site))
    });
    sites.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
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
}
