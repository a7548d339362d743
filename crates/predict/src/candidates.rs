//! The quick filter: which pairs of accesses to ask about.
//!
//! Pairs of different threads that touch the same memory, one writing, not both atomic, that no lock
//! excludes and no hard order orders. Accesses of one thread at one place of the program with the same locks are alike: where there
//! are many of them, only neighbours in the window's order are paired.

use deadheat_trace::{Op, Pc};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Hold;
use crate::model::Model;

/// Two places of the program, the smaller first.
pub type Places = (Pc, Pc);

/// Up to so many pairs of alike accesses are all asked about.
const ALL: usize = 64;
/// So many pairs of one pair of places are asked about in a window.
const MOST: usize = 128;

/// The pairs to ask about, by their places; nearest in the window's order first.
#[derive(Debug, Default)]
pub struct Candidates {
    /// For each pair of places the pairs of events, the earlier first.
    pub pairs: Vec<(Places, Vec<[u32; 2]>)>,
    /// How many pairs were not listed because there are too many of their places.
    pub left_out: u64,
}

/// Accesses that are alike.
struct Alike {
    key: Key,
    events: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    thread: u32,
    pc: Pc,
    locks: u32,
    is_write: bool,
    is_atomic: bool,
}

/// Numbers for sets of locks.
#[derive(Default)]
pub(crate) struct LockSets {
    numbers: FxHashMap<Vec<(u32, bool)>, u32>,
    of_open: FxHashMap<u32, u32>,
}

impl LockSets {
    /// The number of the set that is held at an event.
    pub fn number(&mut self, model: &Model, event: u32) -> u32 {
        let (thread, index) = (model.thread(event), model.index(event));
        let open = model.locks.open_set(&model.threads, thread, index);
        if let Some(known) = self.of_open.get(&open) {
            return *known;
        }
        let sections = model.locks.open(&model.threads, thread, index).iter();
        let lock = |section: &u32| {
            let section = &model.locks.sections[*section as usize];
            (section.lock, section.hold == Hold::Write)
        };
        let mut locks: Vec<_> = sections.map(lock).collect();
        locks.sort_unstable();
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(locks).or_insert(next);
        self.of_open.insert(open, number);
        number
    }
}

/// The pairs of a window to ask about. `is_judged` says of which events races are reported, `is_known` which
/// pairs of places need not be asked about any more.
pub fn candidates(
    model: &Model,
    is_judged: impl Fn(u32) -> bool,
    is_known: impl Fn(Places) -> bool,
) -> Candidates {
    let mut found: FxHashMap<Places, Vec<[u32; 2]>> = FxHashMap::default();
    let mut seen: FxHashSet<[u32; 2]> = FxHashSet::default();
    let mut locks = LockSets::default();
    for accesses in &model.memory.accesses {
        let groups = groups(model, accesses, &is_judged, &mut locks);
        for (at, one) in groups.iter().enumerate() {
            for other in &groups[at + 1..] {
                if !one.can_race_with(other) {
                    continue;
                }
                let places = places(one.key.pc, other.key.pc);
                let (first, second) = (one.events[0], other.events[0]);
                if is_known(places) || model.locks.exclude(&model.threads, first, second) {
                    continue;
                }
                for pair in pairs(&one.events, &other.events) {
                    if is_open(model, pair) && seen.insert(pair) {
                        found.entry(places).or_default().push(pair);
                    }
                }
            }
        }
    }
    add_releases(model, &is_judged, &is_known, &mut found);
    in_order(found)
}

/// Of memory that is released, and accesses to it.
fn add_releases(
    model: &Model,
    is_judged: &impl Fn(u32) -> bool,
    is_known: &impl Fn(Places) -> bool,
    found: &mut FxHashMap<Places, Vec<[u32; 2]>>,
) {
    let steps = &model.window.steps;
    for end in &model.lives.ends {
        if steps[end.event as usize].event.op() != Op::Free || !is_judged(end.event) {
            continue;
        }
        for access in end.uses.iter().flat_map(|(_, uses)| uses) {
            let pc = |event: u32| steps[event as usize].event.pc();
            let pair = [*access, end.event];
            let places = places(pc(*access), pc(end.event));
            let is_candidate = steps[*access as usize].event.op() != Op::ExternalWrite
                && is_judged(*access)
                && !is_known(places)
                && is_open(model, pair)
                && !model.locks.exclude(&model.threads, pair[0], pair[1]);
            if is_candidate {
                found.entry(places).or_default().push(pair);
            }
        }
    }
}

fn in_order(found: FxHashMap<Places, Vec<[u32; 2]>>) -> Candidates {
    let mut candidates = Candidates::default();
    for (places, mut pairs) in found {
        pairs.sort_unstable_by_key(|[first, second]| (second - first, *first));
        candidates.left_out += pairs.len().saturating_sub(MOST) as u64;
        pairs.truncate(MOST);
        candidates.pairs.push((places, pairs));
    }
    candidates.pairs.sort_unstable_by_key(|(places, _)| *places);
    candidates
}

fn places(one: Pc, other: Pc) -> Places {
    (one.min(other), one.max(other))
}

/// Whether the hard order leaves both orders open.
fn is_open(model: &Model, [first, second]: [u32; 2]) -> bool {
    !model.is_before(first, second) && !model.is_before(second, first)
}

fn groups(
    model: &Model,
    accesses: &[u32],
    is_judged: &impl Fn(u32) -> bool,
    locks: &mut LockSets,
) -> Vec<Alike> {
    let mut groups: Vec<Alike> = Vec::new();
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    for event in accesses.iter().copied().filter(|event| is_judged(*event)) {
        let access = &model.window.steps[event as usize].event;
        let op = access.op();
        if op == Op::ExternalWrite {
            continue;
        }
        let key = Key {
            thread: model.thread(event) as u32,
            pc: access.pc(),
            locks: locks.number(model, event),
            is_write: op.writes(),
            is_atomic: op.is_atomic(),
        };
        let at = *numbers.entry(key).or_insert_with(|| {
            groups.push(Alike {
                key,
                events: Vec::new(),
            });
            groups.len() - 1
        });
        groups[at].events.push(event);
    }
    groups
}

impl Alike {
    fn can_race_with(&self, other: &Alike) -> bool {
        self.key.thread != other.key.thread
            && (self.key.is_write || other.key.is_write)
            && !(self.key.is_atomic && other.key.is_atomic)
    }
}

/// Pairs of the events of two groups, the earlier first.
pub(crate) fn pairs(one: &[u32], other: &[u32]) -> Vec<[u32; 2]> {
    let pair = |a: u32, b: u32| [a.min(b), a.max(b)];
    if one.len() * other.len() <= ALL {
        let all = one
            .iter()
            .flat_map(|a| other.iter().map(move |b| pair(*a, *b)));
        return all.collect();
    }
    let mut near = Vec::new();
    for (mine, theirs) in [(one, other), (other, one)] {
        for event in mine {
            let after = theirs.partition_point(|other| other < event);
            let neighbours = [after.checked_sub(1), Some(after)];
            let neighbours = neighbours
                .into_iter()
                .flatten()
                .filter_map(|at| theirs.get(at));
            near.extend(neighbours.map(|other| pair(*event, *other)));
        }
    }
    near.sort_unstable();
    near.dedup();
    near
}
