//! A plan as the file that the runtime follows.

use std::io::{self, Write};
use std::sync::Arc;

use deadheat_trace::{Op, ThreadId};
use deadheat_wire::plan::{
    After, GoalKind, MAGIC, PlanEvent, PlanGoal, PlanHeader, PlanOffshoot, PlanSegment, PlanSite,
    PlanThread, VERSION,
};
use rustc_hash::FxHashMap;

use super::packed::Packed;

/// A schedule to enforce, ready to be written. Copies share their events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) header: PlanHeader,
    pub(super) threads: Vec<PlanThread>,
    pub(super) segments: Vec<PlanSegment>,
    sites: Arc<Vec<PlanSite>>,
    /// By thread. The plan has as many of them as the thread's entry says.
    events: Vec<Arc<Packed>>,
    pub(super) goals: Vec<PlanGoal>,
    pub(super) offshoots: Vec<PlanOffshoot>,
}

/// A schedule that leaves the common one.
pub(super) struct Offshoot {
    /// Behind so many of its segments.
    pub at: usize,
    /// Which thread goes on until how many of its events have happened.
    pub order: Vec<(ThreadId, u64)>,
    pub goals: Vec<(ThreadId, PlanEvent)>,
    pub goal: GoalKind,
}

/// What a plan is made of.
pub(super) struct Parts {
    pub goal: GoalKind,
    pub steady: bool,
    /// Threads do more than the trace has.
    pub partial: bool,
    pub regions: u32,
    pub sites: Arc<Vec<PlanSite>>,
    /// The threads: their number, their events, and how many of these happen.
    pub threads: Vec<(ThreadId, Arc<Packed>, u64)>,
    /// Which thread goes on until how many of its events have happened.
    pub order: Vec<(ThreadId, u64)>,
    pub goals: Vec<(ThreadId, PlanEvent)>,
}

impl Plan {
    pub(super) fn of(mut parts: Parts) -> Self {
        parts.order = joined(parts.order);
        Plan::with_offshoots(parts, Vec::new())
    }

    /// The same, and where others leave its order. Segments are as they are told, since offshoots count them.
    pub(super) fn with_offshoots(parts: Parts, offshoots: Vec<Offshoot>) -> Self {
        let places: FxHashMap<ThreadId, u32> = parts
            .threads
            .iter()
            .zip(0..)
            .map(|((id, ..), at)| (*id, at))
            .collect();
        let number = |id: ThreadId| places.get(&id).copied().unwrap_or(0);
        let segment = |(id, upto): &(ThreadId, u64)| PlanSegment {
            thread: number(*id),
            reserved: 0,
            upto: *upto,
        };
        let mut segments: Vec<PlanSegment> = parts.order.iter().map(segment).collect();
        let trunk = segments.len() as u64;
        let goal = |(id, event): &(ThreadId, PlanEvent)| PlanGoal {
            thread: number(*id),
            reserved: 0,
            event: *event,
        };
        let mut goals: Vec<PlanGoal> = parts.goals.iter().map(goal).collect();
        let mut planned = Vec::new();
        for offshoot in offshoots {
            let (first_segment, first_goal) = (segments.len(), goals.len());
            segments.extend(joined(offshoot.order).iter().map(segment));
            goals.extend(offshoot.goals.iter().map(goal));
            planned.push(PlanOffshoot {
                at: offshoot.at as u64,
                segment: first_segment as u64,
                segments: (segments.len() - first_segment) as u64,
                goal: first_goal as u32,
                goals: (goals.len() - first_goal) as u32,
                kind: offshoot.goal as u32,
                reserved: 0,
            });
        }
        let (mut threads, mut events, mut first) = (Vec::new(), Vec::new(), 0);
        for (id, own, count) in parts.threads {
            threads.push(PlanThread {
                id: id.0,
                reserved: 0,
                first,
                count,
            });
            events.push(own);
            first += count;
        }
        Plan {
            header: PlanHeader {
                magic: MAGIC,
                version: VERSION,
                goal: parts.goal as u32,
                after: After::Stop as u32,
                first: 0,
                steady: u32::from(parts.steady),
                threads: threads.len() as u32,
                goals: goals.len() as u32,
                regions: parts.regions,
                partial: u32::from(parts.partial),
                offshoots: planned.len() as u32,
                sites: parts.sites.len() as u64,
                segments: segments.len() as u64,
                trunk,
                events: first,
                at: 0,
                value: 0,
                value_bytes: 0,
            },
            threads,
            segments,
            sites: parts.sites,
            events,
            goals,
            offshoots: planned,
        }
    }

    /// The same with something else happening at its goals: `first` is the goal whose thread goes first then.
    pub fn then(mut self, after: After, first: u32) -> Self {
        (self.header.after, self.header.first) = (after as u32, first);
        self
    }

    /// Whether places of the run are those of the recording.
    pub fn is_steady(&self) -> bool {
        self.header.steady != 0
    }

    /// How many events it has.
    pub fn length(&self) -> usize {
        self.header.events as usize
    }

    /// How often another thread goes on.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    /// Shows the events, thread by thread, some at a time.
    fn each_event<E>(&self, mut visit: impl FnMut(&[PlanEvent]) -> Result<(), E>) -> Result<(), E> {
        let mut parts = self.threads.iter().zip(&self.events);
        parts.try_for_each(|(thread, events)| events.each(thread.count, &mut visit))
    }

    /// All of them.
    #[cfg(test)]
    fn events(&self) -> Vec<PlanEvent> {
        let mut all = Vec::new();
        let shown: Result<(), std::convert::Infallible> = self.each_event(|some| {
            all.extend_from_slice(some);
            Ok(())
        });
        let Ok(()) = shown;
        all
    }

    /// The event that a thread should do after so many, if the plan has one: the operation and its place.
    pub fn expected(&self, thread: ThreadId, done: u64) -> Option<(Op, u64)> {
        let index = self.threads.iter().position(|known| known.id == thread.0)?;
        let event = match done < self.threads[index].count {
            true => self.events[index].get(done)?,
            false => {
                let mut goals = self.goals.iter();
                goals.find(|goal| goal.thread as usize == index)?.event
            }
        };
        let site = &self.sites[event.site as usize];
        Some((Op::from_number(site.op)?, site.pc))
    }

    /// What the events do, thread by thread.
    #[cfg(test)]
    pub(super) fn ops(&self) -> Vec<Op> {
        let op = |event: &PlanEvent| Op::from_number(self.sites[event.site as usize].op);
        self.events()
            .iter()
            .map(|event| op(event).unwrap())
            .collect()
    }

    /// Which regions they are about.
    #[cfg(test)]
    pub(super) fn regions(&self) -> Vec<u32> {
        self.events().iter().map(|event| event.region).collect()
    }

    /// What a site is.
    #[cfg(test)]
    pub(super) fn site(&self, number: u32) -> PlanSite {
        self.sites[number as usize]
    }

    /// How many sites they have.
    #[cfg(test)]
    pub(super) fn sites(&self) -> usize {
        self.sites.len()
    }

    /// Writes the file.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let header = &self.header;
        let mut bytes = header.magic.to_vec();
        for half in [
            header.version,
            header.goal,
            header.after,
            header.first,
            header.steady,
            header.threads,
            header.goals,
            header.regions,
            header.partial,
            header.offshoots,
        ] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        for word in [
            header.sites,
            header.segments,
            header.trunk,
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
        for site in &*self.sites {
            bytes.extend_from_slice(&[site.op, site.soft]);
            bytes.extend_from_slice(&site.size.to_le_bytes());
            bytes.extend_from_slice(&site.moves.to_le_bytes());
            bytes.extend_from_slice(&site.pc.to_le_bytes());
        }
        self.each_event(|some| {
            out.write_all(&bytes)?;
            bytes.clear();
            some.iter().for_each(|event| put_event(&mut bytes, event));
            Ok::<(), io::Error>(())
        })?;
        for goal in &self.goals {
            bytes.extend_from_slice(&u64::from(goal.thread).to_le_bytes());
            put_event(&mut bytes, &goal.event);
        }
        for offshoot in &self.offshoots {
            for word in [offshoot.at, offshoot.segment, offshoot.segments] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for half in [offshoot.goal, offshoot.goals, offshoot.kind, 0] {
                bytes.extend_from_slice(&half.to_le_bytes());
            }
        }
        out.write_all(&bytes)
    }
}

/// Stretches of one thread that follow each other as one.
fn joined(order: Vec<(ThreadId, u64)>) -> Vec<(ThreadId, u64)> {
    let mut joined: Vec<(ThreadId, u64)> = Vec::new();
    for (id, upto) in order {
        match joined.last_mut() {
            Some((last, sum)) if *last == id => *sum = upto,
            _ => joined.push((id, upto)),
        }
    }
    joined
}

#[inline]
fn put_event(bytes: &mut Vec<u8>, event: &PlanEvent) {
    let mut all = [0; size_of::<PlanEvent>()];
    all[..4].copy_from_slice(&event.site.to_le_bytes());
    all[4..8].copy_from_slice(&event.region.to_le_bytes());
    all[8..].copy_from_slice(&event.target.to_le_bytes());
    bytes.extend_from_slice(&all);
}
