//! Problems too big for brute force: every answer is certified, and damaged proofs are refused.

use crate::oracle::{Problem, Told, Word, words};
use deadheat_order::{Limit, Lit, Outcome, Solver, Step, refutation};
use proptest::prelude::*;

/// Critical sections that exclude one another, and some wishes.
fn crowded() -> impl Strategy<Value = Problem> {
    (3..=5usize, 4..=8u32).prop_flat_map(|(chains, length)| {
        let nodes = chains * length as usize;
        let section = (0..chains, 0..length as usize - 1);
        let pairs = proptest::collection::vec((section.clone(), section), 10..40);
        let wishes = proptest::collection::vec(words(nodes, 4, 1..=3), 10..50);
        (pairs, wishes).prop_map(move |(pairs, wishes)| {
            let length = length as usize;
            let exclusion = pairs.iter().filter(|(a, b)| a.0 != b.0).map(|(a, b)| {
                let (x, y) = (a.0 * length + a.1, b.0 * length + b.1);
                vec![Word::Before(x + 1, y), Word::Before(y + 1, x)]
            });
            Problem {
                chains: vec![length as u32; chains],
                bools: 4,
                edges: Vec::new(),
                clauses: exclusion.chain(wishes).collect(),
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_answer_is_certified(problem in crowded()) {
        let mut told = Told::new(&problem, Solver::new(&problem.chains).recording_proof());
        match told.solver.solve(&[], &Limit::default()) {
            Outcome::Solved(model) => {
                prop_assert_eq!(told.solver.verify(&model, &[]), Ok(()));
                prop_assert!(problem.is_solved_by(&model, &told.bools, &[]));
            }
            Outcome::Impossible(core) => {
                let proof = told.solver.proof().expect("recorded");
                prop_assert_eq!(refutation::check(proof, &core), Ok(()));
            }
            Outcome::GaveUp(why) => prop_assert!(false, "gave up: {why:?}"),
        }
    }
}

fn is_solved(told: &mut Told, problem: &Problem, assumptions: &[Lit]) -> Option<bool> {
    match told.solver.solve(assumptions, &Limit::default()) {
        Outcome::Solved(model) => {
            assert_eq!(told.solver.verify(&model, assumptions), Ok(()));
            assert!(problem.is_solved_by(&model, &told.bools, &[]));
            Some(true)
        }
        Outcome::Impossible(core) => {
            if let Some(proof) = told.solver.proof() {
                assert_eq!(refutation::check(proof, &core), Ok(()));
            }
            Some(false)
        }
        Outcome::GaveUp(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Some rules for all questions, then questions with rules and assumptions of their own, some of
    /// them added only after the solver had a first answer.
    #[test]
    fn questions_do_not_disturb_each_other(
        crowd in crowded(),
        shares in proptest::collection::vec((0..100usize, 1..30usize, 0..30usize), 1..8),
        guess in any::<(bool, bool)>(),
        records in any::<bool>(),
    ) {
        let (common, own) = crowd.clauses.split_at(crowd.clauses.len() / 2);
        let base = Problem { clauses: common.to_vec(), ..crowd.clone() };
        let mut solver = Solver::new(&base.chains);
        if records {
            solver = solver.recording_proof();
        }
        let mut told = Told::new(&base, solver);
        let mark = told.solver.mark();
        for (start, count, late) in shares {
            let mut problem = base.clone();
            for (k, clause) in own.iter().cycle().skip(start).take(count + late).enumerate() {
                if k == count {
                    let assumptions = [guess.0, guess.1].into_iter().zip(&told.bools);
                    let assumptions: Vec<Lit> = assumptions
                        .map(|(value, &lit)| if value { lit } else { !lit })
                        .collect();
                    let mut fresh = Told::new(&problem, Solver::new(&problem.chains));
                    let expected = is_solved(&mut fresh, &problem, &assumptions);
                    prop_assert_eq!(is_solved(&mut told, &problem, &assumptions), expected);
                }
                told.add_clause(&problem, clause);
                problem.clauses.push(clause.clone());
            }
            let fresh = Solver::new(&problem.chains).recording_proof();
            let mut fresh = Told::new(&problem, fresh);
            let expected = is_solved(&mut fresh, &problem, &[]);
            prop_assert!(expected.is_some());
            prop_assert_eq!(is_solved(&mut told, &problem, &[]), expected);
            told.solver.forget_since(mark);
        }
    }
}

/// Three sections, of which the first two and the last two exclude each other. If a variable is true,
/// each is entered before the next is left, around the circle; if it is false, the other way round. No
/// clause of this can be spared.
fn refuted() -> (Solver, Problem) {
    let mut problem = Problem {
        chains: vec![2, 2, 2],
        bools: 1,
        ..Problem::default()
    };
    let (a, b, c) = (0, 2, 4);
    for (x, y) in [(a, b), (b, c), (c, a)] {
        if x != c {
            let exclusion = vec![Word::Before(x + 1, y), Word::Before(y + 1, x)];
            problem.clauses.push(exclusion);
        }
        let clockwise = vec![Word::Bool(0, false), Word::Before(x, y + 1)];
        let otherwise = vec![Word::Bool(0, true), Word::Before(y, x + 1)];
        problem.clauses.extend([clockwise, otherwise]);
    }
    let mut told = Told::new(&problem, Solver::new(&problem.chains).recording_proof());
    let outcome = told.solver.solve(&[], &Limit::default());
    assert!(matches!(outcome, Outcome::Impossible(core) if core.is_empty()));
    (told.solver, problem)
}

#[test]
fn a_proof_says_what_was_asked() {
    let (solver, problem) = refuted();
    let proof = solver.proof().expect("recorded");
    assert_eq!(refutation::check(proof, &[]), Ok(()));
    let clauses = proof.steps().iter();
    let asked = clauses
        .filter(|step| matches!(step, Step::Clause(_)))
        .count();
    assert_eq!(asked, problem.clauses.len());
}

#[test]
fn a_proof_without_one_of_its_premises_is_refused() {
    let (solver, _) = refuted();
    let proof = solver.proof().expect("recorded");
    let mut damaged = 0;
    for k in 0..proof.steps().len() {
        if matches!(proof.steps()[k], Step::Clause(_)) {
            let mut steps = proof.steps().to_vec();
            steps.remove(k);
            damaged += 1;
            assert!(
                refutation::check(&steps.into(), &[]).is_err(),
                "step {k} is not needed"
            );
        }
    }
    assert_eq!(damaged, 8);
}

#[test]
fn a_proof_with_a_changed_lemma_is_refused() {
    let (solver, _) = refuted();
    let proof = solver.proof().expect("recorded");
    let used = |lit: Lit| {
        let mut steps = proof.steps().iter();
        steps.any(|step| matches!(step, Step::Cycle { lemma, .. } if lemma.contains(&!lit)))
    };
    for (k, step) in proof.steps().iter().enumerate() {
        let mut steps = proof.steps().to_vec();
        match step {
            Step::Cycle { lemma, nodes } => {
                for gone in 0..lemma.len() {
                    let mut lemma = lemma.clone();
                    lemma.remove(gone);
                    let nodes = nodes.clone();
                    steps[k] = Step::Cycle { lemma, nodes };
                    assert!(refutation::check(&steps.clone().into(), &[]).is_err());
                }
                for at in 0..nodes.len() {
                    let mut nodes = nodes.clone();
                    let other = (nodes[at].chain() + 1) % 3;
                    nodes[at] = solver.node(other, nodes[at].index());
                    let lemma = lemma.clone();
                    steps[k] = Step::Cycle { lemma, nodes };
                    assert!(refutation::check(&steps.clone().into(), &[]).is_err());
                }
            }
            Step::Meaning { lit, before, after } if used(*lit) => {
                steps[k] = Step::Meaning {
                    lit: *lit,
                    before: *after,
                    after: *before,
                };
                assert!(refutation::check(&steps.into(), &[]).is_err());
            }
            _ => {}
        }
    }
    // The empty clause out of nothing.
    assert!(refutation::check(&vec![Step::Follows(vec![])].into(), &[]).is_err());
}
