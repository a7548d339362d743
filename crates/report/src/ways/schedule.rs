//! Which events of a trace belong to the end of a schedule.

use std::ops::Range;

use deadheat_trace::{Event, EventIndex, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Limits, Then, Way};
use crate::context::Context;

/// An event that was kept.
pub struct Kept {
    /// Where it stands in the trace.
    pub index: EventIndex,
    /// What surrounded it.
    pub context: Context,
    /// What it read may come from an event that the schedule leaves out.
    pub is_doubtful: bool,
}

/// Some events of a thread that follow each other in the schedule.
struct Part {
    /// The thread's events since the beginning, counted.
    events: Range<u64>,
    /// Which slot the first has.
    slot: usize,
}

/// Follows the trace for one schedule.
pub struct Follower {
    way: Way,
    /// The end of the beginning, as it was recorded.
    recorded: Range<u64>,
    /// What is looked at behind it, by thread.
    parts: FxHashMap<ThreadId, Vec<Part>>,
    /// The same by position.
    slots: FxHashMap<EventIndex, usize>,
    /// What belongs to the schedule and is not looked at, by position.
    hidden: FxHashSet<EventIndex>,
    /// How many events of each thread belong to the schedule behind the beginning.
    scheduled: FxHashMap<ThreadId, u64>,
    /// How many events of each thread the beginning has.
    passed: Option<Vec<u64>>,
    /// The events, in the order of the schedule.
    kept: Vec<Option<Kept>>,
    next: Vec<Option<Kept>>,
    also: Vec<Kept>,
    /// Words that events have written which are not in the schedule.
    left_out: Words,
    /// Words that events of the schedule have written which are not looked at.
    not_looked_at: Words,
    /// How many events the schedule has before those that are looked at.
    earlier: u64,
    /// How many events have not come yet.
    missing: usize,
    /// How many events of each thread were skipped so far.
    skipped: FxHashMap<ThreadId, u64>,
}

impl Follower {
    /// For a schedule of which so much is to be told.
    pub(super) fn new(way: Way, limits: Limits) -> Self {
        let looked_at = limits.looked_at;
        let mut follower = Follower {
            recorded: 0..0,
            parts: FxHashMap::default(),
            slots: FxHashMap::default(),
            hidden: FxHashSet::default(),
            scheduled: FxHashMap::default(),
            passed: None,
            kept: Vec::new(),
            next: way.next.iter().map(|_| None).collect(),
            also: Vec::new(),
            left_out: Words::at_most(limits.words),
            not_looked_at: Words::at_most(limits.words),
            earlier: 0,
            missing: 0,
            skipped: FxHashMap::default(),
            way,
        };
        let behind = follower.behind(looked_at);
        let start = follower.way.start.0;
        follower.recorded = start - start.min(looked_at - behind)..start;
        let before = (follower.recorded.end - follower.recorded.start) as usize;
        for part in follower.parts.values_mut().flatten() {
            part.slot += before;
        }
        follower.slots.values_mut().for_each(|slot| *slot += before);
        let many = before + behind as usize;
        follower.kept = std::iter::repeat_with(|| None).take(many).collect();
        follower.earlier = follower.earlier.saturating_add(follower.recorded.start);
        follower.missing = many + follower.next.len();
        follower
    }

    /// Lays out what is looked at behind the beginning; how many events that are.
    fn behind(&mut self, looked_at: u64) -> u64 {
        match &self.way.then {
            Then::Events(events) => {
                let first = events.len().saturating_sub(looked_at as usize);
                self.earlier = first as u64;
                let shown = events[first..].iter().enumerate();
                self.hidden = events[..first].iter().copied().collect();
                self.slots = shown.map(|(slot, index)| (*index, slot)).collect();
                (events.len() - first) as u64
            }
            Then::Parts(parts) => {
                let counts = parts.iter().map(|(_, count)| *count);
                let total = counts.fold(0, u64::saturating_add);
                self.earlier = total.saturating_sub(looked_at);
                let mut position = 0;
                for (thread, count) in parts {
                    let of_thread = self.scheduled.entry(*thread).or_default();
                    let hidden = self.earlier.saturating_sub(position).min(*count);
                    let end = of_thread.saturating_add(*count);
                    if hidden < *count {
                        self.parts.entry(*thread).or_default().push(Part {
                            events: *of_thread + hidden..end,
                            slot: (position + hidden - self.earlier) as usize,
                        });
                    }
                    *of_thread = end;
                    position = u64::saturating_add(position, *count);
                }
                total - self.earlier
            }
        }
    }

    /// The first event that may matter to it: nothing before is asked for.
    pub fn begins(&self) -> EventIndex {
        let also = self.way.also.iter().copied();
        let skipped = self.way.skipped.iter().map(|part| part.first);
        let recorded = EventIndex(self.recorded.start);
        also.chain(skipped).fold(recorded, EventIndex::min)
    }

    /// Whether all of its events have come.
    pub fn is_through(&self) -> bool {
        self.missing == 0
    }

    /// The next step of the trace. `passed`: how many of each thread there were before; `context`: what surrounds it.
    pub fn step(
        &mut self,
        index: EventIndex,
        step: &Step,
        passed: &[u64],
        context: impl FnOnce() -> Context,
    ) {
        if self.missing == 0 {
            return;
        }
        if index >= self.way.start && self.passed.is_none() {
            self.passed = Some(passed.to_vec());
        }
        let thread = step.event.thread();
        let mut skipped = self.way.skipped.iter();
        if skipped.any(|part| part.has(thread, index)) {
            *self.skipped.entry(thread).or_default() += 1;
            if step.event.op().writes() {
                self.left_out.add(&step.event);
            }
            return;
        }
        let slot = match index < self.way.start {
            true => index
                .0
                .checked_sub(self.recorded.start)
                .map(|slot| slot as usize),
            false => self.slot(index, &step.event, passed),
        };
        let next = self.way.next.iter().position(|next| *next == index);
        let is_also = self.way.also.contains(&index);
        if next.is_some() || is_also || slot.is_some() {
            let op = step.event.op();
            let is_doubtful =
                op.reads() && words_of(&step.event).any(|word| self.left_out.has(word));
            let kept = Kept {
                index,
                context: context(),
                is_doubtful,
            };
            let come = usize::from(next.is_some()) + usize::from(slot.is_some());
            self.missing = self.missing.saturating_sub(come);
            match (next, slot) {
                (Some(next), _) => self.next[next] = Some(kept),
                (None, Some(slot)) => {
                    if let Some(place) = self.kept.get_mut(slot) {
                        *place = Some(kept);
                    }
                }
                (None, None) => self.also.push(kept),
            }
        } else if index >= self.way.start && step.event.op().writes() {
            match self.is_scheduled(index, step.event.thread(), passed) {
                true => self.not_looked_at.add(&step.event),
                false => self.left_out.add(&step.event),
            }
        }
    }

    /// Whether an event behind the beginning belongs to the schedule.
    fn is_scheduled(&self, index: EventIndex, thread: ThreadId, passed: &[u64]) -> bool {
        match self.way.then {
            Then::Events(_) => self.slots.contains_key(&index) || self.hidden.contains(&index),
            Then::Parts(_) => {
                let scheduled = self.scheduled.get(&thread).copied().unwrap_or(0);
                self.number(thread, passed) < scheduled
            }
        }
    }

    /// How many events the schedule has before those that are looked at.
    pub fn earlier(&self) -> u64 {
        self.earlier
    }

    /// What was kept, in the order of the schedule, with the number of each among those that are looked at. What is next in the end is not among them.
    pub fn kept(&self) -> impl Iterator<Item = (usize, &Kept)> {
        let slots = self.kept.iter().enumerate();
        slots.filter_map(|(slot, kept)| Some((slot, kept.as_ref()?)))
    }

    /// What is next in the end; `None` if the trace does not have all of it.
    pub fn next(&self) -> Option<Vec<&Kept>> {
        self.next.iter().map(Option::as_ref).collect()
    }

    /// Whether an event belongs to the beginning, which happens as it was recorded.
    pub fn is_recorded(&self, index: EventIndex) -> bool {
        index < self.way.start
    }

    /// Whether an event is to be told, however long before.
    pub fn is_asked_for(&self, index: EventIndex) -> bool {
        self.way.also.contains(&index)
    }

    /// What was asked for besides and lies before all that was kept.
    pub fn also(&self) -> &[Kept] {
        &self.also
    }

    /// Whether events of the schedule that are not looked at may have written what this one reads.
    pub fn is_hidden(&self, event: &Event) -> bool {
        words_of(event).any(|word| self.not_looked_at.has(word))
    }

    /// Which of its thread's events behind the beginning is next.
    fn number(&self, thread: ThreadId, passed: &[u64]) -> u64 {
        let at_start = self.passed.as_deref().unwrap_or_default();
        let of = |all: &[u64]| all.get(thread.index()).copied().unwrap_or(0);
        let skipped = self.skipped.get(&thread).copied().unwrap_or(0);
        of(passed) - of(at_start) - skipped
    }

    fn slot(&self, index: EventIndex, event: &Event, passed: &[u64]) -> Option<usize> {
        if let Then::Events(_) = self.way.then {
            return self.slots.get(&index).copied();
        }
        let parts = self.parts.get(&event.thread())?;
        let number = self.number(event.thread(), passed);
        let after = parts.partition_point(|part| part.events.end <= number);
        let part = parts.get(after)?;
        let inside = number.checked_sub(part.events.start)?;
        Some(part.slot + inside as usize)
    }
}

/// Words of memory, so many at most: with more, every one may be among them.
struct Words {
    all: FxHashSet<u64>,
    most: usize,
}

impl Words {
    fn at_most(most: usize) -> Self {
        Words {
            all: FxHashSet::default(),
            most,
        }
    }

    fn add(&mut self, event: &Event) {
        if self.all.len() < self.most {
            self.all.extend(words_of(event));
        }
    }

    fn has(&self, word: u64) -> bool {
        self.all.len() >= self.most || self.all.contains(&word)
    }
}

/// The words of eight bytes that an access touches.
fn words_of(event: &Event) -> impl Iterator<Item = u64> + use<> {
    let first = event.addr().0 / 8;
    let last = (event.addr().0 + event.size().max(1) - 1) / 8;
    first..=last
}
