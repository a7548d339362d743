//! What to try next.
//!
//! Only clauses that are not satisfied ask for decisions, so that a solution has few edges. Of the
//! variables that such clauses have, the liveliest says which clause comes first; of that clause the
//! literal is tried that fits what is there: an order literal that agrees with the graph's
//! present linear order, as it can close no cycle, or one that was preferred or held before.

use crate::clauses::ClauseId;
use crate::literal::Lit;
use crate::solver::Solver;

impl Solver {
    /// An open literal that would satisfy a clause; `None` if all are satisfied.
    pub(crate) fn choose(&mut self) -> Option<Lit> {
        while let Some(variable) = self.activity.pop() {
            let lit = Lit::positive(variable);
            if !self.trail.is_open(lit) {
                continue;
            }
            let Some(clause) = self.unsatisfied_clause(variable as usize) else {
                self.unneeded.push((variable, self.trail.level()));
                continue;
            };
            self.activity.insert(variable);
            return Some(self.choose_in(clause, variable as usize));
        }
        None
    }

    fn unsatisfied_clause(&mut self, variable: usize) -> Option<ClauseId> {
        for k in 0..self.clauses.occurrences[variable].len() {
            let clause = self.clauses.occurrences[variable][k];
            if self.trail.is_true(self.clauses.header(clause).witness) {
                continue;
            }
            let lits = self.clauses.lits(clause).iter();
            match lits.copied().find(|&lit| self.trail.is_true(lit)) {
                Some(witness) => self.clauses.header_mut(clause).witness = witness,
                None => return Some(clause),
            }
        }
        None
    }

    fn choose_in(&self, clause: ClauseId, variable: usize) -> Lit {
        let lits = self.clauses.lits(clause);
        let mut best: Option<(bool, bool, f64, Lit)> = None;
        for &lit in lits.iter().filter(|&&lit| self.trail.is_open(lit)) {
            let own = lit.variable() == variable;
            let score = self.activity.score(lit.variable());
            let candidate = (self.fits(lit), own, score, lit);
            if best.is_none_or(|best| (best.0, best.1, best.2) < (candidate.0, own, score)) {
                best = Some(candidate);
            }
        }
        best.map_or(Lit::positive(variable as u32), |best| best.3)
    }

    /// Whether `lit` goes well with what is there.
    fn fits(&self, lit: Lit) -> bool {
        let preferred = self.phases[lit.variable()] == lit.is_positive();
        match self.edge_of(lit) {
            Some((x, y)) if lit.is_positive() => {
                preferred || self.graph.place(x) < self.graph.place(y)
            }
            _ => preferred,
        }
    }
}
