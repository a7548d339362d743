//! What the search finds is what there is to be found.

use std::{collections::BTreeSet, time::Duration};

use proptest::prelude::*;

use super::{
    super::{Bound, Budget, Choice, Cut, Ending, Outcome, Search},
    generate::model,
    model::Model,
    truth::{Truth, truth},
};

/// Larger programs are passed over.
const MOST_RUNS: u64 = 20_000;

fn search(model: &Model, choice: Choice, bound: Bound) -> Outcome {
    let search = Search {
        choice,
        bound,
        budget: Budget {
            executions: Some(MOST_RUNS),
            ..Budget::default()
        },
        ..Search::default()
    };
    let Ok(outcome) = search.run(&mut model.clone(), || Duration::ZERO, |_| true);
    outcome
}

fn races(outcome: &Outcome) -> BTreeSet<(u64, u64)> {
    outcome
        .races
        .iter()
        .map(|race| {
            let (a, b) = (race.first.pc, race.second.pc);
            (a.min(b), a.max(b))
        })
        .collect()
}

fn outcomes(outcome: &Outcome) -> BTreeSet<u64> {
    outcome.outcomes.iter().map(|(number, _)| *number).collect()
}

fn deaths(outcome: &Outcome, model: &Model) -> BTreeSet<u64> {
    let killed = outcome
        .bad_ends
        .iter()
        .filter(|end| matches!(end.ending, Ending::Killed(_)));
    killed
        .filter_map(|end| {
            let mut state = model.start();
            for turn in &end.turns {
                model.step(&mut state, turn.thread, turn.variant);
            }
            state.died.map(|(_, pc)| pc)
        })
        .collect()
}

/// Both accesses of each race are next behind its turns.
fn races_stand(outcome: &Outcome, model: &Model) -> bool {
    outcome.races.iter().all(|race| {
        let mut state = model.start();
        for turn in &race.turns {
            if model.ways(&state, turn.thread) <= turn.variant {
                return false;
            }
            model.step(&mut state, turn.thread, turn.variant);
        }
        let next = |thread| model.next(&state, thread).map(|deed| (deed.op, deed.pc));
        next(race.first_thread) == Some((race.first.op, race.first.pc))
            && next(race.second_thread) == Some((race.second.op, race.second.pc))
    })
}

fn agrees(model: &Model, truth: &Truth, choice: Choice, bound: Bound) -> Result<(), TestCaseError> {
    let outcome = search(model, choice, bound);
    if let Some(Cut::Executions(_)) = outcome.cuts.first() {
        return Ok(());
    }
    prop_assert!(outcome.exhausted(), "{:?}", outcome.cuts);
    prop_assert_eq!(races(&outcome), truth.races.clone());
    prop_assert!(races_stand(&outcome, model));
    prop_assert_eq!(deaths(&outcome, model), truth.deaths.clone());
    prop_assert!(outcome.progress.states <= truth.states as u64 || !truth.outcomes.is_empty());
    if model.leaves {
        prop_assert!(outcomes(&outcome).is_subset(&truth.outcomes));
    } else {
        prop_assert_eq!(outcomes(&outcome), truth.outcomes.clone());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn reduction_loses_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None)?;
    }

    #[test]
    fn rising_bounds_lose_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::Rising(None))?;
    }

    #[test]
    fn a_program_that_leaves_early_loses_nothing(mut model in model()) {
        model.leaves = true;
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None)?;
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(400)
}
