//! What a method forgets is not missed. Here, where it is tested, `wcp` and `syncp` forget critical sections
//! as early as they may; their constants say so.

#[path = "../tests/oracle/mod.rs"]
mod oracle;

use std::collections::BTreeSet;

use deadheat_trace::{EventIndex, Op, Trace};
use proptest::prelude::*;

use self::oracle::causal::{Lies, Relation};
use self::oracle::interleave::interleave;
use self::oracle::random::{Shape, traces};
use crate::{Detector, Races, SyncP, Wcp};

type Pairs = BTreeSet<(usize, usize)>;

const SHAPE: Shape = Shape {
    threads: 4,
    steps: 30,
    locks: 3,
    read_locks: true,
    ..Shape::PLAIN
};

fn run(mut detector: impl Detector, trace: &Trace) -> Pairs {
    let mut races = Races::new();
    for (index, step) in trace.steps.iter().enumerate() {
        detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
    }
    let found = races.found().iter().map(|found| found.race);
    found
        .map(|race| (race.first.index.0 as usize, race.second.index.0 as usize))
        .collect()
}

/// Whether every thread but the first one is created before it runs: to one that comes from nowhere
/// everything forgotten counts as ordered.
fn all_are_created(trace: &Trace) -> bool {
    let forks = trace
        .steps
        .iter()
        .filter(|step| step.event.op() == Op::Fork);
    let created: BTreeSet<u32> = forks.map(|step| step.event.peer().0).collect();
    let mut threads = trace.steps.iter().map(|step| step.event.thread().0);
    threads.all(|thread| thread == 0 || created.contains(&thread))
}

fn check(trace: &Trace, reported: &Pairs, races: &Pairs) -> Result<(), TestCaseError> {
    let seconds = |pairs: &Pairs| pairs.iter().map(|pair| pair.1).collect::<BTreeSet<_>>();
    prop_assert!(reported.is_subset(races), "{reported:?} {races:?}");
    if all_are_created(trace) {
        prop_assert_eq!(seconds(reported), seconds(races));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn wcp_needs_no_more(trace in prop_oneof![traces(SHAPE), traces(Shape::EVERYTHING)]) {
        let lies = Lies::new(&trace, 0..trace.steps.len(), Relation::Weak);
        check(&trace, &run(Wcp::new(), &trace), &lies.races(&trace))?;
    }

    #[test]
    fn syncp_needs_no_more(trace in traces(SHAPE)) {
        check(&trace, &run(SyncP::new(), &trace), &interleave(&trace, true).races)?;
    }
}
