//! Memory on which there may be a race at all: what other methods need not look at.
//!
//! A pair of conflicting accesses can be a race for no method that reorders events if the creation and the join of threads order
//! it, or if one lock is held at both (not for reading at both). Words of eight bytes that have no other pairs are no
//! *suspects*. The rules are those of hybrid detection (O'Callahan and Choi, PPoPP 2003) with the weakest order there is. Of
//! a word the accesses are kept that no later one stands for: one that is ordered behind, with no more locks, and that conflicts with all that the
//! earlier one conflicts with.
//!
//! Few words differ in what has happened to them, so each such history is kept once, a word has its number, and what an access makes of
//! a history is remembered: what is known of other threads changes only where threads are created and joined.
//!
//! All errors are on the safe side. A word with too many different accesses is a suspect; and so is every word of a
//! trace with gaps, or in which locks are given back by who does not hold them.

use deadheat_trace::{Addr, Event, EventIndex, Op, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::blocks::{self, Blocks};
use crate::{Change, Epoch, HeldLocks, LocksetId, Locksets, VectorClock};

/// More different accesses of a word are not kept.
const MOST: usize = 32;
/// Words of a page.
const WORDS: usize = 512;

/// The memory of a trace, while it is read and afterwards.
///
/// ```
/// use deadheat_detect::Suspects;
/// use deadheat_trace::text;
///
/// let trace = text::parse("A|w(x)|1\nA|w(y)|2\nA|fork(B)|3\nB|begin|4\nB|w(x)|5\nA|w(y)|6\nB|w(y)|7\n")?;
/// let mut suspects = Suspects::default();
/// trace.steps.iter().for_each(|step| suspects.step(step));
/// let looked_at: Vec<bool> = trace.steps.iter().map(|step| suspects.may_race(&step.event)).collect();
/// assert_eq!(looked_at, [false, true, true, true, false, true, true]);
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
pub struct Suspects {
    threads: Vec<Thread>,
    held: HeldLocks,
    sets: Locksets,
    /// Pairs of sets that were asked about: whether a lock of both keeps accesses apart.
    apart: FxHashMap<(LocksetId, LocksetId), bool>,
    pages: FxHashMap<u64, Page>,
    /// What happened to words, by number: accesses of which no later one stands for another.
    histories: Vec<SmallVec<[Seen; 2]>>,
    numbers: FxHashMap<SmallVec<[Seen; 2]>, u32>,
    /// What an access makes of a history, by both.
    next: FxHashMap<(u32, Seen), Next>,
    blocks: Blocks,
    found: FxHashSet<u64>,
    has_unordered: bool,
    has_synchronisation: bool,
    /// Nothing is known.
    is_blind: bool,
}

/// What a thread knows of others by creation and join, and holds.
#[derive(Default)]
struct Thread {
    clock: VectorClock,
    time: u32,
    locks: Option<LocksetId>,
}

/// The numbers of the histories of some words.
type Page = Box<[u32; WORDS]>;

/// The history of a word to which nothing has happened.
const NEW: u32 = 0;
/// More histories are not told apart.
const MOST_HISTORIES: usize = 1 << 20;

/// What an access makes of a history.
#[derive(Clone, Copy)]
struct Next {
    history: u32,
    is_unordered: bool,
    is_suspect: bool,
}

/// An access to a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Seen {
    when: Epoch,
    locks: LocksetId,
    writes: bool,
    is_atomic: bool,
}

impl Seen {
    /// Whether it conflicts with everything that the other conflicts with.
    fn conflicts_as(&self, other: &Seen) -> bool {
        (self.writes || !other.writes) && (!self.is_atomic || other.is_atomic)
    }

    fn conflicts_with(&self, other: &Seen) -> bool {
        self.when.thread != other.when.thread
            && (self.writes || other.writes)
            && !(self.is_atomic && other.is_atomic)
    }
}

impl Default for Suspects {
    fn default() -> Self {
        Suspects {
            threads: Vec::new(),
            held: HeldLocks::default(),
            sets: Locksets::default(),
            apart: FxHashMap::default(),
            pages: FxHashMap::default(),
            histories: vec![SmallVec::new()],
            numbers: FxHashMap::from_iter([(SmallVec::new(), NEW)]),
            next: FxHashMap::default(),
            blocks: Blocks::default(),
            found: FxHashSet::default(),
            has_unordered: false,
            has_synchronisation: false,
            is_blind: false,
        }
    }
}

impl Suspects {
    /// The next step.
    #[inline]
    pub fn step(&mut self, step: &Step) {
        let event = &step.event;
        match event.op() {
            Op::Read | Op::Write | Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                let seen = self.seen(event);
                for word in words(event.addr(), event.size()) {
                    self.access(word, seen);
                }
            }
            Op::Enter | Op::Leave | Op::Branch | Op::ExternalWrite | Op::Exit => {}
            _ => self.other(step),
        }
    }

    /// Whether an event may be part of a race, or is about something else than memory.
    #[inline]
    pub fn may_race(&self, event: &Event) -> bool {
        !matches!(event.op(), Op::Read | Op::Write)
            || self.is_blind
            || words(event.addr(), event.size()).any(|word| self.found.contains(&word))
    }

    /// Whether there are no suspects.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && !self.is_blind
    }

    /// Whether there are conflicting accesses that neither the creation nor the join of threads orders, locks or not.
    pub fn has_unordered(&self) -> bool {
        self.has_unordered || self.is_blind
    }

    /// Whether threads do more to each other than to create and join.
    pub fn has_synchronisation(&self) -> bool {
        self.has_synchronisation || self.is_blind
    }

    fn thread(&mut self, number: usize) -> &mut Thread {
        if number >= self.threads.len() {
            self.threads.resize_with(number + 1, Thread::default);
        }
        let thread = &mut self.threads[number];
        thread.time = thread.time.max(1);
        thread
    }

    /// A thread knows more of others, and so has another time: one time is one knowledge.
    fn know(&mut self, number: usize, clock: &VectorClock) {
        let thread = self.thread(number);
        thread.clock.join(clock);
        thread.time += 1;
    }

    fn seen(&mut self, event: &Event) -> Seen {
        let op = event.op();
        let thread = self.thread(event.thread().index());
        Seen {
            when: Epoch {
                thread: event.thread().0,
                time: thread.time,
            },
            locks: thread.locks.unwrap_or(LocksetId::EMPTY),
            writes: op.writes() || op == Op::Free,
            is_atomic: op.is_atomic(),
        }
    }

    #[inline]
    fn access(&mut self, word: u64, seen: Seen) {
        let page = self.pages.entry(word / WORDS as u64);
        let number = &mut page.or_insert_with(|| Box::new([NEW; WORDS]))[word as usize % WORDS];
        let next = match self.next.get(&(*number, seen)) {
            Some(next) => *next,
            None => {
                let history = *number;
                let next = self.work_out(history, seen);
                if self.next.len() >= 8 * MOST_HISTORIES {
                    self.next.clear();
                }
                self.next.insert((history, seen), next);
                return self.becomes(word, next);
            }
        };
        if next.history != *number || next.is_suspect {
            self.becomes(word, next);
        }
    }

    fn becomes(&mut self, word: u64, next: Next) {
        self.has_unordered |= next.is_unordered;
        if next.is_suspect {
            self.found.insert(word);
        }
        if let Some(page) = self.pages.get_mut(&(word / WORDS as u64)) {
            page[word as usize % WORDS] = next.history;
        }
    }

    /// What an access makes of a history.
    fn work_out(&mut self, history: u32, seen: Seen) -> Next {
        let Suspects {
            threads,
            sets,
            apart,
            histories,
            numbers,
            ..
        } = self;
        let mut all = histories[history as usize].clone();
        let clock = &threads[seen.when.thread as usize].clock;
        let (mut is_unordered, mut is_suspect) = (false, all.len() >= MOST);
        for known in all.iter().filter(|known| known.conflicts_with(&seen)) {
            if !clock.covers(known.when) {
                is_unordered = true;
                let pair = (known.locks, seen.locks);
                let are_apart = || keep_apart(sets.locks(pair.0), sets.locks(pair.1));
                is_suspect |= !*apart.entry(pair).or_insert_with(are_apart);
            }
        }
        all.retain(|known| {
            let is_before = known.when.thread == seen.when.thread || clock.covers(known.when);
            let has_no_more = seen.locks == known.locks || sets.is_subset(seen.locks, known.locks);
            !(is_before && has_no_more && seen.conflicts_as(known))
        });
        // One that stands for this one is enough.
        let stands_for = |known: &Seen| {
            known.when == seen.when && known.locks == seen.locks && known.conflicts_as(&seen)
        };
        if !all.iter().any(stands_for) {
            all.push(seen);
            all.sort_unstable_by_key(|it| (it.when.thread, it.when.time, it.locks, it.writes));
        }
        let known = numbers.get(&all).copied();
        is_suspect |= known.is_none() && histories.len() >= MOST_HISTORIES;
        // Of a suspect nothing else is asked.
        if is_suspect {
            return Next {
                history: NEW,
                is_unordered,
                is_suspect,
            };
        }
        let history = known.unwrap_or(histories.len() as u32);
        if known.is_none() {
            histories.push(all.clone());
            numbers.insert(all, history);
        }
        Next {
            history,
            is_unordered,
            is_suspect,
        }
    }

    /// Everything but accesses.
    fn other(&mut self, step: &Step) {
        let event = &step.event;
        let (id, peer) = (event.thread(), event.target());
        match event.op() {
            Op::Begin | Op::End => {}
            Op::Fork => {
                let parent = self.thread(id.index());
                let (mut clock, time) = (parent.clock.clone(), parent.time);
                parent.time += 1;
                clock.set(id, time);
                self.know(peer as usize, &clock);
            }
            Op::Join => {
                let child = self.thread(peer as usize);
                let (mut clock, time) = (child.clock.clone(), child.time);
                clock.set(event.peer(), time);
                self.know(id.index(), &clock);
            }
            Op::Alloc | Op::Free => self.block(step),
            Op::Lost => self.is_blind = true,
            op => {
                self.has_synchronisation = true;
                let change = self.held.step(EventIndex(0), event);
                match change {
                    Change::None if matches!(op, Op::Release | Op::ReadRelease) => {
                        let shared = op == Op::ReadRelease;
                        let mut held = self.held.of(id).iter();
                        let is_still_held =
                            held.any(|held| held.lock == event.lock() && held.shared == shared);
                        self.is_blind |= !is_still_held;
                    }
                    Change::None => {}
                    Change::Taken(_) | Change::Given(_) => {
                        let held = self.held.of(id).iter();
                        let coded = held.map(|held| held.lock.0 << 1 | u32::from(held.shared));
                        let mut locks: SmallVec<[u32; 8]> = coded.collect();
                        locks.sort_unstable();
                        let set = self.sets.intern(&locks);
                        self.thread(id.index()).locks = Some(set);
                    }
                }
            }
        }
    }

    /// A block is handed out, and has no history; or given back, which is a write to all of it that was accessed.
    fn block(&mut self, step: &Step) {
        let (addr, size, is_new) = match self.blocks.step(step) {
            Some(blocks::Change::New(addr, size)) => (addr, size, true),
            Some(blocks::Change::Gone(addr, size)) => (addr, size, false),
            None => return,
        };
        // Of a word that is new in part only, the other part has a history.
        let all = match is_new {
            true => addr.0.div_ceil(8)..=(addr.0.saturating_add(size) >> 3).saturating_sub(1),
            false => words(addr, size),
        };
        if all.is_empty() {
            return;
        }
        let seen = self.seen(&step.event);
        let (first, last) = (all.start() / WORDS as u64, all.end() / WORDS as u64);
        let pages: Vec<u64> = match (last - first) as usize > self.pages.len() {
            true => {
                let known = self.pages.keys().copied();
                known.filter(|page| (first..=last).contains(page)).collect()
            }
            false => (first..=last)
                .filter(|page| self.pages.contains_key(page))
                .collect(),
        };
        for page in pages {
            let start = page * WORDS as u64;
            let inside = start.max(*all.start())..=(start + WORDS as u64 - 1).min(*all.end());
            for word in inside {
                let known = self.pages.get_mut(&page);
                let known = known.map(|page| &mut page[word as usize % WORDS]);
                match known.filter(|known| **known != NEW) {
                    Some(known) if is_new => *known = NEW,
                    Some(_) => self.access(word, seen),
                    None => {}
                }
            }
        }
    }
}

/// The words of eight bytes that a range touches.
#[inline]
fn words(addr: Addr, size: u64) -> std::ops::RangeInclusive<u64> {
    addr.0 >> 3..=(addr.0.saturating_add(size.max(1) - 1)) >> 3
}

/// Whether a lock of both sets is not held for reading in both.
fn keep_apart(one: &[u32], other: &[u32]) -> bool {
    one.iter().any(|a| {
        let mut same = other.iter().filter(|b| *a >> 1 == **b >> 1);
        same.any(|b| a & 1 == 0 || b & 1 == 0)
    })
}

#[cfg(test)]
mod tests;
