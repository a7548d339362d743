//! Whether a model is what it says: checked from scratch, by looking at everything.

use std::collections::{BTreeMap, BTreeSet};

use crate::literal::Lit;
use crate::model::Model;
use crate::solver::Solver;
use crate::stations::Node;

/// What is wrong with a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A clause has no literal that is true.
    #[error("no literal of {0:?} is true")]
    Clause(Vec<Lit>),
    /// An edge that must be there goes against the linear order.
    #[error("{before:?} does not come before {after:?}")]
    Order {
        /// The node that should be earlier.
        before: Node,
        /// The node that should be later.
        after: Node,
    },
    /// An assumption is not true.
    #[error("{0:?} was assumed and is not true")]
    Assumption(Lit),
}

impl Solver {
    /// Checks that `model` satisfies the clauses that were asked for, has the `assumptions`, and
    /// that its linear order keeps to the chains, to the permanent edges and to the edges of all
    /// true literals. For a model of the last [`Solver::solve`], before anything was added.
    pub fn verify(&self, model: &Model, assumptions: &[Lit]) -> Result<(), Mismatch> {
        for (clause, _) in self.clauses.asked() {
            if !clause.iter().any(|&lit| model.is_true(lit)) {
                return Err(Mismatch::Clause(clause.to_vec()));
            }
        }
        let mut fixed = self.trail.fixed().iter();
        if let Some(&lit) = fixed.find(|&&lit| !model.is_true(lit)) {
            return Err(Mismatch::Clause(vec![lit]));
        }
        if let Some(&lit) = assumptions.iter().find(|&&lit| !model.is_true(lit)) {
            return Err(Mismatch::Assumption(lit));
        }
        self.verify_order(model)
    }

    fn verify_order(&self, model: &Model) -> Result<(), Mismatch> {
        let places: BTreeMap<Node, usize> = model.stations().iter().copied().zip(0..).collect();
        let check = |before: Node, after: Node| match (places.get(&before), places.get(&after)) {
            (Some(x), Some(y)) if x < y => Ok(()),
            _ => Err(Mismatch::Order { before, after }),
        };
        let node = |station| self.stations.node(station);
        for &(x, y, _) in self.clocks.edges() {
            check(node(x), node(y))?;
        }
        for (x, y) in self.edges_of_true_literals(model) {
            check(node(x), node(y))?;
        }
        let all: BTreeSet<Node> = (0..self.stations.len() as u32).map(node).collect();
        let mut previous: Option<Node> = None;
        for node in all {
            if let Some(previous) = previous
                && previous.chain == node.chain
            {
                check(previous, node)?;
            }
            previous = Some(node);
        }
        Ok(())
    }

    fn edges_of_true_literals<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = (u32, u32)> + 'a {
        (0..self.trail.variable_count() as u32)
            .filter(|&variable| model.is_true(Lit::positive(variable)))
            .filter_map(|variable| self.edge_of(Lit::positive(variable)))
    }
}
