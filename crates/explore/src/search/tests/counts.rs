//! How many runs it takes where the number is known.

use std::time::Duration;

use super::{
    super::{Bound, Budget, Choice, Outcome, Revisits, Search},
    instruction::{Do, Value},
    model::Model,
};

fn search(model: &Model, choice: Choice) -> Outcome {
    let search = Search {
        choice,
        ..Search::default()
    };
    let Ok(outcome) = search.run(&mut model.clone(), || Duration::ZERO, |_| true);
    assert!(outcome.exhausted(), "{:?}", outcome.cuts);
    outcome
}

/// How many runs were needed, and how many were made for nothing.
fn runs(model: &Model) -> (u64, u64) {
    let progress = search(model, Choice::Dpor).progress;
    assert_eq!(progress.refused, 0);
    (progress.executions - progress.redundant, progress.redundant)
}

fn model(threads: Vec<Vec<Do>>, variables: usize) -> Model {
    Model {
        threads,
        memory: vec![0; variables],
        ..Model::default()
    }
}

#[test]
fn writers_of_different_variables_need_one_run() {
    for writers in 1..6 {
        let threads = (0..writers)
            .map(|at| vec![Do::Write(at, Value::Number(1)), Do::Read(at)])
            .collect();
        assert_eq!(runs(&model(threads, writers as usize)), (1, 0));
    }
}

#[test]
fn one_writer_and_readers_need_two_runs_for_each_reader() {
    // Readers read x first, so that each of them comes before or after the write.
    for readers in 1..9 {
        let mut threads = vec![vec![Do::Write(0, Value::Number(1))]];
        threads.extend((0..readers).map(|at| vec![Do::Read(at + 1), Do::Read(0)]));
        let model = model(threads, readers as usize + 1);
        assert_eq!(runs(&model), (1 << readers, 0), "{readers} readers");
    }
}

#[test]
fn sections_of_one_lock_come_in_every_order() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24)] {
        let section = vec![Do::Lock(0), Do::Add(0), Do::Unlock(0)];
        assert_eq!(runs(&model(vec![section; threads], 1)), (orders, 0));
    }
}

/// `lastzero` of the literature: one thread looks for the last zero, the others each copy their neighbour plus one. Variable 0 stays zero.
fn lastzero(threads: u64) -> Model {
    let mut looks = Vec::new();
    for at in (0..=threads).rev() {
        // Goes on only while what was read is not zero.
        looks.push(Do::Read(at));
        if at > 0 {
            let rest = 2 * at as usize - 1;
            looks.push(Do::Unless(0, 1));
            looks.push(Do::Skip(rest + at as usize - 1));
        }
    }
    let mut all = vec![looks];
    all.extend((1..=threads).map(|at| vec![Do::Read(at - 1), Do::Write(at, Value::Next)]));
    model(all, threads as usize + 1)
}

#[test]
fn lastzero_needs_as_many_runs_as_there_are_classes() {
    for threads in [2, 3, 4, 5, 6, 7, 10] {
        // What the literature gives: 64 for 5, 3328 for 10.
        let classes = (threads + 3) << (threads - 2);
        assert_eq!(runs(&lastzero(threads)), (classes, 0), "{threads} threads");
    }
}

/// `indexer` of the literature: each thread puts four numbers into one hash table. Up to eleven threads do not meet.
fn indexer(threads: u64) -> Model {
    let thread = |number: u64| {
        (1..=4)
            .flat_map(|message| {
                let value = message * 11 + number;
                let at = move |step| (value * 7 + step) % 128;
                [
                    Do::Cas(at(0), value, 2),
                    Do::Cas(at(1), value, 1),
                    Do::Cas(at(2), value, 0),
                ]
            })
            .collect()
    };
    model((0..threads).map(thread).collect(), 128)
}

#[test]
fn indexer_needs_as_many_runs_as_there_are_classes() {
    for (threads, classes) in [(11, 1), (12, 8), (13, 64), (14, 512)] {
        assert_eq!(runs(&indexer(threads)), (classes, 0));
    }
}

/// How many runs a search makes that cuts at states that are known, and how many of them it cuts.
fn runs_with_cuts(model: &Model, choice: Choice, bound: Bound) -> (u64, u64) {
    let search = Search {
        choice,
        bound,
        revisits: Revisits::Cut,
        ..Search::default()
    };
    let Ok(outcome) = search.run(&mut model.clone(), || Duration::ZERO, |_| true);
    assert!(outcome.exhausted() && !outcome.progress.hidden);
    (outcome.progress.executions, outcome.progress.cut)
}

/// Threads that each change something of their own, all in sections of one lock.
fn sections(threads: u64) -> Model {
    let section = |own| vec![Do::Lock(0), Do::Write(own, Value::Number(1)), Do::Unlock(0)];
    model((0..threads).map(section).collect(), threads as usize)
}

#[test]
fn cuts_leave_a_run_for_each_way_between_sets_of_sections() {
    for (threads, orders) in [(3, 6), (4, 24), (5, 120), (6, 720)] {
        let model = sections(threads);
        assert_eq!(runs(&model), (orders, 0));
        // There are as many states between sections as there are sets of threads that are through, and as many steps as pairs of a set and a
        // thread that is not. Each step beyond those that reach a state for the first time is a run.
        let (sets, steps) = (1 << threads, threads << (threads - 1));
        for bound in [Bound::None, Bound::Rising(None)] {
            let (made, cut) = runs_with_cuts(&model, Choice::Dpor, bound);
            assert_eq!(made, steps - sets + 2, "{threads} threads");
            assert!(cut > 0);
        }
    }
}

#[test]
fn cuts_leave_fewer_of_all_orders() {
    let model = sections(3);
    let all = search(&model, Choice::Brute).progress.executions;
    let (made, cut) = runs_with_cuts(&model, Choice::Brute, Bound::None);
    assert!(made < all / 3 && cut > 0, "{made} of {all}");
}

#[test]
fn brute_force_makes_all_orders() {
    // Two threads of three transitions each, the last of them its end.
    let thread = vec![Do::Add(0), Do::Add(0)];
    let progress = search(&model(vec![thread; 2], 1), Choice::Brute).progress;
    assert_eq!(progress.executions - progress.refused, 20);
}

#[test]
fn a_budget_is_kept() {
    let thread = vec![Do::Add(0), Do::Add(0), Do::Add(0)];
    let search = Search {
        budget: Budget {
            executions: Some(7),
            ..Budget::default()
        },
        ..Search::default()
    };
    let mut model = model(vec![thread; 3], 1);
    let Ok(outcome) = search.run(&mut model, || Duration::ZERO, |_| true);
    assert_eq!((outcome.progress.executions, model.runs), (7, 7));
    assert!(!outcome.exhausted());
}
