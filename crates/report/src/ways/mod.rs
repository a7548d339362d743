//! The ways to findings: which steps of a trace lead to each, read once for all of them.
//!
//! A schedule says in which order events happen, and the trace what they are. Of each schedule the last [`LOOKED_AT`] events are kept with what
//! surrounds them, and at most [`TOLD`] of these are told: what is no access and no synchronisation is left out.
//!
//! * [`schedule`]: which events of the trace belong to the end of a schedule.
//! * [`values`]: which of the recorded values hold in another order.
//! * [`key`]: which steps tell the story in a few lines.
//! * [`tell`]: the steps with names.

mod key;
mod schedule;
mod tell;
mod values;

use deadheat_trace::{EventIndex, Skipped, Step, ThreadId};

use crate::context::Contexts;
use crate::explain::Explain;
use crate::finding::Finding;
use crate::interleaving::Interleaving;
use schedule::Follower;

/// So many steps are told at most.
pub const TOLD: usize = 400;
/// So many events at the end of a schedule are looked at.
const LOOKED_AT: u64 = 4 * TOLD as u64;

/// What lies so many steps back may have been read for what is written now.
const NEAR: usize = 20;

/// A schedule that leads to a finding, as positions of a trace.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Everything before this event happens as it was recorded.
    pub start: EventIndex,
    /// What happens then.
    pub then: Then,
    /// What threads leave out, and parts do not count.
    pub skipped: Vec<Skipped>,
    /// The events that are all next in the end.
    pub next: Vec<EventIndex>,
    /// Events that are told, however long before.
    pub also: Vec<EventIndex>,
}

/// What happens behind the beginning of a schedule.
#[derive(Clone, Debug)]
pub enum Then {
    /// So many events of these threads, one after the other.
    Parts(Vec<(ThreadId, u64)>),
    /// These events.
    Events(Vec<EventIndex>),
}

impl Default for Then {
    fn default() -> Self {
        Then::Events(Vec::new())
    }
}

/// Follows a trace, and keeps what leads to findings.
pub struct Ways {
    followers: Vec<Follower>,
    contexts: Contexts,
    /// How many events of each thread there were.
    passed: Vec<u64>,
}

impl Ways {
    /// Will keep what these need.
    pub fn new(ways: impl IntoIterator<Item = Way>) -> Self {
        Ways {
            followers: ways.into_iter().map(Follower::new).collect(),
            contexts: Contexts::default(),
            passed: Vec::new(),
        }
    }

    /// The next step of the trace.
    pub fn step(&mut self, index: EventIndex, step: &Step) {
        let thread = step.event.thread().index();
        if self.passed.len() <= thread {
            self.passed.resize(thread + 1, 0);
        }
        for follower in &mut self.followers {
            follower.step(index, step, &self.passed, || self.contexts.now(step));
        }
        self.passed[thread] += 1;
        self.contexts.step(index, step);
    }

    /// What is known of the trace, for explanations.
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// How the finding of one of the ways comes about; `None` if the trace does not have its events.
    pub fn told(
        &self,
        number: usize,
        finding: &Finding,
        explain: &Explain,
    ) -> Option<Interleaving> {
        let follower = self.followers.get(number)?;
        tell::told(follower, finding, explain)
    }
}
