//! The ways to findings: which steps of a trace lead to each, read once for all of them.
//!
//! A schedule says in which order events happen, and the trace what they are. Of each schedule the last events
//! are kept with what surrounds them, and at most [`MOST_STEPS`] of these are told: what is no access and no
//! synchronisation is left out. Of many schedules fewer steps are told, so that a report of thousands of findings
//! stays one that can be read and kept.
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

/// So many steps of a schedule are told at most.
pub const MOST_STEPS: usize = 400;
/// So many are told in any case.
const LEAST_STEPS: usize = 12;
/// About so many are told of all schedules together.
const ALL_STEPS: usize = 20_000;

/// So many words that others have written are remembered for a schedule; with more, no value is trusted.
const MOST_WORDS: usize = 1 << 13;
/// The same of many schedules.
const LEAST_WORDS: usize = 1 << 8;
/// About so many are remembered for all schedules together.
const ALL_WORDS: usize = 1 << 20;

/// How much is told of each schedule.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// How many steps.
    told: usize,
    /// How many events at its end are looked at for them.
    looked_at: u64,
    /// How many words that others have written are remembered for it.
    words: usize,
}

impl Limits {
    /// For so many schedules.
    fn of(schedules: usize) -> Self {
        let told = (ALL_STEPS / schedules.max(1)).clamp(LEAST_STEPS, MOST_STEPS);
        Limits {
            told,
            looked_at: 4 * told as u64,
            words: (ALL_WORDS / schedules.max(1)).clamp(LEAST_WORDS, MOST_WORDS),
        }
    }
}

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
    /// Followers that wait for their first event, the next to begin last; and those that are not through.
    waiting: Vec<(EventIndex, usize)>,
    active: Vec<usize>,
    limits: Limits,
    contexts: Contexts,
    /// How many events of each thread there were.
    passed: Vec<u64>,
}

impl Ways {
    /// Will keep what these need.
    pub fn new(ways: impl IntoIterator<Item = Way>) -> Self {
        let ways: Vec<Way> = ways.into_iter().collect();
        let limits = Limits::of(ways.len());
        let follow = |way| Follower::new(way, limits);
        let followers: Vec<Follower> = ways.into_iter().map(follow).collect();
        let begins = followers.iter().map(Follower::begins).enumerate();
        let mut waiting: Vec<(EventIndex, usize)> = begins.map(|(at, begin)| (begin, at)).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Ways {
            followers,
            waiting,
            active: Vec::new(),
            limits,
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
        while let Some((_, at)) = self.waiting.pop_if(|(begin, _)| *begin <= index) {
            self.active.push(at);
        }
        let mut is_one_through = false;
        for at in &self.active {
            let follower = &mut self.followers[*at];
            follower.step(index, step, &self.passed, || self.contexts.now(step));
            is_one_through |= follower.is_through();
        }
        if is_one_through {
            let followers = &self.followers;
            self.active.retain(|at| !followers[*at].is_through());
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
        tell::told(follower, finding, explain, self.limits.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_schedules_are_told_in_full_and_many_in_their_last_steps() {
        assert_eq!(Limits::of(1).told, MOST_STEPS);
        assert_eq!(Limits::of(50).told, MOST_STEPS);
        assert_eq!(Limits::of(5000).told, LEAST_STEPS);
        let all = |many| Limits::of(many).told * many;
        assert!((100..1600).all(|many| all(many) <= ALL_STEPS));
    }
}
