//! What is assumed so far: values of the variables, in the order in which they came, by level.
//!
//! Level 0 is what holds for good; every decision opens a level. Of a variable at level 0 it is also
//! known since when (see [`Mark`](crate::Mark)) it holds.

use crate::clauses::{ClauseId, NO_CLAUSE};
use crate::literal::Lit;

/// The partial assignment.
pub(crate) struct Trail {
    /// Per literal: 1 if it is true, -1 if it is false, 0 if it is open.
    values: Vec<i8>,
    levels: Vec<u32>,
    reasons: Vec<ClauseId>,
    since: Vec<u32>,
    lits: Vec<Lit>,
    /// Per level above 0: where it starts.
    starts: Vec<u32>,
}

impl Trail {
    pub fn new() -> Trail {
        Trail {
            values: Vec::new(),
            levels: Vec::new(),
            reasons: Vec::new(),
            since: Vec::new(),
            lits: Vec::new(),
            starts: Vec::new(),
        }
    }

    pub fn add_variable(&mut self) {
        self.values.extend([0, 0]);
        self.levels.push(0);
        self.reasons.push(NO_CLAUSE);
        self.since.push(0);
    }

    pub fn variable_count(&self) -> usize {
        self.levels.len()
    }

    pub fn is_true(&self, lit: Lit) -> bool {
        self.values[lit.code()] > 0
    }

    pub fn is_false(&self, lit: Lit) -> bool {
        self.values[lit.code()] < 0
    }

    pub fn is_open(&self, lit: Lit) -> bool {
        self.values[lit.code()] == 0
    }

    /// The level at which the variable of `lit` got its value.
    pub fn level_of(&self, lit: Lit) -> u32 {
        self.levels[lit.variable()]
    }

    /// Whether `lit` has a value for good.
    pub fn is_fixed(&self, lit: Lit) -> bool {
        !self.is_open(lit) && self.level_of(lit) == 0
    }

    pub fn reason(&self, lit: Lit) -> ClauseId {
        self.reasons[lit.variable()]
    }

    /// Since when the value of a fixed literal holds.
    pub fn since(&self, lit: Lit) -> u32 {
        self.since[lit.variable()]
    }

    pub fn level(&self) -> u32 {
        self.starts.len() as u32
    }

    pub fn len(&self) -> usize {
        self.lits.len()
    }

    pub fn lit(&self, place: usize) -> Lit {
        self.lits[place]
    }

    /// Where the given level starts; level 0 starts at 0.
    pub fn start(&self, level: u32) -> usize {
        match level.checked_sub(1) {
            Some(k) => self.starts[k as usize] as usize,
            None => 0,
        }
    }

    /// The literals that hold for good.
    pub fn fixed(&self) -> &[Lit] {
        match self.starts.first() {
            Some(&start) => &self.lits[..start as usize],
            None => &self.lits,
        }
    }

    pub fn open_level(&mut self) {
        self.starts.push(self.lits.len() as u32);
    }

    /// Makes an open literal true. `since` counts at level 0 only.
    pub fn assign(&mut self, lit: Lit, reason: ClauseId, since: u32) {
        self.values[lit.code()] = 1;
        self.values[(!lit).code()] = -1;
        let variable = lit.variable();
        self.levels[variable] = self.level();
        self.reasons[variable] = reason;
        self.since[variable] = since;
        self.lits.push(lit);
    }

    /// Takes back the youngest literal.
    pub fn pop(&mut self) -> Option<Lit> {
        let lit = self.lits.pop()?;
        self.values[lit.code()] = 0;
        self.values[(!lit).code()] = 0;
        Some(lit)
    }

    /// Closes the levels above `level`, whose literals are gone already.
    pub fn close_levels(&mut self, level: u32) {
        self.starts.truncate(level as usize);
    }

    /// Drops all but the first `variables` variables, which must be open.
    pub fn truncate(&mut self, variables: usize) {
        self.values.truncate(2 * variables);
        self.levels.truncate(variables);
        self.reasons.truncate(variables);
        self.since.truncate(variables);
    }
}
