//! Small random traces, and slow direct answers about them, to hold detectors against.
//!
//! Nothing here uses the crate under test.

#![allow(dead_code, reason = "each test uses a part")]

pub mod causal;
pub mod interleave;
pub mod order;
pub mod random;
pub mod reorder;

use deadheat_trace::{Op, Step};

/// Whether two steps access common bytes in a way that may race, whatever orders them.
pub fn conflict(a: &Step, b: &Step) -> bool {
    let known = |step: &Step| step.event.op() != Op::ExternalWrite;
    known(a) && known(b) && a.event.conflicts_with(&b.event)
}
