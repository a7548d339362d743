//! Verdicts equal brute force; every "solved" is a solution, every "impossible" has a proof.

use crate::oracle::{Problem, Told, Word, problem, words};
use deadheat_order::{Limit, Lit, Outcome, Solver, refutation};
use proptest::prelude::*;

fn ask(told: &mut Told, problem: &Problem, assumptions: &[Word]) -> Result<(), TestCaseError> {
    let lits = told.lits(problem, assumptions);
    let possible = problem.is_possible(assumptions);
    match told.solver.solve(&lits, &Limit::default()) {
        Outcome::Solved(model) => {
            prop_assert!(possible, "solved, but impossible");
            prop_assert_eq!(told.solver.verify(&model, &lits), Ok(()));
            prop_assert!(problem.is_solved_by(&model, &told.bools, assumptions));
        }
        Outcome::Impossible(core) => {
            prop_assert!(!possible, "called impossible, but possible");
            let named: Vec<Word> = assumptions
                .iter()
                .zip(&lits)
                .filter(|(_, lit)| core.contains(lit))
                .map(|(&word, _)| word)
                .collect();
            prop_assert!(core.iter().all(|lit| lits.contains(lit)));
            prop_assert!(!problem.is_possible(&named), "the core is possible");
            if let Some(proof) = told.solver.proof() {
                prop_assert_eq!(refutation::check(proof, &core), Ok(()));
            }
        }
        Outcome::GaveUp(why) => prop_assert!(false, "gave up: {why:?}"),
    }
    Ok(())
}

fn with_assumptions() -> impl Strategy<Value = (Problem, Vec<Word>)> {
    problem().prop_flat_map(|problem| {
        let assumptions = words(problem.node_count(), problem.bools, 0..4);
        (Just(problem), assumptions)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn verdicts_are_right((problem, assumptions) in with_assumptions()) {
        let mut told = Told::new(&problem, Solver::new(&problem.chains));
        ask(&mut told, &problem, &assumptions)?;
        ask(&mut told, &problem, &[])?;
    }

    #[test]
    fn refutations_hold((problem, assumptions) in with_assumptions()) {
        let mut told = Told::new(&problem, Solver::new(&problem.chains).recording_proof());
        ask(&mut told, &problem, &assumptions)?;
        ask(&mut told, &problem, &[])?;
    }

    #[test]
    fn reachability_is_that_of_the_edges((problem, assumptions) in with_assumptions()) {
        let mut told = Told::new(&problem, Solver::new(&problem.chains));
        let lits = told.lits(&problem, &assumptions);
        if let Outcome::Solved(model) = told.solver.solve(&lits, &Limit::default()) {
            let edges: Vec<_> = model
                .edges()
                .map(|(x, y)| (problem.number(x), problem.number(y)))
                .collect();
            for x in 0..problem.node_count() {
                let node_x = told.node(&problem, x);
                for y in 0..problem.node_count() {
                    // x comes before y if y before x would close a cycle.
                    let mut turned = edges.clone();
                    turned.push((y, x));
                    let before = x != y && !problem.is_acyclic(&turned);
                    let node_y = told.node(&problem, y);
                    prop_assert_eq!(model.is_before(node_x, node_y), before);
                    let downset = model.downset(node_y);
                    prop_assert_eq!(downset[node_x.chain() as usize] > node_x.index(), before);
                }
            }
            let order = model.linear(|node| u64::from(node.index()));
            prop_assert_eq!(order.len(), model.stations().len());
            for (x, y) in model.edges() {
                let place = |node| order.iter().position(|&other| other == node);
                prop_assert!(place(x) < place(y));
            }
        }
    }
}

/// What can be done to a solver between questions.
#[derive(Clone, Debug)]
enum Action {
    Clause(Vec<Word>),
    Edge(usize, usize),
    Solve(Vec<Word>),
    /// Solve with the assumptions of the last time.
    Again,
    Mark,
    Forget,
}

fn actions() -> impl Strategy<Value = (Problem, Vec<Action>)> {
    problem().prop_flat_map(|mut problem| {
        problem.clauses.truncate(4);
        let (nodes, bools) = (problem.node_count(), problem.bools);
        let action = prop_oneof![
            6 => words(nodes, bools, 1..=4).prop_map(Action::Clause),
            1 => (0..nodes, 0..nodes).prop_map(|(x, y)| Action::Edge(x, y)),
            3 => words(nodes, bools, 0..3).prop_map(Action::Solve),
            3 => Just(Action::Again),
            1 => Just(Action::Mark),
            1 => Just(Action::Forget),
        ];
        (Just(problem), proptest::collection::vec(action, 1..30))
    })
}

fn act(mut problem: Problem, actions: Vec<Action>, solver: Solver) -> Result<(), TestCaseError> {
    let mut told = Told::new(&problem, solver);
    let mut marks = Vec::new();
    let mut assumed = Vec::new();
    for action in actions {
        match action {
            Action::Clause(clause) => {
                told.add_clause(&problem, &clause);
                problem.clauses.push(clause);
            }
            Action::Edge(x, y) => {
                let mut more = problem.edges.clone();
                more.push((x, y));
                let acyclic = x != y && problem.is_acyclic(&more);
                let (from, to) = (told.node(&problem, x), told.node(&problem, y));
                prop_assert_eq!(told.solver.add_edge(from, to).is_ok(), acyclic);
                if acyclic {
                    problem.edges = more;
                }
            }
            Action::Solve(assumptions) => {
                assumed = assumptions;
                ask(&mut told, &problem, &assumed)?;
            }
            Action::Again => ask(&mut told, &problem, &assumed)?,
            Action::Mark => marks.push((told.solver.mark(), problem.clone())),
            Action::Forget => {
                if let Some((mark, then)) = marks.pop() {
                    told.solver.forget_since(mark);
                    problem = then;
                }
            }
        }
    }
    ask(&mut told, &problem, &[])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn incremental_use_equals_a_fresh_start((problem, actions) in actions()) {
        let solver = Solver::new(&problem.chains);
        act(problem, actions, solver)?;
    }

    #[test]
    fn incremental_refutations_hold((problem, actions) in actions()) {
        let solver = Solver::new(&problem.chains).recording_proof();
        act(problem, actions, solver)?;
    }
}

#[test]
fn literals_are_made_once() {
    let mut solver = Solver::new(&[3, 3]);
    let (x, y) = (solver.node(0, 1), solver.node(1, 1));
    let lit = solver.before(x, y);
    assert_eq!(solver.before(x, y), lit);
    assert_ne!(solver.before(y, x), lit);
    solver.add_edge(x, y).unwrap();
    let (early, late) = (solver.node(0, 0), solver.node(1, 2));
    assert_eq!(solver.before(early, late), Lit::TRUE);
    assert_eq!(solver.before(late, early), Lit::FALSE);
}
