//! What is known of a whole program's code.

use crate::{Binary, Depends, Passed, Point};

/// What is known of a program's code: what lies between its events, and what the addresses of
/// its accesses depend on. Program counters are those of events, the addresses behind calls.
#[derive(Clone, Debug, Default)]
pub struct Facts {}

impl Facts {
    /// Looks at all of a program's code.
    pub fn of(_binary: &Binary) -> Facts {
        Facts {}
    }

    /// What lies between two consecutive events of one activation of a function.
    pub fn between(&self, _from: Point, _to: Point) -> Passed {
        Passed::UNKNOWN
    }

    /// What the address of the access at `pc` depends on.
    pub fn address(&self, _pc: u64) -> Depends {
        Depends::Everything
    }

    /// Whether two addresses lie in the same function.
    pub fn same_function(&self, _one: u64, _other: u64) -> bool {
        false
    }
}
