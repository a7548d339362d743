//! Small random windows, and slow direct answers about them, to hold the predictor against.
//!
//! `reachable` tries all schedules that the checker's simulation allows; `axioms` is the paper's own definition, for
//! the paper's own events, and shares nothing with it; `z3` asks about the paper's `formula`; `random` makes windows; `pinned` is
//! what the predictor asks of refused attempts; `processes` is the model of another paper, whose schedules know nothing of values.

#![allow(dead_code, reason = "each test uses a part")]

pub mod axioms;
pub mod formula;
pub mod pinned;
pub mod processes;
pub mod random;
pub mod reachable;
pub mod z3;

use deadheat_predict::{NOBODY, Window};
use deadheat_trace::{Event, Op, Step, text};

/// What depends on what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// The first branch after it: the maximal model.
    ByBranch,
    /// Whatever comes next: the model without control flow.
    ByNext,
}

/// The positions that need what was read, for all positions.
pub fn needed_by(steps: &[Step], needed: Needed) -> Vec<u32> {
    let each = steps.iter().enumerate().map(|(at, step)| {
        if step.event.op().is_atomic() {
            return at as u32;
        }
        let later = steps.iter().enumerate().skip(at + 1);
        let mut own = later.filter(|(_, later)| later.event.thread() == step.event.thread());
        let found = match needed {
            Needed::ByBranch => own.find(|(_, later)| later.event.op() == Op::Branch),
            Needed::ByNext => own.next(),
        };
        found.map_or(NOBODY, |(at, _)| at as u32)
    });
    each.collect()
}

/// A window that is a whole text trace.
pub fn window(trace: &str, needed: Needed) -> Window {
    let trace = text::parse(trace).expect("a trace in a test is one");
    Window {
        needed_by: needed_by(&trace.steps, needed),
        steps: trace.steps,
        ..Window::default()
    }
}

/// All pairs of positions that would be a race if they could be reached: accesses of common bytes that conflict, in one
/// life of their memory or not.
pub fn candidates(window: &Window) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    let judged = |step: &Step| step.event.op() != Op::ExternalWrite;
    for (b, later) in window.steps.iter().enumerate() {
        for (a, earlier) in window.steps[..b].iter().enumerate() {
            if judged(earlier) && judged(later) && earlier.event.conflicts_with(&later.event) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    pairs
}

/// An atomic access that is next, to memory that others access in part: that it needs itself is
/// passed on to earlier reads, as if it were executed. So the predictor may miss a race.
pub fn is_mixed(window: &Window, next: &[u32]) -> bool {
    let events = || window.steps.iter().map(|step| &step.event);
    let next = next.iter().map(|next| &window.steps[*next as usize].event);
    let mut atomic = next.filter(|next| next.op().is_atomic());
    atomic.any(|next| {
        let same = |event: &Event| (event.addr(), event.size()) == (next.addr(), next.size());
        events().any(|event| event.op().is_access() && event.overlaps(next) && !same(event))
    })
}
