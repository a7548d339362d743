//! Atomic accesses and fences, by the rules of C++20, which are Rust's too.
//!
//! A read takes its value from the write that stands last before it in the trace. What it may receive
//! was sent by the *heads* of the release sequences that this write belongs to:
//!
//! - A release write is the head of one, with all that its thread knows. A relaxed write behind a release
//!   fence of its thread is too, with what the thread knew at the fence.
//! - A read-modify-write goes on with all sequences at its location, whatever its order.
//! - Any other write ends them all, whoever does it. (Up to C++17 and in C11, those whose head was of the
//!   writing thread went on. Compilers and processors owe nobody that order any more.)
//! - An acquiring read receives; a relaxed one receives when its thread comes to an acquire fence.
//!
//! Fences that are `acq_rel` or `seq_cst` are both kinds. The total order of `seq_cst` says what may be
//! read, and orders nothing else.
//!
//! A *location* is a start and a size, within 16 aligned bytes. A read receives from all locations
//! that it overlaps; a write ends those that it covers, and leaves those that it covers in part: more
//! order than there is, for programs that mix sizes. A plain write to an atomic's bytes ends nothing,
//! with the same effect. Locations are forgotten when their memory is handed out anew.

use deadheat_trace::{Addr, Event, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Clock;

const UNIT_SHIFT: u32 = 4;

/// What lies in atomic locations, and what fences did.
#[derive(Clone, Debug)]
pub(super) struct Atomics<C> {
    /// By the 16 bytes that they lie in.
    units: FxHashMap<u64, SmallVec<[Location<C>; 1]>>,
    ignored: FxHashSet<Addr>,
    fences: Vec<Fences<C>>,
}

/// A location that release sequences have come to.
#[derive(Clone, Debug)]
struct Location<C> {
    start: u64,
    size: u64,
    /// What the heads of these sequences sent.
    sent: C,
}

/// What a thread's fences have to do with.
#[derive(Clone, Debug, Default)]
struct Fences<C> {
    /// What it knew at its last release fence.
    released: Option<C>,
    /// What its relaxed reads found, and no acquire fence has received.
    found: Option<C>,
}

impl<C> Default for Atomics<C> {
    fn default() -> Self {
        Atomics {
            units: FxHashMap::default(),
            ignored: FxHashSet::default(),
            fences: Vec::new(),
        }
    }
}

impl<C: Clock> Atomics<C> {
    /// A fence of the thread that has the clock `mine`. Whether it sends.
    pub fn fence(&mut self, event: &Event, mine: &mut C) -> bool {
        let order = event.order();
        let fences = self.fences(event.thread());
        if order.acquires()
            && let Some(found) = fences.found.take()
        {
            mine.join(&found);
        }
        if order.releases() {
            fences.released.get_or_insert_default().copy_from(mine);
        }
        order.releases()
    }

    /// What an atomic read receives.
    pub fn receive(&mut self, event: &Event, mine: &mut C) {
        if !self.is_ignored(event) {
            self.read(event, mine);
        }
    }

    /// What an atomic write sends. Whether it does.
    pub fn send(&mut self, event: &Event, mine: &C) -> bool {
        if self.is_ignored(event) {
            return false;
        }
        self.write(event, mine);
        event.order().releases()
    }

    fn is_ignored(&self, event: &Event) -> bool {
        !self.ignored.is_empty() && self.ignored.contains(&event.addr())
    }

    fn read(&mut self, event: &Event, mine: &mut C) {
        let Some(unit) = self.units.get(&(event.addr().0 >> UNIT_SHIFT)) else {
            return;
        };
        let (thread, acquires) = (event.thread().index(), event.order().acquires());
        if !acquires && thread >= self.fences.len() {
            self.fences.resize_with(thread + 1, Fences::default);
        }
        let locations = unit.iter().filter(|location| location.overlaps(event));
        for location in locations {
            if acquires {
                mine.join(&location.sent);
            } else {
                let found = self.fences[thread].found.get_or_insert_default();
                found.join(&location.sent);
            }
        }
    }

    fn write(&mut self, event: &Event, mine: &C) {
        let unit = event.addr().0 >> UNIT_SHIFT;
        let fences = self.fences.get(event.thread().index());
        let sent = match event.order().releases() {
            true => Some(mine),
            false => fences.and_then(|fences| fences.released.as_ref()),
        };
        let mut entry = match (self.units.entry(unit), sent) {
            (std::collections::hash_map::Entry::Occupied(entry), _) => entry,
            (entry, Some(_)) => entry.insert_entry(SmallVec::new()),
            (_, None) => return,
        };
        let unit = entry.get_mut();
        if event.op() == Op::AtomicWrite {
            unit.retain(|location| !location.is_within(event));
        }
        if let Some(sent) = sent {
            let at = unit.iter().position(|location| location.is(event));
            let at = at.unwrap_or_else(|| {
                unit.push(Location::of(event));
                unit.len() - 1
            });
            unit[at].sent.join(sent);
        }
        if entry.get().is_empty() {
            entry.remove();
        }
    }

    /// Accesses at this address have nothing to do with messages.
    pub fn ignore(&mut self, addr: Addr) {
        if self.ignored.insert(addr) {
            self.forget_locations(addr.0, 1);
        }
    }

    /// This memory is new.
    pub fn forget(&mut self, addr: Addr, size: u64) {
        self.forget_locations(addr.0, size);
        let memory = addr.0..addr.0.saturating_add(size);
        if !self.ignored.is_empty() {
            self.ignored.retain(|addr| !memory.contains(&addr.0));
        }
    }

    fn forget_locations(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        if self.units.is_empty() || start == end {
            return;
        }
        let inside = |location: &Location<C>| location.start >= start && location.start < end;
        let (first, last) = (start >> UNIT_SHIFT, (end - 1) >> UNIT_SHIFT);
        if last - first > self.units.len() as u64 {
            self.units.retain(|_, unit| {
                unit.retain(|location| !inside(location));
                !unit.is_empty()
            });
            return;
        }
        for number in first..=last {
            if let Some(unit) = self.units.get_mut(&number) {
                unit.retain(|location| !inside(location));
                if unit.is_empty() {
                    self.units.remove(&number);
                }
            }
        }
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let locations = self.units.values().flatten();
        let clocks: usize = locations.map(|location| location.sent.memory()).sum();
        self.units.capacity() * size_of::<(u64, SmallVec<[Location<C>; 1]>)>() + clocks
    }

    fn fences(&mut self, thread: ThreadId) -> &mut Fences<C> {
        if thread.index() >= self.fences.len() {
            self.fences.resize_with(thread.index() + 1, Fences::default);
        }
        &mut self.fences[thread.index()]
    }
}

impl<C: Clock> Location<C> {
    fn of(event: &Event) -> Self {
        Location {
            start: event.addr().0,
            size: event.size(),
            sent: C::default(),
        }
    }

    fn is(&self, event: &Event) -> bool {
        (self.start, self.size) == (event.addr().0, event.size())
    }

    fn overlaps(&self, event: &Event) -> bool {
        let start = event.addr().0;
        self.start < start + event.size() && start < self.start + self.size
    }

    fn is_within(&self, event: &Event) -> bool {
        let start = event.addr().0;
        start <= self.start && self.start + self.size <= start + event.size()
    }
}
