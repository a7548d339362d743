//! Odd requests, limits, and many questions to one solver.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use deadheat_order::{GaveUp, Limit, Lit, Outcome, Solver};

fn solve(solver: &mut Solver, assumptions: &[Lit]) -> Outcome {
    solver.solve(assumptions, &Limit::default())
}

fn is_solved(solver: &mut Solver, assumptions: &[Lit]) -> bool {
    match solve(solver, assumptions) {
        Outcome::Solved(model) => {
            assert_eq!(solver.verify(&model, assumptions), Ok(()));
            true
        }
        Outcome::Impossible(_) => false,
        Outcome::GaveUp(why) => panic!("{why:?} without a limit"),
    }
}

/// More pigeons than holes, which takes long to refute; each pigeon may be let off by `relief`.
fn pigeons(solver: &mut Solver, holes: usize) -> Lit {
    let relief = solver.new_variable();
    let places: Vec<Vec<Lit>> = (0..=holes)
        .map(|_| (0..holes).map(|_| solver.new_variable()).collect())
        .collect();
    for pigeon in &places {
        let mut clause = pigeon.clone();
        clause.push(relief);
        solver.add_clause(&clause);
    }
    for (number, one) in places.iter().enumerate() {
        for other in &places[..number] {
            for (&here, &there) in one.iter().zip(other) {
                solver.add_clause(&[!here, !there]);
            }
        }
    }
    relief
}

#[test]
fn nothing_asked_is_solved() {
    assert!(is_solved(&mut Solver::new(&[]), &[]));
    assert!(is_solved(&mut Solver::new(&[0, 5]), &[Lit::TRUE]));
}

#[test]
fn constants_are_what_they_say() {
    let mut solver = Solver::new(&[2]);
    assert!(matches!(
        solve(&mut solver, &[Lit::FALSE]),
        Outcome::Impossible(core) if core == [Lit::FALSE]
    ));
    solver.add_clause(&[Lit::TRUE]);
    solver.add_clause(&[!Lit::FALSE, Lit::FALSE]);
    assert!(is_solved(&mut solver, &[]));
    solver.add_clause(&[Lit::FALSE]);
    assert!(!is_solved(&mut solver, &[]));
}

#[test]
fn an_empty_clause_is_impossible_until_forgotten() {
    let mut solver = Solver::new(&[2]);
    let mark = solver.mark();
    solver.add_clause(&[]);
    assert!(matches!(solve(&mut solver, &[]), Outcome::Impossible(core) if core.is_empty()));
    solver.forget_since(mark);
    assert!(is_solved(&mut solver, &[]));
}

#[test]
fn an_edge_that_closes_a_cycle_is_refused() {
    let mut solver = Solver::new(&[4, 4]);
    let node = |solver: &Solver, chain, index| solver.node(chain, index);
    let (a0, a3) = (node(&solver, 0, 0), node(&solver, 0, 3));
    let (b1, b2) = (node(&solver, 1, 1), node(&solver, 1, 2));
    assert!(solver.add_edge(a0, a0).is_err());
    assert!(solver.add_edge(a3, a0).is_err());
    solver.add_edge(a3, b1).unwrap();
    let cycle = solver.add_edge(b2, a0).unwrap_err();
    assert_eq!((cycle.before, cycle.after), (b2, a0));
    assert!(is_solved(&mut solver, &[]));
}

#[test]
fn contradicting_assumptions_are_named() {
    let mut solver = Solver::new(&[3, 3]);
    let (x, y) = (solver.node(0, 1), solver.node(1, 1));
    let (there, back) = (solver.before(x, y), solver.before(y, x));
    let free = solver.new_variable();
    let Outcome::Impossible(mut core) = solve(&mut solver, &[free, there, back]) else {
        panic!("a cycle");
    };
    core.sort_unstable();
    assert_eq!(core, [there, back]);
    assert!(is_solved(&mut solver, &[free, back]));
    let Outcome::Impossible(mut core) = solve(&mut solver, &[free, !free]) else {
        panic!("a contradiction");
    };
    core.sort_unstable();
    assert_eq!(core, [free, !free]);
}

#[test]
fn a_permanent_edge_can_contradict_what_was_learned() {
    let mut solver = Solver::new(&[3, 3]);
    let (x, y) = (solver.node(0, 1), solver.node(1, 1));
    let there = solver.before(x, y);
    solver.add_clause(&[there]);
    assert!(is_solved(&mut solver, &[]));
    let mark = solver.mark();
    solver.add_edge(y, x).unwrap();
    assert!(!is_solved(&mut solver, &[]));
    solver.forget_since(mark);
    assert!(is_solved(&mut solver, &[there]));
}

#[test]
fn ranks_decide_where_nothing_else_does() {
    for flipped in [false, true] {
        let mut solver = Solver::new(&[10, 10]);
        let (x, y) = (solver.node(0, 3), solver.node(1, 3));
        solver.suggest_rank(x, if flipped { 9 } else { 5 });
        solver.suggest_rank(y, 7);
        let (there, back) = (solver.before(x, y), solver.before(y, x));
        solver.add_clause(&[there, back]);
        let Outcome::Solved(model) = solve(&mut solver, &[]) else {
            panic!("either will do");
        };
        assert_eq!(model.is_before(y, x), flipped);
        assert_eq!(model.is_before(x, y), !flipped);
    }
}

#[test]
fn limits_are_honoured_and_the_solver_goes_on() {
    let mut solver = Solver::new(&[]);
    let relief = pigeons(&mut solver, 10);
    let past = Limit {
        deadline: Some(Instant::now()),
        ..Limit::default()
    };
    assert!(matches!(
        solver.solve(&[!relief], &past),
        Outcome::GaveUp(GaveUp::Deadline)
    ));
    let soon = Limit {
        deadline: Some(Instant::now() + Duration::from_millis(30)),
        ..Limit::default()
    };
    assert!(matches!(
        solver.solve(&[!relief], &soon),
        Outcome::GaveUp(GaveUp::Deadline)
    ));
    let few = Limit {
        conflicts: Some(10_000),
        ..Limit::default()
    };
    let before = solver.statistics();
    assert!(matches!(
        solver.solve(&[!relief], &few),
        Outcome::GaveUp(GaveUp::Conflicts)
    ));
    let after = solver.statistics();
    assert_eq!(after.conflicts - before.conflicts, 10_000);
    assert!(after.restarts > before.restarts);
    let stop = AtomicBool::new(true);
    let stopped = Limit {
        stop: Some(&stop),
        ..Limit::default()
    };
    assert!(matches!(
        solver.solve(&[!relief], &stopped),
        Outcome::GaveUp(GaveUp::Stopped)
    ));
    assert!(is_solved(&mut solver, &[]));
    assert!(is_solved(&mut solver, &[relief]));
}

#[test]
fn what_rests_on_older_things_is_still_known_after_forgetting() {
    let mut solver = Solver::new(&[]);
    let relief = pigeons(&mut solver, 6);
    let mark = solver.mark();
    let question = solver.new_variable();
    solver.add_clause(&[!question, !relief]);
    assert!(!is_solved(&mut solver, &[question]));
    let first = solver.statistics().conflicts;
    solver.forget_since(mark);
    let question = solver.new_variable();
    solver.add_clause(&[!question, !relief]);
    assert!(!is_solved(&mut solver, &[question]));
    let second = solver.statistics().conflicts - first;
    assert!(first > 50, "{first} conflicts: too easy to tell");
    assert!(second < first / 4, "{second} conflicts after {first}");
}

#[test]
fn many_questions_about_one_set_of_rules() {
    // Eight chains with critical sections of one lock: nodes 2k and 2k+1 enter and leave.
    let (chains, sections) = (8, 4);
    let mut solver = Solver::new(&vec![2 * sections; chains as usize]);
    let section = |chain, k| (chain, 2 * k);
    let all: Vec<(u32, u32)> = (0..chains)
        .flat_map(|chain| (0..sections).map(move |k| section(chain, k)))
        .collect();
    for (number, &(c, i)) in all.iter().enumerate() {
        for &(d, j) in all[..number].iter().filter(|other| other.0 != c) {
            let (left, right) = (solver.node(c, i), solver.node(d, j));
            let (left_end, right_end) = (solver.node(c, i + 1), solver.node(d, j + 1));
            let clause = [
                solver.before(left_end, right),
                solver.before(right_end, left),
            ];
            solver.add_clause(&clause);
        }
    }
    let mark = solver.mark();
    for chain in 1..chains {
        for k in 0..sections {
            // Into the first chain's section k, after it was entered and before it is left.
            let (enter, leave) = (solver.node(0, 2 * k), solver.node(0, 2 * k + 1));
            let (c, i) = section(chain, k);
            let other = solver.node(c, i);
            let next_to = solver.before(leave, other);
            solver.add_edge(enter, other).unwrap();
            assert!(is_solved(&mut solver, &[next_to]));
            assert!(is_solved(&mut solver, &[]));
            let overlaps = solver.before(other, leave);
            assert!(!is_solved(&mut solver, &[overlaps]));
            solver.forget_since(mark);
        }
    }
}

#[test]
fn what_rests_on_a_fact_goes_with_it() {
    let mut solver = Solver::new(&[]);
    let [fact, p, q] = [(); 3].map(|()| solver.new_variable());
    solver.add_clause(&[!fact, !p, q]);
    solver.add_clause(&[!fact, !p, !q]);
    let mark = solver.mark();
    solver.add_clause(&[fact]);
    assert!(!is_solved(&mut solver, &[p]));
    solver.forget_since(mark);
    assert!(is_solved(&mut solver, &[p]));
    assert!(!is_solved(&mut solver, &[p, fact]));
}

#[test]
fn what_was_shortened_by_a_clause_goes_with_it() {
    let mut solver = Solver::new(&[]);
    let [a, b, c, q] = [(); 4].map(|()| solver.new_variable());
    solver.add_clause(&[!a, !b, !c, q]);
    solver.add_clause(&[!a, !b, !c, !q]);
    let mark = solver.mark();
    // With this, "not a or not b" is all that has to be learned.
    solver.add_clause(&[!b, c]);
    assert!(!is_solved(&mut solver, &[b, a]));
    solver.forget_since(mark);
    assert!(is_solved(&mut solver, &[b, a]));
    assert!(!is_solved(&mut solver, &[b, a, c]));
}
