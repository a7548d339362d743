//! The file that the runtime follows, made from a trace and a schedule. Its format is [`deadheat_wire::plan`].
//!
//! A schedule speaks of the trace's events. Some of them the runtime does not count: entries and exits of functions, requests for locks,
//! and what only readers see (locks that are made of atomics, branches, writes by code that nobody saw). The planner is shown
//! the trace once, with and without those, and keeps what the schedule needs.

mod coarse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use coarse::{CoarsePlanner, CoarseRequest};
use deadheat_trace::{Event, EventIndex, Op, Step, Tables, ThreadId};
pub use deadheat_wire::plan::{After, GoalKind};
use deadheat_wire::plan::{
    MAGIC, PlanEvent, PlanGoal, PlanHeader, PlanSegment, PlanThread, Region, VERSION,
};

use crate::regions::Regions;

/// Where a step of a trace comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was recorded in the program's own code.
    Own,
    /// It was recorded in code without hooks.
    Foreign,
    /// A reader has added it to what was recorded.
    MadeUp,
}

/// What to enforce: everything before `start` as it was recorded, then so many events of which thread, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where the schedule begins.
    pub start: EventIndex,
    /// How many events of which thread, counted as the trace counts them.
    pub schedule: Vec<(ThreadId, u64)>,
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
    regions: Regions,
    threads: BTreeMap<ThreadId, Thread>,
    /// The recorded order of the beginning.
    beginning: Vec<(ThreadId, u64)>,
    goals: Vec<Option<(ThreadId, PlanEvent)>>,
    index: u64,
}

/// A thread's events that the runtime counts.
#[derive(Default)]
struct Thread {
    events: Vec<PlanEvent>,
    /// For each event of the trace: how many of `events` there are with it.
    counted: Vec<u32>,
}

/// What was collected: schedules of these events can be planned.
pub struct Collected {
    regions: u32,
    threads: BTreeMap<ThreadId, Thread>,
    goals: Vec<(ThreadId, PlanEvent)>,
    kind: GoalKind,
    /// The whole schedule: that of the beginning, then the one that was requested.
    pub schedule: Vec<(ThreadId, u64)>,
}

/// A schedule to enforce, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    header: PlanHeader,
    threads: Vec<PlanThread>,
    segments: Vec<PlanSegment>,
    events: Vec<PlanEvent>,
    goals: Vec<PlanGoal>,
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
    /// For a request.
    pub fn new(request: &'a Request) -> Self {
        let mut wanted = BTreeMap::new();
        for (thread, count) in &request.schedule {
            *wanted.entry(*thread).or_default() += count;
        }
        Planner {
            request,
            wanted,
            regions: Regions::new(),
            threads: BTreeMap::new(),
            beginning: Vec::new(),
            goals: vec![None; request.goal.next.len()],
            index: 0,
        }
    }

    /// The next step of the trace.
    pub fn step(&mut self, step: &Step, origin: Origin, tables: &Tables) {
        let made_up = origin == Origin::MadeUp;
        let index = EventIndex(self.index);
        self.index += 1;
        let id = step.event.thread();
        let mut planned = self.event(step, tables);
        planned.soft = u8::from(origin == Origin::Foreign);
        if let Some(goal) = self
            .request
            .goal
            .next
            .iter()
            .position(|next| *next == index)
        {
            self.goals[goal] = Some((id, as_goal(planned, made_up)));
        }
        if index < self.request.start {
            extend(&mut self.beginning, id, 1);
        } else {
            match self.wanted.get_mut(&id) {
                Some(left) if *left > 0 => *left -= 1,
                _ => return,
            }
        }
        let thread = self.threads.entry(id).or_default();
        if !made_up && is_counted(step.event.op()) {
            thread.events.push(planned);
        }
        thread.counted.push(thread.events.len() as u32);
    }

    /// An event as the plan has it.
    fn event(&mut self, step: &Step, tables: &Tables) -> PlanEvent {
        let event = &step.event;
        let op = event.op();
        let address = match op {
            Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End => None,
            _ if op.is_access() || matches!(op, Op::Alloc | Op::Free) => Some(event.addr().0),
            Op::Fence => None,
            _ => tables
                .syncs
                .get(event.sync().index())
                .map(|object| object.addr.0),
        };
        let mut defines = 0;
        let (region, target) = match (op, address) {
            (Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End, _) => {
                (Region::FIXED, u64::from(event.peer().0))
            }
            (Op::Alloc, Some(start)) => {
                defines = self.regions.allocate(start, step.written().unwrap_or(1));
                (Region::ANY, 0)
            }
            (_, Some(address)) if address != 0 => self.regions.locate(address, tables),
            _ => (Region::ANY, 0),
        };
        if let (Op::Free, Some(start)) = (op, address) {
            self.regions.free(start);
        }
        let size = match op.is_access() {
            true => event.size().min(u64::from(u16::MAX)) as u16,
            false => 0,
        };
        PlanEvent {
            op: op as u8,
            soft: 0,
            size,
            region: region.0,
            target,
            pc: place(event, tables),
            defines,
            moves: u32::from(is_in_library(event, tables)),
        }
    }

    /// What was collected, once the whole trace was shown.
    pub fn finish(self) -> Result<Collected, PlanError> {
        let mut goals = Vec::new();
        for (goal, next) in self.goals.iter().zip(&self.request.goal.next) {
            goals.push(goal.ok_or(PlanError::NoGoal(*next))?);
        }
        let mut schedule = self.beginning;
        for (thread, count) in &self.request.schedule {
            extend(&mut schedule, *thread, *count);
        }
        Ok(Collected {
            regions: self.regions.count(),
            threads: self.threads,
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
            let thread = self.threads.get(id);
            let there = thread.map_or(0, |thread| thread.counted.len() as u64);
            if *passed > there {
                return Err(PlanError::Missing {
                    thread: *id,
                    needed: *passed,
                    there,
                });
            }
            let last = passed.checked_sub(1).map(|last| last as usize);
            if let (Some(thread), Some(last)) = (thread, last) {
                let upto = u64::from(thread.counted[last]);
                order.push((*id, upto));
                needed.insert(*id, upto);
            }
        }
        for (id, _) in &self.goals {
            needed.entry(*id).or_default();
        }
        let mut plan = Plan {
            header: PlanHeader {
                magic: MAGIC,
                version: VERSION,
                goal: self.kind as u32,
                after: After::Stop as u32,
                first: 0,
                steady: u32::from(steady),
                threads: needed.len() as u32,
                goals: self.goals.len() as u32,
                regions: self.regions,
                segments: 0,
                events: 0,
                at: 0,
                value: 0,
                value_bytes: 0,
            },
            threads: Vec::new(),
            segments: Vec::new(),
            events: Vec::new(),
            goals: Vec::new(),
        };
        let number =
            |id: &ThreadId| needed.keys().position(|known| known == id).unwrap_or(0) as u32;
        for (id, count) in &needed {
            let events = self
                .threads
                .get(id)
                .map_or(&[][..], |thread| &thread.events);
            plan.threads.push(PlanThread {
                id: id.0,
                reserved: 0,
                first: plan.events.len() as u64,
                count: *count,
            });
            plan.events.extend_from_slice(&events[..*count as usize]);
        }
        for (id, upto) in order {
            let thread = number(&id);
            match plan.segments.last_mut() {
                Some(last) if last.thread == thread => last.upto = upto,
                _ => plan.segments.push(PlanSegment {
                    thread,
                    reserved: 0,
                    upto,
                }),
            }
        }
        plan.goals = self
            .goals
            .iter()
            .map(|(id, event)| PlanGoal {
                thread: number(id),
                reserved: 0,
                event: *event,
            })
            .collect();
        plan.header.segments = plan.segments.len() as u64;
        plan.header.events = plan.events.len() as u64;
        Ok(plan)
    }
}

impl Plan {
    /// The same with something else happening at its goals: `first` is the goal whose thread goes first then.
    pub fn then(mut self, after: After, first: u32) -> Self {
        (self.header.after, self.header.first) = (after as u32, first);
        self
    }

    /// How often another thread goes on.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    /// The event that a thread should do after so many, if the plan has one: the operation and its place.
    pub fn expected(&self, thread: ThreadId, done: u64) -> Option<(Op, u64)> {
        let index = self.threads.iter().position(|known| known.id == thread.0)?;
        let known = &self.threads[index];
        let event = match done < known.count {
            true => &self.events[(known.first + done) as usize],
            false => {
                let mut goals = self.goals.iter();
                &goals.find(|goal| goal.thread as usize == index)?.event
            }
        };
        Some((Op::from_number(event.op)?, event.pc))
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let header = &self.header;
        bytes.extend_from_slice(&header.magic);
        for half in [
            header.version,
            header.goal,
            header.after,
            header.first,
            header.steady,
            header.threads,
            header.goals,
            header.regions,
        ] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        for word in [
            header.segments,
            header.events,
            header.at,
            header.value,
            header.value_bytes,
        ] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for thread in &self.threads {
            bytes.extend_from_slice(&u64::from(thread.id).to_le_bytes());
            bytes.extend_from_slice(&thread.first.to_le_bytes());
            bytes.extend_from_slice(&thread.count.to_le_bytes());
        }
        for segment in &self.segments {
            bytes.extend_from_slice(&u64::from(segment.thread).to_le_bytes());
            bytes.extend_from_slice(&segment.upto.to_le_bytes());
        }
        for event in &self.events {
            put_event(&mut bytes, event);
        }
        for goal in &self.goals {
            bytes.extend_from_slice(&u64::from(goal.thread).to_le_bytes());
            put_event(&mut bytes, &goal.event);
        }
        bytes
    }
}

fn put_event(bytes: &mut Vec<u8>, event: &PlanEvent) {
    bytes.extend_from_slice(&[event.op, event.soft]);
    bytes.extend_from_slice(&event.size.to_le_bytes());
    bytes.extend_from_slice(&event.region.to_le_bytes());
    bytes.extend_from_slice(&event.target.to_le_bytes());
    bytes.extend_from_slice(&event.pc.to_le_bytes());
    bytes.extend_from_slice(&event.defines.to_le_bytes());
    bytes.extend_from_slice(&event.moves.to_le_bytes());
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
fn as_goal(event: PlanEvent, made_up: bool) -> PlanEvent {
    let op = match Op::from_number(event.op) {
        _ if made_up => Op::AtomicRmw,
        Some(Op::Request) => Op::Acquire,
        Some(Op::ReadRequest) => Op::ReadAcquire,
        Some(Op::JoinRequest) => Op::Join,
        Some(Op::TakeRequest) => Op::Take,
        Some(Op::Wait | Op::WakeRequest) => Op::Wake,
        Some(Op::BarrierEnter) => Op::BarrierExit,
        Some(Op::FutexWait) => Op::FutexWoken,
        _ => return event,
    };
    PlanEvent {
        op: op as u8,
        ..event
    }
}

/// Whether an event is in a library. The program itself comes first among the modules.
fn is_in_library(event: &Event, tables: &Tables) -> bool {
    let module = tables.module_of(event.pc());
    module.is_some_and(|(module, _)| tables.modules[0].start != module.start)
}

/// Where an event is in the recorded run's memory; 0 if that is not known or does not matter.
fn place(event: &Event, tables: &Tables) -> u64 {
    match event.op() {
        Op::Begin | Op::End | Op::Alloc => 0,
        _ => tables
            .module_of(event.pc())
            .map_or(0, |(module, address)| address.wrapping_add(module.bias)),
    }
}
