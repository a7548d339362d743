//! What the search finds is what there is to be found.

use std::{collections::BTreeSet, time::Duration};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use super::{
    super::{Bound, Budget, Choice, Cut, Ending, Outcome, Revisits, Search},
    generate::{locked_model, model},
    instruction::{Do, Value},
    model::Model,
    truth::{Truth, truth},
};

/// Larger programs are passed over.
const MOST_RUNS: u64 = 20_000;

fn search(model: &Model, choice: Choice, bound: Bound, revisits: Revisits) -> Outcome {
    let search = Search {
        choice,
        bound,
        revisits,
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

/// Compares a search with the truth. Says how many runs were cut off, and how many were made.
fn agrees(
    model: &Model,
    truth: &Truth,
    choice: Choice,
    bound: Bound,
    revisits: Revisits,
) -> Result<(u64, u64), TestCaseError> {
    let outcome = search(model, choice, bound, revisits);
    let counts = (outcome.progress.cut, outcome.progress.executions);
    if let Some(Cut::Executions(_)) = outcome.cuts.first() {
        return Ok(counts);
    }
    prop_assert!(outcome.exhausted(), "{:?}", outcome.cuts);
    prop_assert!(!outcome.progress.hidden);
    prop_assert_eq!(races(&outcome), truth.races.clone());
    prop_assert!(races_stand(&outcome, model));
    prop_assert_eq!(deaths(&outcome, model), truth.deaths.clone());
    if model.leaves {
        prop_assert!(outcomes(&outcome).is_subset(&truth.outcomes));
    } else {
        prop_assert_eq!(outcomes(&outcome), truth.outcomes.clone());
    }
    Ok(counts)
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
        // Two waiters that always come in one order: the later one is woken, too.
        vec![
            locked(&[Do::Post(0), Do::Wait(0, 0), Do::Write(0, one)]),
            [
                vec![Do::Take(0)],
                locked(&[Do::Wait(0, 0), Do::Write(1, one)]),
            ]
            .concat(),
            locked(&[Do::Notify(0)]),
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
        // A program that dies while others were still to do something.
        vec![
            vec![
                Do::Write(1, Value::Next),
                Do::Fork(1),
                Do::Fork(2),
                Do::Read(1),
                Do::DieIf(1),
                Do::Write(0, Value::Next),
                Do::Join(1),
                Do::Join(2),
                Do::Read(0),
            ],
            vec![Do::Read(2)],
            vec![Do::Add(1), Do::WriteBoth(1)],
        ],
        // Readers and writers of one lock, and one who asks for none.
        vec![
            vec![Do::Add(0)],
            locked(&[Do::Read(0), Do::Write(0, Value::Next)]),
            [
                locked(&[Do::Read(0)]),
                vec![Do::ReadLock(0), Do::Write(0, one), Do::ReadUnlock(0)],
            ]
            .concat(),
            vec![
                Do::ReadLock(0),
                Do::Read(0),
                Do::Unless(0, 1),
                Do::Write(0, Value::Next),
                Do::ReadUnlock(0),
            ],
        ],
        // What lies ahead of a state that is known begins with somebody who sleeps.
        vec![
            vec![
                Do::Write(1, one),
                Do::Read(0),
                Do::ReadLock(0),
                Do::ReadUnlock(0),
            ],
            vec![
                Do::Lock(0),
                Do::Unlock(0),
                Do::TryTake(0),
                Do::Unless(1, 1),
                Do::Read(1),
            ],
            vec![Do::Post(0)],
        ],
        // States that are left while turns are put off.
        vec![
            vec![Do::WriteBoth(0), Do::Add(0)],
            vec![Do::Write(2, one), Do::AtomicRead(1)],
            vec![
                Do::AtomicWrite(2, Value::Number(2)),
                Do::AtomicRead(0),
                Do::Unless(0, 1),
                Do::Write(0, one),
            ],
        ],
        // Whoever does it once, both write before or after somebody else.
        vec![
            vec![
                Do::Write(0, Value::Number(3)),
                Do::Once(0, 2),
                Do::Write(0, Value::Number(3)),
                Do::Done(0),
            ],
            vec![Do::Once(0, 2), Do::Write(0, Value::Number(3)), Do::Done(0)],
            vec![Do::Read(0), Do::Write(0, Value::Next)],
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
            for revisits in [Revisits::Explore, Revisits::Cut] {
                for (choice, bound) in [
                    (Choice::Dpor, Bound::None),
                    (Choice::Dpor, Bound::Rising(None)),
                    (Choice::Brute, Bound::None),
                ] {
                    agrees(&model, &truth, choice, bound, revisits)
                        .unwrap_or_else(|error| panic!("{model:?}: {error}"));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn reduction_loses_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None, Revisits::Explore)?;
    }

    #[test]
    fn rising_bounds_lose_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::Rising(None), Revisits::Explore)?;
    }

    #[test]
    fn a_program_that_leaves_early_loses_nothing(mut model in model()) {
        model.leaves = true;
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None, Revisits::Explore)?;
    }

    #[test]
    fn cuts_lose_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None, Revisits::Cut)?;
    }

    #[test]
    fn cuts_within_rising_bounds_lose_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::Rising(None), Revisits::Cut)?;
    }

    #[test]
    fn cuts_of_a_program_that_leaves_early_lose_nothing(mut model in model()) {
        model.leaves = true;
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None, Revisits::Cut)?;
    }

    #[test]
    fn locked_sections_lose_nothing(model in locked_model()) {
        agrees(&model, &truth(&model), Choice::Dpor, Bound::None, Revisits::Explore)?;
    }

    #[test]
    fn cuts_among_locked_sections_lose_nothing(model in locked_model()) {
        let truth = truth(&model);
        for bound in [Bound::None, Bound::Rising(None)] {
            agrees(&model, &truth, Choice::Dpor, bound, Revisits::Cut)?;
        }
    }

    #[test]
    fn cuts_of_all_orders_lose_nothing(model in model()) {
        agrees(&model, &truth(&model), Choice::Brute, Bound::None, Revisits::Cut)?;
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(400)
}

#[test]
fn cuts_happen() {
    let mut runner = TestRunner::deterministic();
    let mut total = [(0, 0); 2];
    for _ in 0..cases() {
        let tree = locked_model().new_tree(&mut runner).expect("a program");
        for (total, revisits) in total.iter_mut().zip([Revisits::Explore, Revisits::Cut]) {
            let progress = search(&tree.current(), Choice::Dpor, Bound::None, revisits).progress;
            *total = (total.0 + progress.cut, total.1 + progress.executions);
        }
    }
    let [(none, all), (cuts, fewer)] = total;
    assert!(none == 0 && cuts > 0 && fewer < all, "{total:?}");
}
