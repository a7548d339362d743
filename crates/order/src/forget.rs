//! Forgetting: many questions about one set of rules, each with rules of its own.
//!
//! A mark is a moment. Forgetting what came since drops stations, variables, edges and clauses that
//! were added after it, and of what was learned exactly that which rests on them.

use crate::clauses::NO_CLAUSE;
use crate::literal::Lit;
use crate::solver::Solver;

/// A moment in the life of a solver, from [`Solver::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u32);

impl Solver {
    /// The present moment, for [`Solver::forget_since`].
    pub fn mark(&mut self) -> Mark {
        self.clocks.keep_journal();
        Mark(self.serial)
    }

    /// Drops everything that was added after `mark`. Literals that were made since are void.
    pub fn forget_since(&mut self, mark: Mark) {
        let Mark(serial) = mark;
        self.undo_to(0);
        self.assumed.clear();
        let variables = self.births.partition_point(|&birth| birth <= serial);
        self.forget_fixed(serial);
        self.clauses
            .retain(variables, |header| header.since <= serial);
        if self.impossible_since.is_some_and(|since| since > serial) {
            self.impossible_since = None;
        }
        self.forget_variables(variables);
        self.stations.forget_since(serial);
        self.clocks.forget_since(serial, self.stations.len());
        self.graph.truncate(self.stations.len());
        if let Some(proof) = &mut self.proof {
            proof.forget_since(serial);
        }
    }

    /// Empties the graph, and the trail of all but what was fixed by then.
    fn forget_fixed(&mut self, serial: u32) {
        self.graph.shrink(0);
        self.permanent_taken = 0;
        let mut fixed: Vec<(Lit, u32)> = Vec::new();
        while let Some(lit) = self.trail.pop() {
            fixed.push((lit, self.trail.since(lit)));
        }
        for (lit, since) in fixed.into_iter().rev() {
            if since <= serial {
                self.trail.assign(lit, NO_CLAUSE, since);
            }
        }
        self.clause_head = 0;
        self.order_head = 0;
    }

    fn forget_variables(&mut self, variables: usize) {
        for &edge in self.edges[variables..].iter() {
            self.order_literals.remove(&edge);
        }
        self.trail.truncate(variables);
        self.activity.truncate(variables);
        self.edges.truncate(variables);
        self.births.truncate(variables);
        self.phases.truncate(variables);
        self.seen.truncate(variables);
    }
}
