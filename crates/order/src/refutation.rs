//! A checker of proofs that shares nothing with the solver but the words.
//!
//! It goes through the steps once. A cycle is checked by looking at each of its steps; a lemma that
//! follows is checked by reverse unit propagation (Goldberg and Novikov, DATE 2003): deny its
//! literals, then look again and again at all clauses for one with a single literal left, until some
//! clause has none. That is slow and plain on purpose.

use std::collections::{BTreeMap, BTreeSet};

use crate::literal::Lit;
use crate::proof::{Proof, Step};
use crate::stations::Node;

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A lemma's cycle is none.
    #[error("step {step}: {before:?} need not come before {after:?}")]
    NoCycle {
        /// Which step of the proof.
        step: usize,
        /// The node that was said to be earlier.
        before: Node,
        /// The node that was said to be later.
        after: Node,
    },
    /// A cycle without nodes.
    #[error("step {0}: a cycle without nodes")]
    EmptyCycle(usize),
    /// A lemma that does not follow.
    #[error("step {0}: does not follow from what came before")]
    DoesNotFollow(usize),
    /// The proof is fine and does not prove what it should.
    #[error("the proof does not rule out these assumptions")]
    ProvesLess,
}

/// Checks that `proof` shows that the literals of `core` cannot all be true.
pub fn check(proof: &Proof, core: &[Lit]) -> Result<(), Flaw> {
    let mut edges = BTreeSet::new();
    let mut meanings = BTreeMap::new();
    let mut clauses: Vec<BTreeSet<Lit>> = vec![BTreeSet::from([Lit::TRUE])];
    for (number, step) in proof.steps().iter().enumerate() {
        match step {
            Step::Edge { before, after } => {
                edges.insert((*before, *after));
            }
            Step::Meaning { lit, before, after } => {
                meanings.insert(*lit, (*before, *after));
            }
            Step::Clause(clause) => clauses.push(clause.iter().copied().collect()),
            Step::Cycle { lemma, nodes } => {
                if nodes.is_empty() {
                    return Err(Flaw::EmptyCycle(number));
                }
                let denied: BTreeSet<(Node, Node)> = lemma
                    .iter()
                    .filter_map(|&lit| meanings.get(&!lit).copied())
                    .collect();
                for (k, &before) in nodes.iter().enumerate() {
                    let after = nodes[(k + 1) % nodes.len()];
                    let in_chain =
                        before.chain() == after.chain() && before.index() < after.index();
                    let pair = (before, after);
                    if !in_chain && !edges.contains(&pair) && !denied.contains(&pair) {
                        return Err(Flaw::NoCycle {
                            step: number,
                            before,
                            after,
                        });
                    }
                }
                clauses.push(lemma.iter().copied().collect());
            }
            Step::Follows(lemma) => {
                if !contradictory(&clauses, lemma.iter().map(|&lit| !lit)) {
                    return Err(Flaw::DoesNotFollow(number));
                }
                clauses.push(lemma.iter().copied().collect());
            }
        }
    }
    if contradictory(&clauses, core.iter().copied()) {
        Ok(())
    } else {
        Err(Flaw::ProvesLess)
    }
}

/// Whether `facts` contradict the clauses by unit propagation alone.
fn contradictory(clauses: &[BTreeSet<Lit>], facts: impl Iterator<Item = Lit>) -> bool {
    let mut holds: BTreeSet<Lit> = facts.collect();
    if holds.iter().any(|&lit| holds.contains(&!lit)) {
        return true;
    }
    loop {
        let mut grew = false;
        for clause in clauses {
            if clause.iter().any(|lit| holds.contains(lit)) {
                continue;
            }
            let mut left = clause.iter().filter(|&&lit| !holds.contains(&!lit));
            match (left.next(), left.next()) {
                (None, _) => return true,
                (Some(&lit), None) => {
                    holds.insert(lit);
                    grew = true;
                }
                _ => {}
            }
        }
        if !grew {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(chain: u32, index: u32) -> Node {
        Node { chain, index }
    }

    fn proof(steps: Vec<Step>) -> Proof {
        let mut proof = Proof::default();
        for step in steps {
            proof.push(step, 0);
        }
        proof
    }

    #[test]
    fn a_plain_proof_is_taken() {
        let (a, b) = (Lit::positive(1), Lit::positive(2));
        let steps = vec![
            Step::Clause(vec![a, b]),
            Step::Clause(vec![a, !b]),
            Step::Clause(vec![!a, b]),
            Step::Follows(vec![b]),
        ];
        assert_eq!(check(&proof(steps.clone()), &[!a]), Ok(()));
        assert_eq!(check(&proof(steps.clone()), &[]), Err(Flaw::ProvesLess));
        assert_eq!(
            check(&proof(steps[1..].to_vec()), &[!a]),
            Err(Flaw::DoesNotFollow(2))
        );
    }

    #[test]
    fn a_cycle_needs_every_step() {
        let lit = Lit::positive(1);
        let meaning = Step::Meaning {
            lit,
            before: node(0, 5),
            after: node(1, 1),
        };
        let edge = Step::Edge {
            before: node(1, 3),
            after: node(0, 2),
        };
        let nodes = vec![node(0, 5), node(1, 1), node(1, 3), node(0, 2)];
        let lemma = Step::Cycle {
            lemma: vec![!lit],
            nodes: nodes.clone(),
        };
        let steps = vec![meaning.clone(), edge, lemma.clone()];
        assert_eq!(check(&proof(steps), &[lit]), Ok(()));
        let flaw = Flaw::NoCycle {
            step: 1,
            before: node(1, 3),
            after: node(0, 2),
        };
        assert_eq!(check(&proof(vec![meaning, lemma]), &[lit]), Err(flaw));
        let empty = Step::Cycle {
            lemma: vec![!lit],
            nodes: vec![],
        };
        assert_eq!(check(&proof(vec![empty]), &[lit]), Err(Flaw::EmptyCycle(0)));
    }
}
