//! One plan for many schedules that have their beginnings in common: the recorded run is its trunk, and each schedule an
//! offshoot that leaves it where the schedule begins.
//!
//! The program then runs along the trunk once, and copies of it follow the offshoots. What that costs grows with the length of
//! the run and not with the number of schedules.

use std::sync::Arc;

use deadheat_trace::{Event, EventIndex, Step, Tables, ThreadId};
use deadheat_wire::plan::PlanEvent;
use rustc_hash::FxHashMap;

use super::events::Events;
use super::file::{Offshoot, Parts, Plan};
use super::{PlanError, Request};

/// Collects what a plan with offshoots needs while the trace is read.
pub struct TrunkPlanner<'a> {
    requests: &'a [Request],
    /// Which requests are to come, by where they begin, the last one first.
    to_come: Vec<usize>,
    /// Where the trunk ends.
    end: EventIndex,
    events: Events<'a>,
    /// By thread: how many events it has had so far, and how many of them some schedule has.
    passed: Vec<u64>,
    needed: Vec<u64>,
    /// How many of those have not been seen.
    missing: u64,
    /// Which thread goes on until how many of its events have happened.
    trunk: Vec<(ThreadId, u64)>,
    /// The next event begins a segment of its own.
    is_cut: bool,
    /// By request: how many segments of the trunk come before it, and its own.
    offshoots: Vec<(usize, Vec<(ThreadId, u64)>)>,
    goals: FxHashMap<EventIndex, Option<(ThreadId, PlanEvent)>>,
    missing_goals: usize,
    index: u64,
}

impl<'a> TrunkPlanner<'a> {
    /// For these schedules, which skip nothing. `is_foreign` is as in [`super::Planner::new`].
    pub fn new(
        requests: &'a [Request],
        is_foreign: impl FnMut(&Event, &Tables) -> bool + 'a,
    ) -> Self {
        let mut to_come: Vec<usize> = (0..requests.len()).collect();
        to_come.sort_by_key(|at| std::cmp::Reverse(requests[*at].start));
        let goals: FxHashMap<_, _> = requests
            .iter()
            .flat_map(|request| request.goal.next.iter().map(|next| (*next, None)))
            .collect();
        let mut planner = TrunkPlanner {
            end: to_come
                .first()
                .map_or(EventIndex(0), |last| requests[*last].start),
            to_come,
            events: Events::new(is_foreign),
            passed: Vec::new(),
            needed: Vec::new(),
            missing: 0,
            trunk: Vec::new(),
            is_cut: false,
            offshoots: vec![Default::default(); requests.len()],
            missing_goals: goals.len(),
            goals,
            index: 0,
            requests,
        };
        planner.begin_offshoots();
        planner
    }

    /// Whether what follows in the trace does not matter any more.
    pub fn is_complete(&self) -> bool {
        self.to_come.is_empty() && self.missing == 0 && self.missing_goals == 0
    }

    /// The next step of the trace. `made_up`: a reader has added it to what was recorded.
    pub fn step(&mut self, step: &Step, made_up: bool, tables: &Tables) {
        let index = EventIndex(self.index);
        let id = step.event.thread();
        self.room_for(id);
        let is_needed = self.passed[id.index()] < self.needed[id.index()];
        let is_trunk = index < self.end;
        let goal = self.goals.get_mut(&index);
        let is_goal = goal.is_some();
        let is_wanted = is_trunk || is_needed;
        let planned = self.events.step(step, made_up, tables, is_wanted, is_goal);
        if let (Some(goal), Some(planned)) = (goal, planned) {
            self.missing_goals -= usize::from(goal.is_none());
            *goal = Some((id, planned));
        }
        self.missing -= u64::from(is_needed);
        self.passed[id.index()] += 1;
        let upto = self.passed[id.index()];
        if is_trunk {
            match self.trunk.last_mut() {
                Some((last, sum)) if *last == id && !self.is_cut => *sum = upto,
                _ => self.trunk.push((id, upto)),
            }
            self.is_cut = false;
        }
        self.index += 1;
        self.begin_offshoots();
    }

    fn room_for(&mut self, id: ThreadId) {
        if self.passed.len() <= id.index() {
            self.passed.resize(id.index() + 1, 0);
            self.needed.resize(id.index() + 1, 0);
        }
    }

    /// Schedules that begin before the next event: what they need of whom is known now.
    fn begin_offshoots(&mut self) {
        let (requests, index) = (self.requests, self.index);
        let begins = |at: &mut usize| requests[*at].start.0 <= index;
        while let Some(at) = self.to_come.pop_if(begins) {
            let mut segments = Vec::new();
            let mut passed: FxHashMap<ThreadId, u64> = FxHashMap::default();
            for (id, count) in &requests[at].schedule {
                self.room_for(*id);
                let (before, needed) = (self.passed[id.index()], &mut self.needed[id.index()]);
                let upto = passed.entry(*id).or_insert(before);
                *upto += count;
                segments.push((*id, *upto));
                let known = before.max(*needed);
                self.missing += upto.saturating_sub(known);
                *needed = known.max(*upto);
            }
            self.offshoots[at] = (self.trunk.len(), segments);
            self.is_cut = true;
        }
    }

    /// The plan, once the whole trace was shown, or as much of it as matters. Its offshoots are numbered as the
    /// requests are. `steady`: places and addresses of modules are as recorded.
    pub fn finish(self, steady: bool) -> Result<Plan, PlanError> {
        let threads = &self.events.threads;
        let counted = |(id, upto): &(ThreadId, u64)| {
            let counted = threads.get(id.index()).map(|thread| &thread.counted);
            let there = counted.map_or(0, |counted| counted.all);
            match counted {
                Some(counted) if *upto <= there => Ok((*id, counted.upto(*upto))),
                _ => Err(PlanError::Missing {
                    thread: *id,
                    needed: *upto,
                    there,
                }),
            }
        };
        let mut offshoots = Vec::new();
        for ((at, segments), request) in self.offshoots.iter().zip(self.requests) {
            let mut goals = Vec::new();
            for next in &request.goal.next {
                let goal = self.goals.get(next).copied().flatten();
                goals.push(goal.ok_or(PlanError::NoGoal(*next))?);
            }
            offshoots.push(Offshoot {
                at: *at,
                order: segments.iter().map(counted).collect::<Result<_, _>>()?,
                goals,
                goal: request.goal.kind,
            });
        }
        let order: Vec<_> = self.trunk.iter().map(counted).collect::<Result<_, _>>()?;
        let is_goal = |id: usize| {
            let mut goals = self.goals.values().flatten();
            goals.any(|(thread, _)| thread.index() == id)
        };
        let count = threads.len().max(self.passed.len());
        let mut of_threads = Vec::new();
        let mut all = self.events.threads.into_iter();
        for id in 0..count {
            let thread = all.next().unwrap_or_default();
            if thread.counted.all > 0 || is_goal(id) {
                let length = thread.events.len();
                of_threads.push((ThreadId(id as u32), Arc::new(thread.events), length));
            }
        }
        let parts = Parts {
            goal: deadheat_wire::plan::GoalKind::None,
            steady,
            partial: self.events.partial,
            regions: self.events.regions.count(),
            sites: Arc::new(self.events.sites.into_all()),
            threads: of_threads,
            order,
            goals: Vec::new(),
        };
        Ok(Plan::with_offshoots(parts, offshoots))
    }
}
