//! What to try next.
//!
//! The graph's linear order is a candidate for the solution at any time, and so is "false" for
//! every variable. A clause with a literal that holds in the candidate, be it still open, needs no
//! decision. Decisions are made for the clauses that the candidate breaks, and each moves the
//! candidate: its order when the edge of the decided literal goes against it. So the search commits
//! itself only where there is something to repair, as local search would do it.

use crate::clauses::ClauseId;
use crate::literal::Lit;
use crate::solver::Solver;

impl Solver {
    /// An open literal of a clause that the candidate breaks; `None` if it breaks none.
    pub(crate) fn choose(&mut self) -> Option<Lit> {
        let count = self.clauses.asked_count();
        for _ in 0..count {
            if self.cursor >= count {
                self.cursor = 0;
            }
            let (clause, witness) = self.clauses.asked_clause(self.cursor);
            if !self.holds(witness) {
                let mut lits = self.clauses.lits(clause).iter();
                match lits.find(|&&lit| self.holds(lit)) {
                    Some(&lit) => self.clauses.set_witness(self.cursor, lit),
                    None => return Some(self.choose_in(clause)),
                }
            }
            self.cursor += 1;
        }
        None
    }

    /// Whether `lit` is true or, being open, holds in the candidate.
    pub(crate) fn holds(&self, lit: Lit) -> bool {
        if !self.trail.is_open(lit) {
            return self.trail.is_true(lit);
        }
        match self.edge_of(lit) {
            Some((x, y)) => lit.is_positive() && self.graph.place(x) < self.graph.place(y),
            None => !lit.is_positive(),
        }
    }

    fn choose_in(&self, clause: ClauseId) -> Lit {
        let lits = self.clauses.lits(clause).iter().copied();
        let open = lits.filter(|&lit| self.trail.is_open(lit));
        let liking = |lit: Lit| {
            let preferred = self.phases[lit.variable()] == lit.is_positive();
            (preferred, self.activity.score(lit.variable()))
        };
        open.max_by(|&a, &b| {
            liking(a)
                .partial_cmp(&liking(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
        .unwrap_or(Lit::TRUE)
    }
}
