//! Plans of synchronisation only, for programs whose threads otherwise run free.
//!
//! What is planned is what a thread can be made to wait before: locks, conditions, barriers, semaphores, and the
//! creation, beginning, end and join of threads. An object that lies in no module is known by its first use: each has a
//! region of its own, which no event defines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deadheat_trace::{EventIndex, Op, Step, SyncId, Tables, ThreadId};
use deadheat_wire::plan::{GoalKind, PlanEvent, Region, is_enforced};
use rustc_hash::FxHashMap;

use super::PlanError;
use super::events::as_goal;
use super::file::{Parts, Plan};
use super::packed::{Coder, Packed};
use super::sites::Sites;

/// What to enforce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarseRequest {
    /// Everything before this event happens in the recorded order.
    pub start: EventIndex,
    /// Then these, one after the other.
    pub schedule: Vec<EventIndex>,
    /// Then each of these threads asks for a lock and waits for ever; empty if the program just goes on.
    pub deadlock: Vec<EventIndex>,
}

/// Collects what a plan needs while the trace is read.
pub struct CoarsePlanner<'a> {
    request: &'a CoarseRequest,
    /// By event: its place in the schedule.
    scheduled: FxHashMap<EventIndex, usize>,
    beginning: Vec<(ThreadId, PlanEvent)>,
    /// By place in the schedule; those that cannot be waited for stay empty.
    behind: Vec<Option<(ThreadId, PlanEvent)>>,
    goals: Vec<Option<(ThreadId, PlanEvent)>>,
    regions: BTreeMap<SyncId, u32>,
    sites: Sites,
    forked: BTreeSet<ThreadId>,
    /// A goal that nobody can be made to wait at.
    made_up: Option<EventIndex>,
    index: u64,
}

/// The thread that a program starts with.
const FIRST: ThreadId = ThreadId(0);

impl<'a> CoarsePlanner<'a> {
    /// For a request.
    pub fn new(request: &'a CoarseRequest) -> Self {
        let places = request.schedule.iter().enumerate();
        CoarsePlanner {
            request,
            scheduled: places.map(|(place, index)| (*index, place)).collect(),
            beginning: Vec::new(),
            behind: vec![None; request.schedule.len()],
            goals: vec![None; request.deadlock.len()],
            regions: BTreeMap::new(),
            sites: Sites::default(),
            forked: BTreeSet::new(),
            made_up: None,
            index: 0,
        }
    }

    /// The next step of the trace. `made_up`: a reader has added it to what was recorded.
    pub fn step(&mut self, step: &Step, made_up: bool, tables: &Tables) {
        let index = EventIndex(self.index);
        self.index += 1;
        let (thread, op) = (step.event.thread(), step.event.op());
        if let Some(goal) = self.request.deadlock.iter().position(|next| *next == index) {
            let event = self.event(step, tables);
            let site = as_goal(self.sites.get(event.site), false);
            let site = self.sites.add(site);
            self.goals[goal] = Some((thread, PlanEvent { site, ..event }));
            self.made_up = self.made_up.or(made_up.then_some(index));
        }
        let place = self.scheduled.get(&index).copied();
        let is_before = index < self.request.start;
        let is_first = thread == FIRST && op == Op::Begin;
        if made_up || is_first || !is_enforced(op) || !(is_before || place.is_some()) {
            return;
        }
        if op == Op::Fork {
            self.forked.insert(step.event.peer());
        }
        let planned = (thread, self.event(step, tables));
        match place {
            Some(place) => self.behind[place] = Some(planned),
            None => self.beginning.push(planned),
        }
    }

    fn event(&mut self, step: &Step, tables: &Tables) -> PlanEvent {
        let event = &step.event;
        let (region, target) = match event.op() {
            Op::Fork | Op::Join | Op::Begin | Op::End => (Region::FIXED, event.peer().0.into()),
            _ => self.object(event.sync(), tables),
        };
        PlanEvent {
            site: self.sites.of(event, tables, |_, _| false),
            region: region.0,
            target,
        }
    }

    fn object(&mut self, id: SyncId, tables: &Tables) -> (Region, u64) {
        let address = tables
            .syncs
            .get(id.index())
            .map_or(0, |object| object.addr.0);
        let mut modules = tables.modules.iter();
        if modules.any(|module| (module.start..module.end).contains(&address)) {
            return (Region::FIXED, address);
        }
        let next = Region::FIRST_BLOCK + self.regions.len() as u32;
        (Region(*self.regions.entry(id).or_insert(next)), 0)
    }

    /// The plan, once the whole trace was shown. `steady`: places and addresses of modules are as recorded.
    pub fn finish(self, steady: bool) -> Result<Plan, PlanError> {
        if let Some(goal) = self.made_up {
            return Err(PlanError::MadeUp(goal));
        }
        let mut goals = Vec::new();
        for (goal, next) in self.goals.iter().zip(&self.request.deadlock) {
            goals.push(goal.ok_or(PlanError::NoGoal(*next))?);
        }
        // Nobody can be made to wait for threads that were not seen being created.
        let is_known = |thread: &ThreadId| *thread == FIRST || self.forked.contains(thread);
        let order: Vec<(ThreadId, PlanEvent)> = self
            .beginning
            .iter()
            .copied()
            .chain(self.behind.iter().copied().flatten())
            .filter(|(thread, _)| is_known(thread))
            .collect();
        let mut threads: BTreeMap<ThreadId, Packed> = BTreeMap::new();
        let mut coder = Coder::default();
        threads.entry(FIRST).or_default();
        for (thread, _) in &goals {
            threads.entry(*thread).or_default();
        }
        let mut segments: Vec<(ThreadId, u64)> = Vec::new();
        for (thread, event) in order {
            let events = threads.entry(thread).or_default();
            events.push(event, &mut coder);
            let upto = events.len();
            match segments.last_mut() {
                Some((last, so_far)) if *last == thread => *so_far = upto,
                _ => segments.push((thread, upto)),
            }
        }
        let threads = threads.into_iter().map(|(id, events)| {
            let count = events.len();
            (id, Arc::new(events), count)
        });
        Ok(Plan::of(Parts {
            goal: match goals.is_empty() {
                true => GoalKind::None,
                false => GoalKind::Deadlock,
            },
            steady,
            partial: false,
            regions: Region::FIRST_BLOCK + self.regions.len() as u32,
            sites: Arc::new(self.sites.into_all()),
            threads: threads.collect(),
            order: segments,
            goals,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::text;

    const LISTING: &str = "\
T0|begin|0
T0|fork(T1)|1
T0|w(y)|2
T0|acq(m)|3
T0|w(x)|4
T0|rel(m)|5
T1|begin|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|w(y)|10
";

    fn plan(request: &CoarseRequest) -> Result<Plan, PlanError> {
        let trace = text::parse(LISTING).unwrap();
        let mut planner = CoarsePlanner::new(request);
        for step in &trace.steps {
            planner.step(step, false, &trace.tables);
        }
        planner.finish(true)
    }

    fn request(start: u64, schedule: &[u64], deadlock: &[u64]) -> CoarseRequest {
        let all = |indexes: &[u64]| indexes.iter().map(|index| EventIndex(*index)).collect();
        CoarseRequest {
            start: EventIndex(start),
            schedule: all(schedule),
            deadlock: all(deadlock),
        }
    }

    #[test]
    fn only_synchronisation_is_planned() {
        let plan = plan(&request(3, &[6, 7, 9], &[])).unwrap();
        let expected = [Op::Fork, Op::Begin, Op::Acquire, Op::Release];
        assert_eq!(plan.ops(), expected);
        let segments: Vec<(u32, u64)> = plan
            .segments
            .iter()
            .map(|segment| (segment.thread, segment.upto))
            .collect();
        assert_eq!(segments, [(0, 1), (1, 3)]);
        assert_eq!(plan.header.goal, GoalKind::None as u32);
        // Both name the same lock.
        let regions = plan.regions();
        assert_eq!(regions[2], regions[3]);
    }

    #[test]
    fn threads_that_nobody_created_are_left_alone() {
        // Without the creation of T1 its events cannot be waited for.
        let plan = plan(&request(0, &[6, 7, 9, 3], &[])).unwrap();
        assert_eq!(plan.ops(), [Op::Acquire]);
    }

    #[test]
    fn a_deadlock_has_goals() {
        let found = plan(&request(3, &[], &[3])).unwrap();
        assert_eq!(found.header.goal, GoalKind::Deadlock as u32);
        let expected = found.expected(ThreadId(0), u64::MAX);
        assert_eq!(expected.map(|(op, _)| op), Some(Op::Acquire));
        let none = plan(&request(3, &[], &[99]));
        assert_eq!(none, Err(PlanError::NoGoal(EventIndex(99))));
    }
}
