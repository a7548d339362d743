//! The file that the runtime follows, made from a trace and a schedule. Its format is [`deadheat_wire::plan`].
//!
//! A schedule speaks of the trace's events. Some of them the runtime does not count: entries and exits of functions, requests for locks,
//! and what only readers see (locks that are made of atomics, branches, writes by code that nobody saw). The planner is shown
//! the trace once, with and without those, and keeps what the schedule needs.

mod coarse;
mod events;
mod file;
mod offshoots;
#[cfg(test)]
mod offshoots_tests;
mod packed;
mod sites;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use coarse::{CoarsePlanner, CoarseRequest};
use deadheat_trace::{Event, EventIndex, Skipped, Step, Tables, ThreadId};
pub use deadheat_wire::plan::{After, GoalKind};
use deadheat_wire::plan::{PlanEvent, PlanSite};
use events::{Counted, Events};
use file::Parts;
pub use file::Plan;
pub use offshoots::TrunkPlanner;
use packed::Packed;

/// What to enforce: everything before `start` as it was recorded, then so many events of which thread, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where the schedule begins.
    pub start: EventIndex,
    /// How many events of which thread, counted as the trace counts them.
    pub schedule: Vec<(ThreadId, u64)>,
    /// What threads leave out: the schedule does not count it, and the program is not to do it.
    pub skipped: Vec<Skipped>,
    /// What is to be reached.
    pub goal: Goal,
}

/// What is to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// What it is.
    pub kind: GoalKind,
    /// The events that are next in the end.
    pub next: Vec<EventIndex>,
}

/// Collects what plans need while the trace is read.
pub struct Planner<'a> {
    request: &'a Request,
    /// How many events of which thread are needed behind the beginning.
    wanted: BTreeMap<ThreadId, u64>,
    /// How many of all, and how many goals have not been seen.
    missing: u64,
    events: Events<'a>,
    /// The recorded order of the beginning.
    beginning: Vec<(ThreadId, u64)>,
    goals: Vec<Option<(ThreadId, PlanEvent)>>,
    index: u64,
}

/// What was collected: schedules of these events can be planned.
pub struct Collected {
    regions: u32,
    partial: bool,
    sites: Arc<Vec<PlanSite>>,
    /// By number: the events, and which of the trace's they are.
    threads: Vec<(Arc<Packed>, Counted)>,
    goals: Vec<(ThreadId, PlanEvent)>,
    kind: GoalKind,
    /// The whole schedule: that of the beginning, then the one that was requested.
    pub schedule: Vec<(ThreadId, u64)>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The schedule speaks of events that the trace does not have.
    #[error("the schedule needs {needed} events of {thread}, and the trace has {there}")]
    Missing {
        /// Whose.
        thread: ThreadId,
        /// How many it needs.
        needed: u64,
        /// How many there are.
        there: u64,
    },
    /// A goal is not something that was recorded, but what it was taken for.
    #[error("nobody can be made to wait for the lock of event {0}, which is made of atomics")]
    MadeUp(EventIndex),
    /// A goal is not in the trace.
    #[error("the trace has no event {0}")]
    NoGoal(EventIndex),
}

impl<'a> Planner<'a> {
    /// For a request. `is_foreign`: whether code without hooks did something; it is asked once for what is done at a place.
    pub fn new(request: &'a Request, is_foreign: impl FnMut(&Event, &Tables) -> bool + 'a) -> Self {
        let mut wanted = BTreeMap::new();
        for (thread, count) in &request.schedule {
            *wanted.entry(*thread).or_default() += count;
        }
        let goals = request.goal.next.len();
        Planner {
            request,
            missing: wanted.values().sum::<u64>() + goals as u64,
            wanted,
            events: Events::new(is_foreign),
            beginning: Vec::new(),
            goals: vec![None; goals],
            index: 0,
        }
    }

    /// Whether what follows in the trace does not matter any more.
    pub fn is_complete(&self) -> bool {
        self.missing == 0 && self.index >= self.request.start.0
    }

    /// The next step of the trace. `made_up`: a reader has added it to what was recorded.
    pub fn step(&mut self, step: &Step, made_up: bool, tables: &Tables) {
        let index = EventIndex(self.index);
        self.index += 1;
        let id = step.event.thread();
        let mut goals = self.request.goal.next.iter();
        let goal = goals.position(|next| *next == index);
        let is_wanted = self.is_wanted(index, id);
        let is_goal = goal.is_some();
        let planned = self.events.step(step, made_up, tables, is_wanted, is_goal);
        if let (Some(goal), Some(planned)) = (goal, planned) {
            self.missing -= u64::from(self.goals[goal].is_none());
            self.goals[goal] = Some((id, planned));
        }
    }

    /// Whether the schedule has this event of a thread.
    #[inline]
    fn is_wanted(&mut self, index: EventIndex, id: ThreadId) -> bool {
        if index < self.request.start {
            extend(&mut self.beginning, id, 1);
            return true;
        }
        let mut skipped = self.request.skipped.iter();
        if skipped.any(|part| part.has(id, index)) {
            return false;
        }
        match self.wanted.get_mut(&id) {
            Some(left) if *left > 0 => {
                *left -= 1;
                self.missing -= 1;
                true
            }
            _ => false,
        }
    }

    /// What was collected, once the whole trace was shown, or as much of it as matters.
    pub fn finish(self) -> Result<Collected, PlanError> {
        let mut goals = Vec::new();
        for (goal, next) in self.goals.iter().zip(&self.request.goal.next) {
            goals.push(goal.ok_or(PlanError::NoGoal(*next))?);
        }
        let mut schedule = self.beginning;
        for (thread, count) in &self.request.schedule {
            extend(&mut schedule, *thread, *count);
        }
        let events = self.events;
        let threads = events.threads.into_iter();
        Ok(Collected {
            regions: events.regions.count(),
            partial: events.partial,
            sites: Arc::new(events.sites.into_all()),
            threads: threads
                .map(|thread| (Arc::new(thread.events), thread.counted))
                .collect(),
            goals,
            kind: self.request.goal.kind,
            schedule,
        })
    }
}

/// Adds events of a thread to a schedule.
fn extend(schedule: &mut Vec<(ThreadId, u64)>, thread: ThreadId, count: u64) {
    match schedule.last_mut() {
        Some((last, sum)) if *last == thread => *sum += count,
        _ => schedule.push((thread, count)),
    }
}

impl Collected {
    /// Whether a goal is this thread's.
    pub fn has_goal(&self, thread: ThreadId) -> bool {
        self.goals.iter().any(|(id, _)| *id == thread)
    }

    /// The plan of a schedule from the very beginning on. `steady`: places and addresses of modules are as recorded.
    pub fn plan(&self, schedule: &[(ThreadId, u64)], steady: bool) -> Result<Plan, PlanError> {
        let mut order: Vec<(ThreadId, u64)> = Vec::new();
        let mut passed: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let mut needed: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for (id, count) in schedule {
            let passed = passed.entry(*id).or_default();
            *passed += count;
            let counted = self.threads.get(id.index()).map(|(_, counted)| counted);
            let there = counted.map_or(0, |counted| counted.all);
            if *passed > there {
                return Err(PlanError::Missing {
                    thread: *id,
                    needed: *passed,
                    there,
                });
            }
            if let (Some(counted), true) = (counted, *passed > 0) {
                let upto = counted.upto(*passed);
                order.push((*id, upto));
                needed.insert(*id, upto);
            }
        }
        for (id, _) in &self.goals {
            needed.entry(*id).or_default();
        }
        let thread = |(id, count): (ThreadId, u64)| {
            let known = self.threads.get(id.index());
            let events = known.map(|(events, _)| Arc::clone(events));
            (id, events.unwrap_or_default(), count)
        };
        Ok(Plan::of(Parts {
            goal: self.kind,
            steady,
            partial: self.partial,
            regions: self.regions,
            sites: Arc::clone(&self.sites),
            threads: needed.into_iter().map(thread).collect(),
            order,
            goals: self.goals.clone(),
        }))
    }
}
