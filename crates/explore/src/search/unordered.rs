//! Races by happens-before in one execution: two conflicting accesses that nothing orders in it, by C++20's rules, whether or not
//! any interleaving brings them side by side. (A relaxed publication is such a race: the reader comes to its access only
//! behind the writer's.)
//!
//! The detector is the one of recordings, [`deadheat_detect::Hb`]. What happened before the search began is not shown to it: it
//! speaks of what both threads do from there on, which nothing earlier orders.

use deadheat_detect::{Detector, Hb, Races};
use deadheat_trace::{Addr, Event, EventIndex, Op, Pc, Step, Tables, ThreadId};
use rustc_hash::FxHashMap;

use super::dependence::{Kind, kind};
use super::execution::{Deed, Execution, Site};

/// Two accesses that nothing orders.
pub(super) struct Pair {
    /// Who does the earlier one, and what.
    pub(super) first: (u32, Deed),
    /// The later one.
    pub(super) second: (u32, Deed),
    /// How many transitions there are up to the later one, itself included.
    pub(super) len: usize,
}

/// All pairs of places of an execution with a race.
pub(super) fn of(execution: &Execution) -> Vec<Pair> {
    let mut numbers = Numbers::default();
    let (mut hb, mut races, tables) = (Hb::of_all_places(), Races::new(), Tables::default());
    // Which operation of which transition each event is.
    let mut origins: Vec<(usize, usize)> = Vec::new();
    for (place, transition) in execution.transitions.iter().enumerate() {
        for (number, deed) in transition.deeds.iter().enumerate() {
            numbers.steps(transition.thread, deed, &mut |step| {
                let index = EventIndex(origins.len() as u64);
                origins.push((place, number));
                hb.step(index, &step, &tables, &mut races);
            });
        }
    }
    let access = |index: EventIndex| {
        let (place, number) = origins[index.0 as usize];
        let transition = &execution.transitions[place];
        (place, (transition.thread, transition.deeds[number]))
    };
    let pairs = races.found().iter().map(|found| {
        let (_, first) = access(found.race.first.index);
        let (place, second) = access(found.race.second.index);
        let len = place + 1;
        Pair { first, second, len }
    });
    pairs.collect()
}

/// What places and objects are called in events.
#[derive(Default)]
struct Numbers {
    places: FxHashMap<Site, u32>,
    objects: FxHashMap<(u64, Kind), u64>,
}

impl Numbers {
    /// The events of an operation: one, or several for a range that is too long for one.
    fn steps(&mut self, thread: u32, deed: &Deed, show: &mut impl FnMut(Step)) {
        let thread = ThreadId(thread);
        let next = self.places.len() as u32;
        let pc = Pc(*self.places.entry(deed.site()).or_insert(next));
        let at = Addr(deed.object);
        let plain = |target: u64| Step::new(Event::new(thread, deed.op, target, pc));
        match deed.op {
            Op::Read | Op::Write => {
                let mut offset = 0;
                while offset < u64::from(deed.size.max(1)) {
                    let size = (u64::from(deed.size.max(1)) - offset).min(Event::MAX_SIZE);
                    let at = Addr(deed.object + offset);
                    show(Step::new(Event::access(
                        thread,
                        deed.op,
                        at,
                        size as u16,
                        pc,
                    )));
                    offset += size;
                }
            }
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                let size = deed.size.min(16) as u8;
                show(Step::new(Event::atomic(
                    thread, deed.op, at, size, deed.order, pc,
                )));
            }
            Op::Fence => show(Step::new(Event::atomic(
                thread,
                Op::Fence,
                Addr(0),
                0,
                deed.order,
                pc,
            ))),
            Op::Alloc => show(plain(deed.object).with_written(deed.size.into())),
            op => match kind(op) {
                Some(kind) => {
                    let next = self.objects.len() as u64;
                    let id = *self.objects.entry((deed.object, kind)).or_insert(next);
                    show(plain(id));
                }
                None => show(plain(deed.object)),
            },
        }
    }
}
