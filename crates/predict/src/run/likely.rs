//! What is likely to be a race or a deadlock, by a look that costs next to nothing: windows that hold such pairs are asked about
//! before all others.
//!
//! The rule for accesses is that of hybrid detection (O'Callahan and Choi, PPoPP 2003) with few orders: two threads,
//! the same word of eight bytes, one access writes, not both are atomic, no lock keeps them apart, and neither creation,
//! join, barriers nor channels order them. For locks: two threads take two of them, one in each order.
//!
//! What is learned here decides an order of work and nothing else. So it may err on both sides: of a word a few accesses are
//! kept, of a pair of places a few pairs of events, and freed blocks are gone through if they are short.

use std::collections::BTreeMap;

use deadheat_trace::{Event, LockId, Op, Pc, Step, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::quiet::{LONG, LockSets, NO_LOCKS};
use crate::{Hold, Places};

/// Windows in which a pair of places is asked about before its turn.
pub(super) const TURNS: usize = 3;
/// Accesses that are kept of a word.
const KEPT: usize = 6;
/// Pairs of places that are kept, and orders of locks.
const MOST: usize = 1 << 16;

/// A pair of events of a segment, the earlier first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub places: Places,
    /// They take locks.
    pub locks: bool,
    pub first: u32,
    pub second: u32,
}

/// The nearest pairs of each pair of places (of locks, if so), in different windows.
type Found = FxHashMap<(Places, bool), SmallVec<[(u32, u32); TURNS]>>;

/// Follows a segment.
pub(super) struct Likely {
    /// Events of a pair are no further apart than a window is long.
    reach: usize,
    sets: LockSets,
    threads: Vec<Thread>,
    /// What barriers and channels hand over, by their objects.
    handed: FxHashMap<u64, Vec<u32>>,
    words: FxHashMap<u64, SmallVec<[Seen; 2]>>,
    blocks: BTreeMap<u64, u64>,
    orders: FxHashMap<(LockId, LockId), SmallVec<[Taken; 2]>>,
    found: Found,
}

#[derive(Default)]
struct Thread {
    held: Vec<(LockId, Hold, u32)>,
    /// What it holds, and what of that for writing.
    all: u32,
    writing: u32,
    /// What it knows of others, and its own time.
    clock: Vec<u32>,
    time: u32,
}

#[derive(Clone, Copy)]
struct Seen {
    thread: ThreadId,
    time: u32,
    at: u32,
    pc: Pc,
    all: u32,
    writing: u32,
    writes: bool,
    is_atomic: bool,
}

/// A lock is requested while another is held.
#[derive(Clone, Copy)]
struct Taken {
    thread: ThreadId,
    at: u32,
    pc: Pc,
}

impl Likely {
    /// The pairs of a segment at whose beginning these locks are held, for windows of a size. Of those places only that are `asked`; nearest
    /// pairs first.
    pub fn pairs(
        steps: &[Step],
        size: usize,
        held: impl Iterator<Item = (ThreadId, LockId, Hold, u32)>,
        is_judged: &(dyn Fn(&Event) -> bool + Sync),
        is_asked: impl Fn(Places) -> bool,
    ) -> Vec<SmallVec<[Pair; TURNS]>> {
        let mut likely = Likely {
            reach: size,
            sets: LockSets::default(),
            threads: Vec::new(),
            handed: FxHashMap::default(),
            words: FxHashMap::default(),
            blocks: BTreeMap::new(),
            orders: FxHashMap::default(),
            found: FxHashMap::default(),
        };
        for (thread, lock, hold, times) in held {
            likely.thread(thread).held.push((lock, hold, times));
            likely.renew(thread);
        }
        for (at, step) in steps.iter().enumerate() {
            if at % size.max(2) == 0 {
                likely.forget_before(at.saturating_sub(size) as u32);
            }
            likely.step(at as u32, step, is_judged);
        }
        let asked = likely.found.into_iter();
        let asked = asked.filter(|((places, _), _)| is_asked(*places));
        let mut all: Vec<SmallVec<[Pair; TURNS]>> = asked
            .map(|((places, locks), mut pairs)| {
                pairs.sort_unstable_by_key(|(first, second)| (second - first, *first));
                let pair = |(first, second)| Pair {
                    places,
                    locks,
                    first,
                    second,
                };
                pairs.into_iter().map(pair).collect()
            })
            .collect();
        all.sort_unstable_by_key(|pairs| pairs.first().map(|pair| (pair.second, pair.places)));
        all
    }

    /// No window has events before this one and such that are still to come.
    fn forget_before(&mut self, first: u32) {
        self.words.retain(|_, seen| {
            seen.retain(|one| one.at >= first);
            !seen.is_empty()
        });
        self.orders.retain(|_, taken| {
            taken.retain(|one| one.at >= first);
            !taken.is_empty()
        });
        if self.sets.len() > MOST {
            self.words.clear();
            self.sets = LockSets::default();
            for id in 0..self.threads.len() as u32 {
                self.renew(ThreadId(id));
            }
        }
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        if id.index() >= self.threads.len() {
            self.threads.resize_with(id.index() + 1, Thread::default);
        }
        let thread = &mut self.threads[id.index()];
        thread.time = thread.time.max(1);
        thread
    }

    /// What a thread holds has changed.
    fn renew(&mut self, id: ThreadId) {
        let held = &self.threads[id.index()].held;
        let all = held.iter().map(|(lock, ..)| *lock).collect();
        let writing = held.iter().filter(|(_, hold, _)| *hold == Hold::Write);
        let writing = writing.map(|(lock, ..)| *lock).collect();
        let (all, writing) = (self.sets.number(all), self.sets.number(writing));
        let thread = &mut self.threads[id.index()];
        (thread.all, thread.writing) = (all, writing);
    }

    fn step(&mut self, at: u32, step: &Step, is_judged: &(dyn Fn(&Event) -> bool + Sync)) {
        let (event, op) = (&step.event, step.event.op());
        let id = event.thread();
        match op {
            Op::ExternalWrite => {}
            op if op.is_access() && is_judged(event) => {
                let seen = self.seen(at, event);
                let (start, bytes) = (event.addr().0, event.size().max(1));
                for word in start >> 3..=start.saturating_add(bytes - 1) >> 3 {
                    self.access(word, seen);
                }
            }
            Op::Request | Op::Acquire => self.acquire(at, step, Hold::Write),
            Op::ReadRequest | Op::ReadAcquire => self.acquire(at, step, Hold::Read),
            Op::Release | Op::ReadRelease => self.release(id, event.lock()),
            Op::Fork => {
                let known = self.left(id);
                self.learn(event.peer(), &known);
            }
            Op::Join => {
                let known = self.left(event.peer());
                self.learn(id, &known);
            }
            Op::BarrierEnter | Op::Send => {
                let known = self.left(id);
                merge(self.handed.entry(event.target()).or_default(), &known);
            }
            Op::BarrierExit | Op::Receive => {
                if let Some(known) = self.handed.remove(&event.target()) {
                    self.learn(id, &known);
                    self.handed.insert(event.target(), known);
                }
            }
            Op::Alloc => {
                let (start, bytes) = (event.addr().0, step.written().unwrap_or(0).max(1));
                self.blocks.insert(start, bytes);
                if bytes <= LONG {
                    for word in start >> 3..=(start + bytes - 1) >> 3 {
                        self.words.remove(&word);
                    }
                }
            }
            Op::Free => {
                let start = event.addr().0;
                let bytes = self.blocks.remove(&start).unwrap_or(0);
                if bytes > 0 && bytes <= LONG && is_judged(event) {
                    let seen = self.seen(at, event);
                    for word in start >> 3..=(start + bytes - 1) >> 3 {
                        self.meet(word, &seen);
                    }
                }
            }
            // Nothing before it can come later.
            Op::Lost => {
                self.words.clear();
                self.orders.clear();
            }
            _ => {}
        }
    }

    fn seen(&mut self, at: u32, event: &Event) -> Seen {
        let op = event.op();
        let thread = self.thread(event.thread());
        Seen {
            thread: event.thread(),
            time: thread.time,
            at,
            pc: event.pc(),
            all: thread.all,
            writing: thread.writing,
            writes: op == Op::Free || op.writes(),
            is_atomic: op.is_atomic(),
        }
    }

    fn access(&mut self, word: u64, seen: Seen) {
        self.meet(word, &seen);
        let known = self.words.entry(word).or_default();
        let is_alike = |one: &Seen| {
            (one.thread, one.pc, one.all, one.writes)
                == (seen.thread, seen.pc, seen.all, seen.writes)
        };
        if let Some(at) = known.iter().position(is_alike) {
            known.remove(at);
        } else if known.len() >= KEPT {
            known.remove(0);
        }
        known.push(seen);
    }

    /// Keeps what an access may race with.
    fn meet(&mut self, word: u64, seen: &Seen) {
        let Some(known) = self.words.get(&word) else {
            return;
        };
        let clock = &self.threads[seen.thread.index()].clock;
        for one in known {
            let is_ordered =
                || (clock.get(one.thread.index())).is_some_and(|time| *time >= one.time);
            if one.thread == seen.thread
                || !(one.writes || seen.writes)
                || one.is_atomic && seen.is_atomic
                || is_ordered()
                || self.sets.common(one.writing, seen.all) != NO_LOCKS
                || self.sets.common(one.all, seen.writing) != NO_LOCKS
            {
                continue;
            }
            let places = (one.pc.min(seen.pc), one.pc.max(seen.pc));
            keep(
                &mut self.found,
                self.reach,
                (places, false),
                (one.at, seen.at),
            );
        }
    }

    fn acquire(&mut self, at: u32, step: &Step, hold: Hold) {
        let (id, lock) = (step.event.thread(), step.event.lock());
        let is_request = matches!(step.event.op(), Op::Request | Op::ReadRequest);
        self.thread(id);
        let thread = &mut self.threads[id.index()];
        if let Some((.., times)) = thread.held.iter_mut().find(|(held, ..)| *held == lock) {
            *times += u32::from(!is_request);
            return;
        }
        let now = Taken {
            thread: id,
            at,
            pc: step.event.pc(),
        };
        for (held, ..) in &thread.held {
            let others = self.orders.get(&(lock, *held)).into_iter().flatten();
            for one in others.filter(|one| one.thread != id) {
                let places = (one.pc.min(now.pc), one.pc.max(now.pc));
                keep(&mut self.found, self.reach, (places, true), (one.at, at));
            }
            if self.orders.len() < MOST {
                let taken = self.orders.entry((*held, lock)).or_default();
                taken.retain(|one| one.thread != id);
                if taken.len() >= KEPT {
                    taken.remove(0);
                }
                taken.push(now);
            }
        }
        if !is_request {
            thread.held.push((lock, hold, 1));
            self.renew(id);
        }
    }

    fn release(&mut self, id: ThreadId, lock: LockId) {
        let thread = self.thread(id);
        let Some(at) = thread.held.iter().position(|(held, ..)| *held == lock) else {
            return;
        };
        thread.held[at].2 = thread.held[at].2.saturating_sub(1);
        if thread.held[at].2 == 0 {
            thread.held.remove(at);
            self.renew(id);
        }
    }

    /// What a thread knows, with all that it has done so far.
    fn left(&mut self, id: ThreadId) -> Vec<u32> {
        let thread = self.thread(id);
        let mut known = thread.clock.clone();
        known.resize(known.len().max(id.index() + 1), 0);
        known[id.index()] = thread.time;
        thread.time += 1;
        known
    }

    fn learn(&mut self, id: ThreadId, known: &[u32]) {
        merge(&mut self.thread(id).clock, known);
    }
}

/// One clock takes in another.
fn merge(clock: &mut Vec<u32>, other: &[u32]) {
    clock.resize(clock.len().max(other.len()), 0);
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// Keeps a pair of events if it is one of the nearest of its places, of those that lie in different windows.
fn keep(found: &mut Found, reach: usize, places: (Places, bool), (first, second): (u32, u32)) {
    if (second - first) as usize >= reach || found.len() >= MOST && !found.contains_key(&places) {
        return;
    }
    let window = |second: u32| second as usize / (reach / 2).max(1);
    let apart = |pair: &(u32, u32)| pair.1 - pair.0;
    let pairs = found.entry(places).or_default();
    let same = pairs
        .iter()
        .position(|pair| window(pair.1) == window(second));
    let most = (0..pairs.len()).max_by_key(|at| (apart(&pairs[*at]), pairs[*at].1));
    match same.or(most.filter(|_| pairs.len() == TURNS)) {
        None => pairs.push((first, second)),
        Some(at) if second - first < apart(&pairs[at]) => pairs[at] = (first, second),
        Some(_) => {}
    }
}
