//! What a plan needs of a trace's events, collected while the trace is read: what each thread does, as far as schedules go.

use deadheat_trace::{Event, Op, Pc, Step, Tables};
use deadheat_wire::plan::{PlanEvent, PlanSite, Region};
use deadheat_wire::{CHANNELS_END, SIGNAL_CHANNELS};

use super::packed::{Coder, Packed};
use super::sites::Sites;
use crate::regions::Regions;

/// Whether code without hooks did something.
pub type IsForeign<'a> = Box<dyn FnMut(&Event, &Tables) -> bool + 'a>;

/// The events so far.
pub struct Events<'a> {
    is_foreign: IsForeign<'a>,
    pub regions: Regions,
    pub sites: Sites,
    pub threads: Vec<Thread>,
    coder: Coder,
    /// The trace lacks accesses to memory that threads do not share.
    pub partial: bool,
}

/// A thread's events that the runtime counts.
#[derive(Default)]
pub struct Thread {
    pub events: Packed,
    pub counted: Counted,
}

/// How many of a thread's first events the runtime counts: nearly all, so those that it does not are what is kept.
#[derive(Default)]
pub struct Counted {
    /// How many events there are.
    pub all: u64,
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
    pub fn upto(&self, events: u64) -> u64 {
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

impl<'a> Events<'a> {
    /// None yet. `is_foreign`: whether code without hooks did something; it is asked once for what is done at a place.
    pub fn new(is_foreign: impl FnMut(&Event, &Tables) -> bool + 'a) -> Self {
        Events {
            is_foreign: Box::new(is_foreign),
            regions: Regions::new(),
            sites: Sites::default(),
            threads: Vec::new(),
            coder: Coder::default(),
            partial: false,
        }
    }

    /// The next step of the trace, which schedules have if it `is_wanted`. `made_up`: a reader has added it to what was
    /// recorded. `is_goal`: a schedule leads to where it is next; then this is what its thread stands before.
    #[inline]
    pub fn step(
        &mut self,
        step: &Step,
        made_up: bool,
        tables: &Tables,
        is_wanted: bool,
        is_goal: bool,
    ) -> Option<PlanEvent> {
        self.partial |= tables.left_out.is_some();
        let id = step.event.thread();
        let op = step.event.op();
        // A fence that is nowhere in the program says only how far its thread was.
        let is_mark = op == Op::Fence && step.event.pc() == Pc::UNKNOWN;
        let is_planned = is_wanted && !made_up && is_counted(op) && !is_mark;
        let is_block = matches!(op, Op::Alloc | Op::Free);
        let planned = (is_planned || is_goal || is_block).then(|| self.event(step, tables));
        let goal = planned.filter(|_| is_goal).map(|planned| {
            let site = as_goal(self.sites.get(planned.site), made_up);
            let site = self.sites.add(site);
            PlanEvent { site, ..planned }
        });
        if is_wanted {
            if self.threads.len() <= id.index() {
                self.threads.resize_with(id.index() + 1, Thread::default);
            }
            let thread = &mut self.threads[id.index()];
            thread.counted.push(is_planned);
            if let Some(planned) = planned.filter(|_| is_planned) {
                thread.events.push(planned, &mut self.coder);
            }
        }
        goal
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
            (Op::Send | Op::Receive | Op::ReceiveRefused, Some(channel))
                if channel < CHANNELS_END as u64 =>
            {
                (Region::ANY, 0)
            }
            (Op::Receive | Op::ReceiveRefused, Some(channel))
                if SIGNAL_CHANNELS.contains(&(channel as usize)) =>
            {
                (Region::FIXED, channel)
            }
            (_, Some(address)) if address != 0 => match self.regions.locate(address, tables) {
                // A plan that lacks accesses tells them by where they were.
                (Region::ANY, _) if matches!(op, Op::Read | Op::Write) => (Region::ANY, address),
                located => located,
            },
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
pub fn as_goal(mut site: PlanSite, made_up: bool) -> PlanSite {
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
