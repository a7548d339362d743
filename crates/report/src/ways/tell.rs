//! The steps of a schedule with names.

use deadheat_trace::{Event, Op, Pc, SyncId, ThreadId};
use rustc_hash::FxHashMap;

use super::key::{self, Candidate};
use super::schedule::{Follower, Kept};
use super::values::Values;
use crate::explain::Explain;
use crate::finding::{Access, Finding, Frame, Object};
use crate::interleaving::{Does, Interleaving, Lane, Step};

/// How a finding comes about by a schedule, in so many steps at most.
pub fn told(
    follower: &Follower,
    finding: &Finding,
    explain: &Explain,
    most: usize,
) -> Option<Interleaving> {
    let next = follower.next()?;
    let mut values = Values::of(follower);
    let mut all: Vec<(Option<usize>, &Kept, Option<u64>)> = Vec::new();
    all.extend(follower.also().iter().map(|kept| {
        let step = &kept.context.step;
        (None, kept, step.read().or(step.written()))
    }));
    for (slot, kept) in follower.kept() {
        let value = values.next(kept);
        if is_told(kept.context.step.event.op()) {
            all.push((Some(slot), kept, value));
        }
    }
    // The last ones, and before them what was asked for.
    let asked = |kept: &Kept| follower.is_asked_for(kept.index);
    let named = all.iter().filter(|(_, kept, _)| asked(kept)).count();
    let most = most.saturating_sub(next.len() + named);
    let surplus = all.len().saturating_sub(most);
    let first = all[surplus..].iter().find_map(|(slot, _, _)| *slot);
    let before = all.drain(..surplus).filter(|(_, kept, _)| asked(kept));
    let before: Vec<_> = before.collect();
    all.splice(..0, before);
    let ends = next
        .iter()
        .map(|kept| (None, *kept, values.would_write(kept)));
    all.extend(ends);
    let mut names = Names {
        explain,
        places: FxHashMap::default(),
        object: finding.object.as_ref(),
    };
    let mut steps: Vec<Step> = all
        .iter()
        .map(|(_, kept, value)| names.step(kept, *value))
        .collect();
    let ends = steps.len() - next.len();
    mark_sides(&mut steps, ends, &finding.accesses);
    let candidates: Vec<Candidate> = all
        .iter()
        .zip(&steps)
        .map(|((_, kept, _), step)| Candidate {
            kept,
            is_side: step.side.is_some(),
        })
        .collect();
    for (step, is_key) in steps.iter_mut().zip(key::of(&candidates, finding.kind)) {
        step.key = is_key;
    }
    (!steps.is_empty()).then(|| Interleaving {
        threads: lanes(all.iter().map(|(_, kept, _)| *kept), &names),
        earlier: follower.earlier() + first.unwrap_or(0) as u64,
        steps,
    })
}

/// Says of steps which side of the finding they are. What is next in the end is known by its position, or (if a schedule leads to another event of
/// the same kind) by its place; what else is a side happened before.
fn mark_sides(steps: &mut [Step], ends: usize, sides: &[Access]) {
    let mut open: Vec<usize> = (0..sides.len()).collect();
    let mut mark = |steps: &mut [Step], is_it: &dyn Fn(&Step, &Access) -> bool| {
        for step in steps.iter_mut().filter(|step| step.side.is_none()) {
            let found = open.iter().position(|side| is_it(step, &sides[*side]));
            step.side = found.map(|at| open.remove(at));
        }
    };
    let by_position = |step: &Step, side: &Access| side.index == Some(step.index);
    let by_place = |step: &Step, side: &Access| {
        let place = |frame: &Frame| (frame.file.clone(), frame.line, frame.function.clone());
        place(&step.place) == place(&side.place)
    };
    mark(&mut steps[ends..], &by_position);
    mark(&mut steps[ends..], &by_place);
    mark(&mut steps[..ends], &by_position);
}

/// The threads that take part, by their numbers.
fn lanes<'k>(steps: impl Iterator<Item = &'k Kept>, names: &Names) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for kept in steps {
        let thread = kept.context.step.event.thread();
        if !lanes.iter().any(|lane| lane.number == thread.0) {
            let held = kept.context.locks.iter();
            lanes.push(Lane {
                number: thread.0,
                name: names.explain.tables.thread_name(thread),
                holds: held.map(|held| names.sync(SyncId(held.lock.0))).collect(),
            });
        }
    }
    lanes.sort_by_key(|lane| lane.number);
    lanes
}

/// Names of what steps speak of.
struct Names<'a> {
    explain: &'a Explain<'a>,
    places: FxHashMap<Pc, Frame>,
    object: Option<&'a Object>,
}

impl Names<'_> {
    fn step(&mut self, kept: &Kept, value: Option<u64>) -> Step {
        let event = &kept.context.step.event;
        let (does, op) = words(event.op());
        Step {
            thread: event.thread().0,
            does,
            op: op.to_owned(),
            on: self.on(kept),
            value,
            place: self.place(kept),
            index: kept.index.0,
            side: None,
            key: false,
        }
    }

    fn sync(&self, id: SyncId) -> String {
        self.explain.names.lock(id, self.explain.tables)
    }

    fn thread(&self, id: ThreadId) -> String {
        self.explain.tables.thread_name(id)
    }

    fn on(&self, kept: &Kept) -> Option<String> {
        let event = &kept.context.step.event;
        Some(match event.op() {
            Op::Fence | Op::Exit => return None,
            Op::Fork | Op::Join | Op::JoinRequest => self.thread(event.peer()),
            op if op.is_access() || op == Op::Free => match self.object {
                Some(object) if is_in(event, object) => object.name.clone(),
                _ => self.explain.memory_name(event.addr(), &kept.context),
            },
            _ => self.sync(event.sync()),
        })
    }

    /// The innermost place that is the program's own.
    fn place(&mut self, kept: &Kept) -> Frame {
        let pc = kept.context.step.event.pc();
        let innermost = self.own(pc);
        if !innermost.is_foreign() {
            return innermost;
        }
        let calls: Vec<Pc> = kept.context.stack.calls().collect();
        let mut frames = calls.into_iter().map(|call| self.own(call));
        frames
            .find(|frame| !frame.is_foreign())
            .unwrap_or(innermost)
    }

    fn own(&mut self, pc: Pc) -> Frame {
        let explain = self.explain;
        let place = self
            .places
            .entry(pc)
            .or_insert_with(|| crate::own_place(&explain.names.frames(pc, explain.tables)));
        place.clone()
    }
}

fn is_in(event: &Event, object: &Object) -> bool {
    let (start, end) = (object.address, object.address.saturating_add(object.size));
    match event.op() {
        Op::Free => event.addr().0 == start,
        _ => event.addr().0 < end && start < event.addr().0 + event.size(),
    }
}

/// Whether it is an access or synchronisation.
fn is_told(op: Op) -> bool {
    !matches!(
        op,
        Op::Enter
            | Op::Leave
            | Op::Branch
            | Op::Begin
            | Op::End
            | Op::Alloc
            | Op::Init
            | Op::Destroy
            | Op::Lost
            | Op::ExternalWrite
    )
}

/// What a step does, in words.
fn words(op: Op) -> (Does, &'static str) {
    match op {
        Op::Read => (Does::Read, "read"),
        Op::AtomicRead => (Does::Read, "atomic read"),
        Op::Write | Op::ExternalWrite => (Does::Write, "write"),
        Op::AtomicWrite => (Does::Write, "atomic write"),
        Op::AtomicRmw => (Does::Write, "atomic update"),
        Op::Acquire => (Does::Take, "lock"),
        Op::ReadAcquire => (Does::Take, "read lock"),
        Op::Release => (Does::Release, "unlock"),
        Op::ReadRelease => (Does::Release, "read unlock"),
        _ => (
            Does::Other,
            match op {
                Op::Fence => "fence",
                Op::Request => "ask for",
                Op::ReadRequest => "ask to read",
                Op::Fork => "create",
                Op::Join | Op::JoinRequest => "join",
                Op::Wait => "wait at",
                Op::Wake | Op::WakeRequest => "woken at",
                Op::Timeout => "give up waiting at",
                Op::Notify => "notify",
                Op::NotifyAll => "notify all of",
                Op::BarrierEnter => "arrive at",
                Op::BarrierExit => "leave",
                Op::Post => "post",
                Op::Take | Op::TakeRequest => "take",
                Op::Send => "send to",
                Op::Receive => "receive from",
                Op::ReceiveRefused => "find nothing at",
                Op::FutexWait => "sleep on",
                Op::FutexWoken => "woken on",
                Op::FutexWake => "wake sleepers of",
                Op::Free => "free",
                Op::Exit => "end the program",
                Op::Refused | Op::ReadRefused | Op::TakeRefused => "fail to get",
                _ => "event",
            },
        ),
    }
}
