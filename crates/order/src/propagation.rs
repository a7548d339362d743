//! What follows from what is assumed: through clauses, then through the order.

use crate::clauses::{ClauseId, NO_CLAUSE, Watcher};
use crate::graph::{ClosesCycle, Why};
use crate::literal::Lit;
use crate::proof;
use crate::solver::Solver;

/// What is assumed cannot hold; [`Solver::conflict`] says why.
pub(crate) struct Conflict;

impl Solver {
    /// Draws all consequences.
    pub(crate) fn propagate(&mut self) -> Result<(), Conflict> {
        loop {
            self.propagate_clauses()?;
            if self.order_head == self.trail.len() {
                return Ok(());
            }
            self.propagate_order()?;
        }
    }

    /// Makes true what a clause leaves no choice about.
    fn propagate_clauses(&mut self) -> Result<(), Conflict> {
        while self.clause_head < self.trail.len() {
            let lit = self.trail.lit(self.clause_head);
            self.clause_head += 1;
            self.statistics.propagations += 1;
            let mut watchers = std::mem::take(&mut self.clauses.watchers[lit.code()]);
            let conflict = self.visit_watchers(lit, &mut watchers);
            self.clauses.watchers[lit.code()] = watchers;
            if conflict != NO_CLAUSE {
                self.conflict.clear();
                self.conflict.extend_from_slice(self.clauses.lits(conflict));
                self.conflict_since = self.clauses.header(conflict).since;
                self.took_part(conflict);
                return Err(Conflict);
            }
        }
        Ok(())
    }

    /// `lit` became true: the clauses that watch its negation look for another literal to watch.
    /// Returns the clause that has none left, if any.
    fn visit_watchers(&mut self, lit: Lit, watchers: &mut Vec<Watcher>) -> ClauseId {
        let mut conflict = NO_CLAUSE;
        let mut kept = 0;
        for at in 0..watchers.len() {
            let watcher = watchers[at];
            if conflict != NO_CLAUSE || self.trail.is_true(watcher.blocker) {
                watchers[kept] = watcher;
                kept += 1;
                continue;
            }
            let clause = watcher.clause;
            let lits = self.clauses.lits_mut(clause);
            if lits[0] == !lit {
                lits.swap(0, 1);
            }
            let first = lits[0];
            let new = Watcher {
                clause,
                blocker: first,
            };
            if self.trail.is_true(first) {
                watchers[kept] = new;
                kept += 1;
                continue;
            }
            let other = (2..lits.len()).find(|&k| !self.trail.is_false(lits[k]));
            if let Some(k) = other {
                lits.swap(1, k);
                let watched = lits[1];
                self.clauses.watchers[(!watched).code()].push(new);
                continue;
            }
            watchers[kept] = new;
            kept += 1;
            if self.trail.is_false(first) {
                conflict = clause;
            } else {
                self.assign_forced(first, clause);
            }
        }
        watchers.truncate(kept);
        conflict
    }

    /// Makes the first literal of `clause` true, as all others are false.
    pub(crate) fn assign_forced(&mut self, lit: Lit, clause: ClauseId) {
        let mut since = 0;
        if self.trail.level() == 0 {
            since = self.clauses.header(clause).since;
            for &other in &self.clauses.lits(clause)[1..] {
                since = since.max(self.trail.since(other));
            }
        }
        self.trail.assign(lit, clause, since);
    }

    /// Puts the edges of true literals into the graph.
    fn propagate_order(&mut self) -> Result<(), Conflict> {
        while self.order_head < self.trail.len() {
            let lit = self.trail.lit(self.order_head);
            self.order_head += 1;
            if self.add_to_order(lit).is_err() {
                self.statistics.cycles += 1;
                self.explain_cycle();
                return Err(Conflict);
            }
        }
        Ok(())
    }

    /// Puts the edge that a true literal asks for, if it asks for one, into the graph.
    pub(crate) fn add_to_order(&mut self, lit: Lit) -> Result<(), ClosesCycle> {
        if !lit.is_positive() {
            return Ok(());
        }
        let Some(edge) = self.edge_of(lit) else {
            return Ok(());
        };
        self.statistics.edges += 1;
        let trail = &self.trail;
        let is_fixed = |lit| trail.is_fixed(lit);
        self.graph
            .add(edge, Why::Literal(lit), &self.stations, is_fixed)
    }

    /// Takes in stations and permanent edges that were added since the last time.
    pub(crate) fn settle(&mut self) -> Result<(), Conflict> {
        self.graph.take_in(&self.stations);
        if self.permanent_taken < self.clocks.edges().len() {
            self.undo_to(0);
        }
        while let Some(&(x, y, serial)) = self.clocks.edges().get(self.permanent_taken) {
            self.permanent_taken += 1;
            let why = Why::Permanent(serial);
            let added = self.graph.add((x, y), why, &self.stations, |_| true);
            if added.is_err() {
                self.explain_cycle();
                return Err(Conflict);
            }
        }
        Ok(())
    }

    /// Turns the cycle that the graph refused into a lemma: not all of its literals are true.
    pub(crate) fn explain_cycle(&mut self) {
        self.conflict.clear();
        self.conflict_since = 0;
        for step in self.graph.cycle() {
            let since = match step.why {
                Why::Chain => 0,
                Why::Permanent(serial) => serial,
                Why::Literal(lit) => {
                    self.conflict.push(!lit);
                    self.births[lit.variable()]
                }
            };
            self.conflict_since = self.conflict_since.max(since);
        }
        if let Some(proof) = &mut self.proof {
            let nodes = self.graph.cycle().iter();
            let step = proof::Step::Cycle {
                lemma: self.conflict.clone(),
                nodes: nodes.map(|step| self.stations.node(step.from)).collect(),
            };
            proof.push(step, self.conflict_since);
        }
    }
}
