//! The file that the runtime follows, made from a trace and a schedule. Its format is [`deadheat_wire::plan`].
//!
//! A schedule speaks of the trace's events. Some of them the runtime does not count: entries and exits of functions, requests for locks,
//! and what only readers see (locks that are made of atomics, branches, writes by code that nobody saw). The planner is shown
//! the trace once, with and without those, and keeps what the schedule needs.

mod coarse;
mod file;
mod sites;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use coarse::{CoarsePlanner, CoarseRequest};
use deadheat_trace::{Event, EventIndex, Op, Pc, Skipped, Step, Tables, ThreadId};
pub use deadheat_wire::plan::{After, GoalKind};
use deadheat_wire::plan::{PlanEvent, PlanSite, Region};
use deadheat_wire::{CHANNELS_END, SIGNAL_CHANNELS};
use file::Parts;
pub use file::Plan;
use sites::Sites;

use crate::regions::Regions;

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
    is_foreign: IsForeign<'a>,
    /// How many events of which thread are needed behind the beginning.
    wanted: BTreeMap<ThreadId, u64>,
    /// How many of all, and how many goals have not been seen.
    missing: u64,
    regions: Regions,
    sites: Sites,
    threads: Vec<Thread>,
    /// The recorded order of the beginning.
    beginning: Vec<(ThreadId, u64)>,
    goals: Vec<Option<(ThreadId, PlanEvent)>>,
    index: u64,
    /// The trace lacks accesses to memory that threads do not share.
    partial: bool,
}

/// Whether code without hooks did something.
type IsForeign<'a> = Box<dyn FnMut(&Event, &Tables) -> bool + 'a>;

/// A thread's events that the runtime counts.
#[derive(Default)]
struct Thread {
    events: Vec<PlanEvent>,
    counted: Counted,
}

/// How many of a thread's first events the runtime counts: nearly all, so those that it does not are what is kept.
#[derive(Default)]
struct Counted {
    /// How many events there are.
    all: u64,
    /// Where runs of events that are not counted begin, and how many are counted before.
    gaps: Vec<(u64, u64)>,
    /// How many are counted, and whether the last one is.
    sum: u64,
    is_last: bool,
}

impl Counted {
    fn push(&mut self, is_counted: bool) {
        if !is_counted && (self.is_last || self.gaps.is_empty()) {
            self.gaps.push((self.all, self.sum));
        }
        self.is_last = is_counted;
        self.all += 1;
        self.sum += u64::from(is_counted);
    }

    /// How many of so many first events are counted.
    fn upto(&self, events: u64) -> u64 {
        let behind = self.gaps.partition_point(|(start, _)| *start < events);
        let Some((start, before)) = behind.checked_sub(1).map(|at| self.gaps[at]) else {
            return events;
        };
        // Behind the gap all are counted up to the next one.
        let next = self
            .gaps
            .get(behind)
            .copied()
            .unwrap_or((self.all, self.sum));
        let counted_behind = next.1 - before;
        let gap = next.0 - start - counted_behind;
        before + (events - start).saturating_sub(gap)
    }
}

/// What was collected: schedules of these events can be planned.
pub struct Collected {
    regions: u32,
    partial: bool,
    sites: Arc<Vec<PlanSite>>,
    /// By number: the events, and which of the trace's they are.
    threads: Vec<(Arc<Vec<PlanEvent>>, Counted)>,
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
            is_foreign: Box::new(is_foreign),
            missing: wanted.values().sum::<u64>() + goals as u64,
            wanted,
            regions: Regions::new(),
            sites: Sites::default(),
            threads: Vec::new(),
            beginning: Vec::new(),
            goals: vec![None; goals],
            index: 0,
            partial: false,
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
        self.partial |= tables.left_out.is_some();
        let id = step.event.thread();
        let op = step.event.op();
        let mut goals = self.request.goal.next.iter();
        let goal = goals.position(|next| *next == index);
        let is_wanted = self.is_wanted(index, id);
        // A fence that is nowhere in the program says only how far its thread was.
        let is_mark = op == Op::Fence && step.event.pc() == Pc::UNKNOWN;
        let is_planned = is_wanted && !made_up && is_counted(op) && !is_mark;
        let is_block = matches!(op, Op::Alloc | Op::Free);
        let planned = (is_planned || goal.is_some() || is_block).then(|| self.event(step, tables));
        if let (Some(goal), Some(planned)) = (goal, planned) {
            let site = as_goal(self.sites.get(planned.site), made_up);
            let site = self.sites.add(site);
            self.missing -= u64::from(self.goals[goal].is_none());
            self.goals[goal] = Some((id, PlanEvent { site, ..planned }));
        }
        if !is_wanted {
            return;
        }
        if self.threads.len() <= id.index() {
            self.threads.resize_with(id.index() + 1, Thread::default);
        }
        let thread = &mut self.threads[id.index()];
        thread.events.extend(planned.filter(|_| is_planned));
        thread.counted.push(is_planned);
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

    /// An event as the plan has it.
    fn event(&mut self, step: &Step, tables: &Tables) -> PlanEvent {
        let event = &step.event;
        let op = event.op();
        let address = match op {
            Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End | Op::Exit => None,
            _ if op.is_access() || matches!(op, Op::Alloc | Op::Free) => Some(event.addr().0),
            Op::Fence => None,
            _ => tables
                .syncs
                .get(event.sync().index())
                .map(|object| object.addr.0),
        };
        let (region, target) = match (op, address) {
            (Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End, _) => {
                (Region::FIXED, u64::from(event.peer().0))
            }
            (Op::Alloc, Some(start)) => {
                let bytes = step.written().unwrap_or(1);
                (Region(self.regions.allocate(start, bytes)), 0)
            }
            (Op::Send | Op::Receive, Some(channel)) if channel < CHANNELS_END as u64 => {
                (Region::ANY, 0)
            }
            (Op::Receive, Some(channel)) if SIGNAL_CHANNELS.contains(&(channel as usize)) => {
                (Region::FIXED, channel)
            }
            (_, Some(address)) if address != 0 => self.regions.locate(address, tables),
            _ => (Region::ANY, 0),
        };
        if let (Op::Free, Some(start)) = (op, address) {
            self.regions.free(start);
        }
        PlanEvent {
            site: self.sites.of(event, tables, &mut self.is_foreign),
            region: region.0,
            target,
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
        let threads = self.threads.into_iter();
        Ok(Collected {
            regions: self.regions.count(),
            partial: self.partial,
            sites: Arc::new(self.sites.into_all()),
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

/// Whether the runtime counts events of this kind.
fn is_counted(op: Op) -> bool {
    !matches!(
        op,
        Op::Enter
            | Op::Leave
            | Op::Request
            | Op::ReadRequest
            | Op::JoinRequest
            | Op::TakeRequest
            | Op::WakeRequest
            | Op::Branch
            | Op::ExternalWrite
            | Op::Lost
    )
}

/// What the runtime announces for a goal: a request is what it asks for, the beginning of a wait its end, and a lock that is made of
/// atomics the change of its word.
fn as_goal(mut site: PlanSite, made_up: bool) -> PlanSite {
    let op = match Op::from_number(site.op) {
        _ if made_up => Op::AtomicRmw,
        Some(Op::Request) => Op::Acquire,
        Some(Op::ReadRequest) => Op::ReadAcquire,
        Some(Op::JoinRequest) => Op::Join,
        Some(Op::TakeRequest) => Op::Take,
        Some(Op::Wait | Op::WakeRequest) => Op::Wake,
        Some(Op::BarrierEnter) => Op::BarrierExit,
        Some(Op::FutexWait) => Op::FutexWoken,
        _ => return site,
    };
    site.op = op as u8;
    site
}

#[cfg(test)]
mod counted_tests {
    use proptest::prelude::*;

    use super::Counted;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn runs_count_as_single_events_do(events in prop::collection::vec(any::<bool>(), 0..40)) {
            let mut counted = Counted::default();
            events.iter().for_each(|event| counted.push(*event));
            for upto in 0..=events.len() {
                let expected = events[..upto].iter().filter(|event| **event).count() as u64;
                prop_assert_eq!(counted.upto(upto as u64), expected);
            }
        }
    }
}
