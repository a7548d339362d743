//! The search: propagate, learn from conflicts, decide, begin anew from time to time.

use crate::clauses::NO_CLAUSE;
use crate::limit::{GaveUp, Limit, Outcome};
use crate::literal::Lit;
use crate::model::Model;
use crate::propagation::Conflict;
use crate::solver::Solver;

/// Conflicts until the first restart; later ones follow Luby's sequence.
const RESTART: u64 = 100;
/// Learned clauses without a restart, as a multiple of how many are kept behind one.
const CROWD: usize = 4;
/// All clauses together have no more literals: with more the search begins anew, and gives up if that does not help.
const MOST_LITERALS: usize = 1 << 24;
/// How many decisions go between looks at the clock.
const PATIENCE: u64 = 64;

/// What a step of the search came to.
enum Progress {
    Goes,
    Complete,
    Refuted(Vec<Lit>),
}

impl Solver {
    /// Looks for a solution in which all `assumptions` are true.
    ///
    /// # Panics
    /// If an assumption is not a literal of this solver.
    pub fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Outcome {
        self.statistics.solves += 1;
        if self.impossible_since.is_some() {
            return Outcome::Impossible(Vec::new());
        }
        let shared = self.assumed.iter().zip(assumptions);
        let shared = shared.take_while(|(old, new)| old == new).count();
        if shared < self.assumed.len() || shared < assumptions.len() {
            self.undo_to(shared as u32);
            self.assumed.clear();
            self.assumed.extend_from_slice(assumptions);
        }
        if self.settle().is_err() && !self.resolve_conflict() {
            return Outcome::Impossible(Vec::new());
        }
        self.search(limit)
    }

    fn search(&mut self, limit: &Limit) -> Outcome {
        let first = self.statistics.conflicts;
        let work_before = self.statistics().work();
        let mut restarts = 0;
        let mut restart_at = first + RESTART;
        let mut look_at = self.statistics.decisions;
        loop {
            let conflict = self.propagate().is_err();
            if conflict && !self.resolve_conflict() {
                return Outcome::Impossible(Vec::new());
            }
            if conflict || self.statistics.decisions >= look_at {
                look_at = self.statistics.decisions + PATIENCE;
                let work = self.statistics().work() - work_before;
                if let Some(why) = limit.reached(self.statistics.conflicts - first, work) {
                    return Outcome::GaveUp(why);
                }
            }
            if conflict {
                continue;
            }
            let is_full = self.clauses.literals() > MOST_LITERALS;
            if is_full || self.is_crowded() || self.statistics.conflicts >= restart_at {
                restarts += 1;
                restart_at = self.statistics.conflicts + RESTART * luby(restarts);
                self.begin_anew(is_full);
                if is_full && self.clauses.literals() > MOST_LITERALS / 2 {
                    return Outcome::GaveUp(GaveUp::Memory);
                }
                continue;
            }
            match self.advance() {
                Ok(Progress::Goes) => {}
                Ok(Progress::Complete) => return Outcome::Solved(self.model()),
                Ok(Progress::Refuted(core)) => return Outcome::Impossible(core),
                Err(Conflict) => return Outcome::Impossible(Vec::new()),
            }
        }
    }

    /// Makes the next assumption or decision true.
    fn advance(&mut self) -> Result<Progress, Conflict> {
        while let Some(&lit) = self.assumed.get(self.trail.level() as usize) {
            if self.trail.is_false(lit) {
                return Ok(Progress::Refuted(self.core(lit)));
            }
            self.open_level();
            if self.trail.is_open(lit) {
                self.trail.assign(lit, NO_CLAUSE, 0);
                return Ok(Progress::Goes);
            }
        }
        let Some(lit) = self.choose() else {
            return Ok(Progress::Complete);
        };
        self.try_literal(lit);
        Ok(Progress::Goes)
    }

    /// Decides on `lit`; or rules it out if its edge would close a cycle. Finding that here rather
    /// than as a conflict leaves the other decisions as they are.
    fn try_literal(&mut self, lit: Lit) {
        self.open_level();
        if self.add_to_order(lit).is_ok() {
            self.statistics.decisions += 1;
            self.trail.assign(lit, NO_CLAUSE, 0);
            self.order_head = self.trail.len();
            return;
        }
        self.undo_to(self.trail.level() - 1);
        self.statistics.ruled_out += 1;
        self.explain_cycle();
        let mut lemma = std::mem::take(&mut self.conflict);
        // The refused edge is the first of the cycle, so its literal is the first of the lemma.
        lemma[1..].sort_unstable_by_key(|&lit| std::cmp::Reverse(self.trail.level_of(lit)));
        for &lit in &lemma {
            self.activity.bump(lit.variable());
        }
        match lemma.get(1).map(|&lit| self.trail.level_of(lit)) {
            None | Some(0) => {
                let fixed = lemma[1..].iter().map(|&lit| self.trail.since(lit));
                let since = fixed.fold(self.conflict_since, u32::max);
                self.undo_to(0);
                self.trail.assign(lemma[0], NO_CLAUSE, since);
            }
            Some(_) => {
                let clause = self.clauses.add(&lemma, true, self.conflict_since, 3);
                self.trail.assign(lemma[0], clause, 0);
            }
        }
        self.conflict = lemma;
    }

    /// Whether far more was learned since the last restart than is kept behind one: what is ruled out teaches something without being
    /// a conflict.
    fn is_crowded(&self) -> bool {
        self.clauses.learned_count() > CROWD * self.learned_limit.max(self.least_learned())
    }

    fn least_learned(&self) -> usize {
        1500 + self.clauses.asked_count() / 16
    }

    fn begin_anew(&mut self, is_full: bool) {
        self.statistics.restarts += 1;
        self.learned_limit = self.learned_limit.max(self.least_learned());
        if is_full || self.clauses.learned_count() > self.learned_limit {
            self.learned_limit += self.learned_limit / 10;
            self.undo_to(0);
            self.recent.clear();
            self.clauses.halve_learned();
            self.clause_head = 0;
        }
        self.undo_to(self.assumed.len() as u32);
    }

    fn open_level(&mut self) {
        self.trail.open_level();
        self.edge_counts.push(self.graph.edge_count());
    }

    /// Takes back everything above `level`.
    pub(crate) fn undo_to(&mut self, level: u32) {
        if self.trail.level() <= level {
            return;
        }
        let start = self.trail.start(level + 1);
        while self.trail.len() > start {
            let Some(lit) = self.trail.pop() else { break };
            self.phases[lit.variable()] = lit.is_positive();
        }
        self.trail.close_levels(level);
        self.graph.shrink(self.edge_counts[level as usize]);
        self.edge_counts.truncate(level as usize);
        self.clause_head = self.clause_head.min(start);
        self.order_head = self.order_head.min(start);
    }

    /// The candidate: what is true, and what else the clauses rest on.
    fn model(&self) -> Model {
        let mut values: Vec<bool> = (0..self.trail.variable_count() as u32)
            .map(|variable| self.trail.is_true(Lit::positive(variable)))
            .collect();
        let mut edges = self.graph.edges().to_vec();
        for (_, witness) in self.clauses.asked() {
            if let Some(edge) = self.edge_of(witness)
                && witness.is_positive()
                && !std::mem::replace(&mut values[witness.variable()], true)
            {
                edges.push(edge);
            }
        }
        Model::new(values, &self.stations, self.graph.in_order(), &edges)
    }
}

/// The sequence 1, 1, 2, 1, 1, 2, 4, ... (Luby, Sinclair, Zuckerman 1993), from place 1 on.
fn luby(mut place: u64) -> u64 {
    loop {
        let size = (place + 1).next_power_of_two();
        if size == place + 1 {
            return size / 2;
        }
        place -= size / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::luby;

    #[test]
    fn the_sequence_of_luby() {
        let first: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
