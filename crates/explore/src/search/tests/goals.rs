//! Searches that were sent for something, and programs that are not what they should be.

use std::time::Duration;

use deadheat_trace::{Op, Order};

use super::{
    super::{
        Bound, Budget, Cut, Deed, Ending, Execution, Goal, Manner, Outcome, Program, Search, Turn,
    },
    instruction::{Do, Value},
    model::Model,
};

fn run<P: Program>(search: &Search, program: &mut P) -> Outcome
where
    P::Error: std::fmt::Debug,
{
    search
        .run(program, || Duration::ZERO, |_| true)
        .expect("models run")
}

fn access(op: Op, at: u64) -> Deed {
    Deed {
        op,
        object: at * 4,
        size: 4,
        order: Order::SeqCst,
        tried: false,
        pc: 0,
        own: 0,
        value: 0,
    }
}

/// Thread 0 writes x. Thread 1 writes it as well, but only if it does not get the lock that thread 2 holds for a moment.
fn rare() -> Model {
    Model {
        threads: vec![
            vec![Do::Write(0, Value::Number(1))],
            vec![
                Do::Read(1),
                Do::TryLock(0, 2),
                Do::Unlock(0),
                Do::Skip(1),
                Do::Write(0, Value::Number(2)),
            ],
            vec![Do::Read(1), Do::Lock(0), Do::Read(2), Do::Unlock(0)],
        ],
        memory: vec![0; 3],
        ..Model::default()
    }
}

fn parked(op: Op) -> Search {
    Search {
        goal: Goal::Access {
            thread: 0,
            deed: access(op, 0),
        },
        manner: Manner {
            parked: Some(0),
            ..Manner::default()
        },
        ..Search::default()
    }
}

#[test]
fn an_access_that_only_some_orders_have_is_reached() {
    let model = rare();
    let outcome = run(&parked(Op::Write), &mut model.clone());
    let reached = outcome.reached.expect("it can be reached");
    assert_eq!((reached.thread, reached.deed.op), (1, Op::Write));
    assert!(!reached.turns.iter().any(|turn| turn.thread == 0));
    let mut state = model.start();
    for turn in &reached.turns {
        assert!(model.ways(&state, turn.thread) > turn.variant);
        model.step(&mut state, turn.thread, turn.variant);
    }
    assert_eq!(
        model.next(&state, 1).map(|deed| deed.pc),
        Some(reached.deed.pc)
    );
}

#[test]
fn atomics_on_both_sides_are_no_goal() {
    let mut model = rare();
    model.threads[1][4] = Do::AtomicWrite(0, Value::Number(2));
    let outcome = run(&parked(Op::AtomicWrite), &mut model);
    assert_eq!(outcome.reached, None);
    assert!(outcome.exhausted());
}

#[test]
fn a_parked_thread_that_others_wait_for_is_no_deadlock() {
    let mut model = Model {
        threads: vec![vec![Do::Post(0)], vec![Do::Take(0), Do::Read(0)]],
        memory: vec![0],
        semaphores: vec![0],
        ..Model::default()
    };
    let outcome = run(&parked(Op::Write), &mut model);
    assert_eq!((outcome.reached, outcome.bad_ends.len()), (None, 0));
}

#[test]
fn a_race_on_given_bytes_is_reached_with_both_threads() {
    let search = Search {
        goal: Goal::Race { object: 0, size: 4 },
        bound: Bound::Rising(None),
        ..Search::default()
    };
    let outcome = run(&search, &mut rare());
    let reached = outcome.reached.expect("it can be reached");
    let other = reached.other.expect("two threads");
    let mut threads = [reached.thread, other.0];
    threads.sort_unstable();
    assert_eq!(threads, [0, 1]);
    let search = Search {
        goal: Goal::Race { object: 8, size: 4 },
        ..Search::default()
    };
    assert!(run(&search, &mut rare()).exhausted());
}

#[test]
fn two_locks_in_two_orders_are_one_deadlock() {
    let both = |a, b| {
        vec![
            Do::Lock(a),
            Do::Lock(b),
            Do::Add(0),
            Do::Unlock(b),
            Do::Unlock(a),
        ]
    };
    let mut model = Model {
        threads: vec![both(0, 1), both(1, 0)],
        memory: vec![0],
        ..Model::default()
    };
    let outcome = run(&Search::default(), &mut model);
    assert!(outcome.exhausted());
    let [end] = &outcome.bad_ends[..] else {
        panic!("{:?}", outcome.bad_ends);
    };
    assert_eq!(end.ending, Ending::Deadlock);
    let places = end.places.iter().map(|(thread, site)| (*thread, site.pc));
    assert!(places.eq([(0, 1), (1, 1001)]));
    assert_eq!(outcome.progress.executions, 3);
}

#[test]
fn a_bound_says_what_it_has_left_out() {
    // The second write is lost only if a thread is interrupted between its read and its write.
    let add = vec![Do::Read(0), Do::Write(0, Value::Next)];
    let model = Model {
        threads: vec![add.clone(), add],
        memory: vec![0],
        ..Model::default()
    };
    let search = |most| Search {
        bound: Bound::Rising(most),
        ..Search::default()
    };
    let none = run(&search(Some(0)), &mut model.clone());
    assert!(matches!(none.cuts[..], [Cut::Preemptions { bound: 0, .. }]));
    let all = run(&search(None), &mut model.clone());
    assert!(all.exhausted());
    assert!(none.outcomes.len() < all.outcomes.len());
}

#[test]
fn runs_that_are_too_long_are_said() {
    let search = Search {
        manner: Manner {
            longest: 3,
            ..Manner::default()
        },
        ..Search::default()
    };
    let outcome = run(&search, &mut rare());
    assert!(matches!(outcome.cuts[..], [Cut::Long(_)]));
}

#[test]
fn time_and_whoever_watches_can_end_it() {
    let add = vec![Do::Add(0), Do::Add(0)];
    let model = Model {
        threads: vec![add; 3],
        memory: vec![0],
        ..Model::default()
    };
    let search = Search {
        budget: Budget {
            time: Some(Duration::from_secs(5)),
            ..Budget::default()
        },
        ..Search::default()
    };
    let mut second = 0;
    let clock = || {
        second += 1;
        Duration::from_secs(second)
    };
    let Ok(outcome) = search.run(&mut model.clone(), clock, |_| true);
    assert_eq!(outcome.cuts, [Cut::Time(Duration::from_secs(5))]);
    assert_eq!(outcome.progress.executions, 4);
    let stop = |progress: &super::super::Progress| progress.executions < 2;
    let Ok(outcome) = Search::default().run(&mut model.clone(), || Duration::ZERO, stop);
    assert_eq!(outcome.cuts, [Cut::Stopped]);
    assert_eq!(outcome.progress.executions, 2);
}

/// A program that does something else every third time.
struct Fickle(Model);

impl Program for Fickle {
    type Error = std::convert::Infallible;

    fn run(&mut self, turns: &[Turn], manner: &Manner) -> Result<Execution, Self::Error> {
        if self.0.runs % 3 == 2 {
            let mut other = self.0.clone();
            other.threads[0][0] = Do::Post(0);
            other.threads[1][0] = Do::Post(0);
            self.0.runs += 1;
            return other.run(turns, manner);
        }
        self.0.run(turns, manner)
    }
}

#[test]
fn a_program_that_changes_its_mind_is_said() {
    let add = vec![Do::Add(0), Do::Add(0)];
    let mut program = Fickle(Model {
        threads: vec![add; 3],
        memory: vec![0],
        semaphores: vec![0],
        ..Model::default()
    });
    let outcome = run(&Search::default(), &mut program);
    assert!(
        matches!(outcome.cuts[..], [Cut::NotDeterministic(_)]),
        "{:?}",
        outcome.cuts
    );
}

/// All of a program is done by one function of a library, which is called from everywhere.
struct Library(Model);

impl Program for Library {
    type Error = std::convert::Infallible;

    fn run(&mut self, turns: &[Turn], manner: &Manner) -> Result<Execution, Self::Error> {
        let mut execution = self.0.run(turns, manner)?;
        let done = execution
            .transitions
            .iter_mut()
            .flat_map(|one| &mut one.deeds);
        let next = execution
            .pending
            .iter_mut()
            .filter_map(|one| one.deed.as_mut());
        for deed in done.chain(next) {
            deed.own = deed.pc as u32 + 1;
            deed.pc = 0;
        }
        Ok(execution)
    }
}

#[test]
fn what_a_library_does_for_several_lines_is_told_apart() {
    let one = |number| Do::Write(0, Value::Number(number));
    let model = Model {
        threads: vec![vec![one(1), one(2)], vec![Do::Read(0), one(3)]],
        memory: vec![0],
        ..Model::default()
    };
    let plain = run(&Search::default(), &mut model.clone());
    let called = run(&Search::default(), &mut Library(model));
    assert_eq!(plain.races.len(), 4);
    assert_eq!(called.races.len(), 4);
    let locks = |first, second| vec![Do::Lock(first), Do::Lock(second)];
    let model = Model {
        threads: vec![locks(0, 1), locks(1, 0)],
        ..Model::default()
    };
    let plain = run(&Search::default(), &mut model.clone());
    let called = run(&Search::default(), &mut Library(model));
    assert!(plain.bad_ends.len() > 1);
    assert_eq!(called.bad_ends.len(), plain.bad_ends.len());
}
