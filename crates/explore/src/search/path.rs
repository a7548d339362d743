//! The run as it stands: its transitions with their clocks, and what each depends on.
//!
//! A search goes back to some place of the last run and on from there. What stands before that place stays, and nothing of it is
//! computed again.

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

use super::{
    clocks::Clock,
    dependence::{Relation, bytes, is_meeting},
    execution::{Deed, Transition, Turn},
    memory::{Entered, Memory, Spot},
    objects::Objects,
};

/// A transition of the run.
pub(super) struct Event {
    pub(super) transition: Transition,
    pub(super) slot: usize,
    /// What is known behind it, itself included.
    pub(super) clock: Clock,
    /// How much there was to take back before it.
    undo: usize,
}

/// An earlier transition that a new one depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Predecessor {
    /// Where it stands.
    pub(super) event: usize,
    pub(super) relation: Relation,
    /// Which of its deeds.
    pub(super) theirs: usize,
    /// Which deed of the new one.
    pub(super) mine: usize,
}

/// What a transition, which may still be to come, depends on.
pub(super) struct Arrival {
    pub(super) slot: usize,
    /// What the thread knows before it, and of those without whom it could not be.
    pub(super) base: Clock,
    /// What it depends on, the latest first.
    pub(super) predecessors: Vec<Predecessor>,
}

enum Undo {
    Memory(Entered),
    Object(u64),
    Fork(u32),
}

/// The run as it stands.
#[derive(Default)]
pub(super) struct Path {
    events: Vec<Event>,
    slots: FxHashMap<u32, usize>,
    /// For each thread where its transitions stand.
    places: Vec<Vec<u32>>,
    forks: FxHashMap<u32, usize>,
    memory: Memory,
    objects: Objects,
    undo: Vec<Undo>,
}

impl Path {
    /// How many transitions there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// The transition at a place.
    pub(super) fn event(&self, place: usize) -> &Event {
        &self.events[place]
    }

    /// The turns that lead up to a place.
    pub(super) fn turns(&self, behind: usize) -> Vec<Turn> {
        self.events[..behind]
            .iter()
            .map(|event| turn(&event.transition))
            .collect()
    }

    /// Whether the one at `a` happens before the one at `b`, or is it.
    pub(super) fn happens_before(&self, a: usize, b: usize) -> bool {
        self.events[b].clock.knows(self.events[a].slot, a)
    }

    /// The number of a thread in clocks.
    pub(super) fn slot(&mut self, thread: u32) -> usize {
        let next = self.slots.len();
        let slot = *self.slots.entry(thread).or_insert(next);
        if self.places.len() <= slot {
            self.places.resize_with(slot + 1, Vec::new);
        }
        slot
    }

    /// Goes back to where there were so many transitions.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.events.len() > len {
            let Some(event) = self.events.pop() else {
                return;
            };
            self.places[event.slot].pop();
            while self.undo.len() > event.undo {
                match self.undo.pop() {
                    Some(Undo::Memory(entered)) => self.memory.leave(entered),
                    Some(Undo::Object(object)) => self.objects.leave(object),
                    Some(Undo::Fork(thread)) => {
                        self.forks.remove(&thread);
                    }
                    None => {}
                }
            }
        }
    }

    /// What a thread that does this next depends on.
    pub(super) fn arrival(&mut self, thread: u32, deeds: &[Deed]) -> Arrival {
        let slot = self.slot(thread);
        let mut predecessors: Vec<Predecessor> = Vec::new();
        let mut base = Clock::default();
        match self.places[slot].last() {
            Some(&place) => base.join(&self.events[place as usize].clock),
            None => {
                if let Some(&fork) = self.forks.get(&thread) {
                    base.join(&self.events[fork].clock);
                }
            }
        }
        for (mine, deed) in deeds.iter().enumerate() {
            let mut show = |spot: Spot, relation| {
                let event = spot.event as usize;
                if self.events[event].slot != slot {
                    predecessors.push(Predecessor {
                        event,
                        relation,
                        theirs: spot.deed as usize,
                        mine,
                    });
                }
            };
            if let Some(bytes) = bytes(deed) {
                self.memory
                    .before(bytes.start, bytes.end, bytes.write, &mut |spot| {
                        show(spot, Relation::Race);
                    });
            }
            if is_meeting(deed.op) {
                self.objects.before(slot, deed, &base, &mut show);
            }
            if deed.op == Op::Join
                && let Some(event) = self.last_of(deed.object)
            {
                let relation = if deed.tried {
                    Relation::Race
                } else {
                    Relation::Cause
                };
                show(Spot { event, deed: 0 }, relation);
            }
        }
        predecessors.sort_by_key(|one| (std::cmp::Reverse(one.event), one.mine, one.theirs));
        predecessors.dedup();
        for one in &predecessors {
            if one.relation == Relation::Cause {
                base.join(&self.events[one.event].clock);
            }
        }
        Arrival {
            slot,
            base,
            predecessors,
        }
    }

    /// What a thread may race with that does this some time behind the run as it stands, if it will know this much of it.
    pub(super) fn ahead(&mut self, thread: u32, deeds: &[Deed], known: &Clock) -> Arrival {
        let slot = self.slot(thread);
        let mut predecessors = Vec::new();
        for (mine, deed) in deeds.iter().enumerate() {
            let mut show = |spot: Spot, relation| {
                let event = spot.event as usize;
                let theirs = self.events[event].slot;
                if theirs != slot && !known.knows(theirs, event) {
                    predecessors.push(Predecessor {
                        event,
                        relation,
                        theirs: spot.deed as usize,
                        mine,
                    });
                }
            };
            if let Some(bytes) = bytes(deed) {
                self.memory
                    .before(bytes.start, bytes.end, bytes.write, &mut |spot| {
                        show(spot, Relation::Race);
                    });
            }
            if is_meeting(deed.op) {
                self.objects.ahead(slot, deed, known, &mut show);
            }
            if deed.op == Op::Join
                && deed.tried
                && let Some(event) = self.last_of(deed.object)
            {
                show(Spot { event, deed: 0 }, Relation::Race);
            }
        }
        predecessors.sort_by_key(|one| (std::cmp::Reverse(one.event), one.mine, one.theirs));
        predecessors.dedup();
        Arrival {
            slot,
            base: known.clone(),
            predecessors,
        }
    }

    /// Where the last transition of a thread stands.
    fn last_of(&self, thread: u64) -> Option<u32> {
        let slot = self.slots.get(&u32::try_from(thread).ok()?)?;
        self.places[*slot].last().copied()
    }

    /// The transition has happened.
    pub(super) fn push(&mut self, transition: Transition, arrival: &Arrival) {
        let place = self.events.len();
        let slot = arrival.slot;
        let mut clock = arrival.base.clone();
        for one in &arrival.predecessors {
            if !clock.knows(self.events[one.event].slot, one.event) {
                clock.join(&self.events[one.event].clock);
            }
        }
        clock.learn(slot, place);
        let before = self.undo.len();
        let undo = &mut self.undo;
        for (number, deed) in transition.deeds.iter().enumerate() {
            let spot = Spot {
                event: place as u32,
                deed: number as u32,
            };
            if let Some(bytes) = bytes(deed) {
                self.memory
                    .enter(spot, bytes.start, bytes.end, bytes.write, &mut |entered| {
                        undo.push(Undo::Memory(entered));
                    });
            }
            if is_meeting(deed.op) {
                let variant = (transition.variant, transition.variants);
                self.objects.enter(spot, slot, deed, variant);
                undo.push(Undo::Object(deed.object));
            }
            match deed.op {
                Op::Alloc => {
                    let end = deed.object.saturating_add(u64::from(deed.size.max(1)));
                    self.memory.renew(spot, deed.object, end, &mut |entered| {
                        undo.push(Undo::Memory(entered));
                    });
                }
                Op::Fork => {
                    if let Ok(thread) = u32::try_from(deed.object) {
                        self.forks.insert(thread, place);
                        undo.push(Undo::Fork(thread));
                    }
                }
                _ => {}
            }
        }
        self.places[slot].push(place as u32);
        self.events.push(Event {
            transition,
            slot,
            clock,
            undo: before,
        });
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let events: usize = self
            .events
            .iter()
            .map(|event| {
                size_of::<Event>()
                    + event.clock.bytes()
                    + event.transition.deeds.capacity() * size_of::<Deed>()
            })
            .sum();
        events
            + self.memory.bytes()
            + self.objects.bytes()
            + self.undo.capacity() * size_of::<Undo>()
    }
}

/// The turn that a transition was.
pub(super) fn turn(transition: &Transition) -> Turn {
    Turn {
        thread: transition.thread,
        variant: transition.variant,
    }
}
