//! What to try next.
//!
//! The graph's linear order is a candidate for the solution at any time, and so is "false" for
//! every variable. A clause with a literal that holds in the candidate, be it still open, needs no
//! decision. Decisions are made for the clauses that the candidate breaks, and each moves the
//! candidate: its order when the edge of the decided literal goes against it. So the search commits
//! itself only where there is something to repair, as local search would do it.
//!
//! Of the broken clauses, those that took part in conflicts lately come first, then whichever comes
//! next. Of a clause's literals the one that was true before comes first, then one that agrees with
//! the suggested ranks, then the one that was in conflicts most.

use std::cmp::Ordering;

use crate::clauses::ClauseId;
use crate::literal::Lit;
use crate::solver::Solver;

/// How many clauses are looked at first.
const RECENT: usize = 64;

/// The clauses that were asked for and took part in conflicts lately.
#[derive(Default)]
pub(crate) struct Recent {
    clauses: Vec<ClauseId>,
    /// Which one goes when the next one comes.
    oldest: usize,
}

impl Recent {
    pub fn add(&mut self, clause: ClauseId) {
        if self.clauses.contains(&clause) {
            return;
        }
        if self.clauses.len() < RECENT {
            self.clauses.push(clause);
        } else {
            self.clauses[self.oldest] = clause;
            self.oldest = (self.oldest + 1) % RECENT;
        }
    }

    pub fn clear(&mut self) {
        self.clauses.clear();
        self.oldest = 0;
    }
}

impl Solver {
    /// An open literal of a clause that the candidate breaks; `None` if it breaks none.
    pub(crate) fn choose(&mut self) -> Option<Lit> {
        let clause = match self.recent_broken_clause() {
            Some(clause) => clause,
            None => self.next_broken_clause()?,
        };
        let lits = self.clauses.lits(clause).iter().copied();
        let open = lits.filter(|&lit| self.trail.is_open(lit));
        let choice = open.max_by(|&a, &b| self.compare(a, b));
        debug_assert!(choice.is_some(), "a conflict was overlooked");
        choice
    }

    /// Whether `lit` is true or, being open, holds in the candidate.
    fn holds(&self, lit: Lit) -> bool {
        if !self.trail.is_open(lit) {
            return self.trail.is_true(lit);
        }
        match self.edge_of(lit) {
            Some((x, y)) => lit.is_positive() && self.graph.place(x) < self.graph.place(y),
            None => !lit.is_positive(),
        }
    }

    /// Of the clauses in late conflicts, the broken one with the most active literal.
    fn recent_broken_clause(&self) -> Option<ClauseId> {
        let mut best: Option<(f64, ClauseId)> = None;
        for &clause in &self.recent.clauses {
            let lits = self.clauses.lits(clause).iter();
            if lits.clone().any(|&lit| self.holds(lit)) {
                continue;
            }
            let open = lits.filter(|&&lit| self.trail.is_open(lit));
            let scores = open.map(|lit| self.activity.score(lit.variable()));
            let score = scores.fold(0.0, f64::max);
            if best.is_none_or(|(most, _)| most < score) {
                best = Some((score, clause));
            }
        }
        best.map(|(_, clause)| clause)
    }

    /// The next broken clause, round and round from where the last one was.
    fn next_broken_clause(&mut self) -> Option<ClauseId> {
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
                    None => return Some(clause),
                }
            }
            self.cursor += 1;
        }
        None
    }

    /// Which of two open literals to try: the greater one.
    fn compare(&self, a: Lit, b: Lit) -> Ordering {
        let liking = |lit: Lit| {
            let held = self.phases[lit.variable()] == lit.is_positive();
            let ranked = self
                .edge_of(lit)
                .is_some_and(|(x, y)| self.stations.rank(x) < self.stations.rank(y));
            (held, ranked)
        };
        let score = |lit: Lit| self.activity.score(lit.variable());
        liking(a)
            .cmp(&liking(b))
            .then(score(a).total_cmp(&score(b)))
    }
}
