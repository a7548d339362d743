//! A record of how the solver came to its "impossible": for [`refutation`](crate::refutation).
//!
//! The record is a list of steps: what was asked for, and the lemmas that the solver drew from it, in
//! order. It says nothing of how a lemma was found, only what is needed to check it.

use crate::literal::Lit;
use crate::stations::Node;

/// A step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Asked for: `before` comes before `after`.
    Edge {
        /// The earlier node.
        before: Node,
        /// The later node.
        after: Node,
    },
    /// What an order literal means: if it is true, `before` comes before `after`.
    Meaning {
        /// The literal.
        lit: Lit,
        /// The earlier node.
        before: Node,
        /// The later node.
        after: Node,
    },
    /// Asked for: one of these is true.
    Clause(Vec<Lit>),
    /// A lemma: one of these is true, as they deny an edge each, and the edges would close a cycle.
    Cycle {
        /// The literals.
        lemma: Vec<Lit>,
        /// The cycle: each node comes before the next, and the last before the first.
        nodes: Vec<Node>,
    },
    /// A lemma: one of these is true, as denying them all leads to a contradiction by looking at
    /// single clauses only, the steps so far taken as clauses.
    Follows(Vec<Lit>),
}

/// The steps so far.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    steps: Vec<Step>,
    /// Per step: the serial of the youngest thing that it rests on.
    since: Vec<u32>,
}

impl Proof {
    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn push(&mut self, step: Step, since: u32) {
        self.steps.push(step);
        self.since.push(since);
    }

    /// Drops the steps that rest on something younger than `serial`.
    pub(crate) fn forget_since(&mut self, serial: u32) {
        let mut since = self.since.iter();
        self.steps
            .retain(|_| since.next().is_some_and(|&since| since <= serial));
        self.since.retain(|&since| since <= serial);
    }
}

impl From<Vec<Step>> for Proof {
    /// A proof of these steps, which need not hold.
    fn from(steps: Vec<Step>) -> Proof {
        let since = vec![0; steps.len()];
        Proof { steps, since }
    }
}
