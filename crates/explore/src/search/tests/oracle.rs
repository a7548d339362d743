//! What the search finds is what there is to be found.

use std::{collections::BTreeSet, time::Duration};

use proptest::prelude::*;

use super::{
    super::{Bound, Budget, Choice, Cut, Ending, Outcome, Search},
    generate::model,
    model::{Do, Model, Value},
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
    if model.leaves {
        prop_assert!(outcomes(&outcome).is_subset(&truth.outcomes));
    } else {
        prop_assert_eq!(outcomes(&outcome), truth.outcomes.clone());
    }
    Ok(())
}

/// Small programs, each of which has something that is lost as soon as one rule of dependence is.
fn examples() -> Vec<Vec<Vec<Do>>> {
    let one = Value::Number(1);
    let locked = |inner: &[Do]| [&[Do::Lock(0)], inner, &[Do::Unlock(0)]].concat();
    vec![
        // Whoever raises the semaphore first may be either.
        vec![
            vec![Do::Write(0, one), Do::Post(0)],
            vec![Do::Read(1), Do::Post(0)],
            vec![Do::Take(0), Do::Read(0)],
        ],
        // A semaphore that is a lock.
        vec![
            vec![Do::Post(0), Do::Take(0), Do::Write(0, one), Do::Post(0)],
            vec![Do::Take(0), Do::Read(0), Do::Post(0)],
        ],
        // Woken or out of time, and then somebody else has the lock.
        vec![
            locked(&[Do::TimedWait(0, 0), Do::Unless(9, 1), Do::Write(0, one)]),
            vec![Do::Notify(0), Do::Read(0)],
            locked(&[Do::Add(1)]),
        ],
        // A wake-up that comes too early.
        vec![
            locked(&[Do::Read(0), Do::Unless(0, 1), Do::Wait(0, 0)]),
            vec![Do::Write(0, one), Do::Notify(0)],
        ],
        // Two waiters, and one who is woken.
        vec![
            locked(&[Do::Wait(0, 0), Do::Write(0, one)]),
            locked(&[Do::Wait(0, 0), Do::Write(1, one)]),
            locked(&[Do::Notify(0), Do::Read(0), Do::Read(1)]),
        ],
        // The last at a barrier is told so, and rounds follow each other.
        vec![
            vec![
                Do::Barrier(0, 2),
                Do::Leave(0),
                Do::Unless(1, 1),
                Do::Write(0, one),
                Do::Barrier(0, 2),
                Do::Leave(0),
                Do::Read(1),
            ],
            vec![
                Do::Barrier(0, 2),
                Do::Leave(0),
                Do::Barrier(0, 2),
                Do::Write(1, one),
                Do::Leave(0),
                Do::Read(0),
            ],
        ],
        // A lock that is had twice, and tried for meanwhile.
        vec![
            vec![Do::Add(0), Do::TryLock(0, 1), Do::Unlock(0)],
            locked(&[Do::Lock(0), Do::AtomicWrite(0, one), Do::Unlock(0)]),
        ],
        // A reader that is asleep keeps a writer from a lock whose other lock a third one wants.
        vec![
            vec![Do::TryReadLock(1, 2), Do::Read(2), Do::ReadUnlock(1)],
            vec![
                Do::Post(0),
                Do::Lock(0),
                Do::Lock(1),
                Do::Read(2),
                Do::Unlock(1),
                Do::Unlock(0),
            ],
            locked(&[
                Do::TimedWait(0, 0),
                Do::Write(2, Value::Number(2)),
                Do::AtomicWrite(2, one),
            ]),
        ],
    ]
}

#[test]
fn examples_lose_nothing() {
    for threads in examples() {
        for (split, leaves) in [(false, false), (true, false), (false, true)] {
            let model = Model {
                threads: threads.clone(),
                memory: vec![0; 3],
                semaphores: vec![0, 0],
                split,
                leaves,
                runs: 0,
            };
            let truth = truth(&model);
            for bound in [Bound::None, Bound::Rising(None)] {
                agrees(&model, &truth, Choice::Dpor, bound)
                    .unwrap_or_else(|error| panic!("{model:?}: {error}"));
            }
            agrees(&model, &truth, Choice::Brute, Bound::None)
                .unwrap_or_else(|error| panic!("{model:?}: {error}"));
        }
    }
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
