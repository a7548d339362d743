//! Literals: a variable or its negation.

use std::ops::Not;

/// A literal: a variable as it is, or negated with `!`.
///
/// Literals come from [`Solver::new_variable`](crate::Solver::new_variable) and
/// [`Solver::before`](crate::Solver::before), and mean something only to the solver that made them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// The literal that is always true.
    pub const TRUE: Lit = Lit(0);
    /// The literal that is never true.
    pub const FALSE: Lit = Lit(1);

    pub(crate) const fn positive(variable: u32) -> Lit {
        Lit(variable << 1)
    }

    /// The variable, as an index.
    pub(crate) const fn variable(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether this is the variable itself rather than its negation.
    pub const fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// A number of its own for every literal: for tables.
    pub(crate) const fn code(self) -> usize {
        self.0 as usize
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl std::fmt::Debug for Lit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_positive() { "" } else { "!" };
        write!(f, "{sign}v{}", self.variable())
    }
}
