//! What is no suspect has no race, whichever method looks for it.

mod oracle;
mod reported;

use deadheat_detect::{Cp, Hb, Hybrid, HybridOptions, Races, Shb, Suspects, SyncP, Wcp};
use deadheat_trace::Trace;
use oracle::random::{Shape, traces};
use proptest::prelude::*;
use reported::{pairs, run};

const LOCKS: Shape = Shape {
    threads: 4,
    steps: 40,
    variables: 3,
    locks: 2,
    read_locks: true,
    parts: true,
    ..Shape::PLAIN
};

fn suspects(trace: &Trace) -> Suspects {
    let mut suspects = Suspects::default();
    trace.steps.iter().for_each(|step| suspects.step(step));
    suspects
}

/// All races are between suspects. (A release is one of a whole block, and always looked at.)
fn are_suspects(trace: &Trace, suspects: &Suspects, races: &Races) -> Result<(), TestCaseError> {
    for (first, second) in pairs(races) {
        for at in [first, second] {
            let event = &trace.steps[at].event;
            prop_assert!(suspects.may_race(event), "{event:?} races");
        }
        prop_assert!(!suspects.is_empty() && suspects.has_unordered());
    }
    Ok(())
}

fn check(trace: &Trace) -> Result<(), TestCaseError> {
    let suspects = suspects(trace);
    for races in [
        run(Hb::new(), trace),
        run(Shb::new(), trace),
        run(Wcp::new(), trace),
        run(Cp::new(), trace),
        run(SyncP::new(), trace),
    ] {
        are_suspects(trace, &suspects, &races)?;
    }
    let hybrid = run(Hybrid::new(HybridOptions::default()), trace);
    prop_assert!(suspects.has_unordered() || hybrid.found().is_empty());
    // Happens-before finds the same when it is shown nothing else.
    let mut kept = trace.clone();
    kept.steps.retain(|step| suspects.may_race(&step.event));
    let places = |races: &Races| -> Vec<_> {
        let found = races.found().iter();
        let mut places: Vec<_> = found.map(|found| found.race.signature()).collect();
        places.sort_unstable();
        places
    };
    prop_assert_eq!(
        places(&run(Hb::new(), &kept)),
        places(&run(Hb::new(), trace))
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn races_are_between_suspects(trace in traces(LOCKS)) {
        check(&trace)?;
    }

    #[test]
    fn also_with_everything_else(trace in traces(Shape { steps: 40, ..Shape::EVERYTHING })) {
        check(&trace)?;
    }
}
