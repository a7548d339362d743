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

use std::collections::hash_map::Entry;

use deadheat_trace::{Addr, Event, EventIndex, Op, Step};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::blocks::{self, Blocks};
use crate::{Change, Epoch, HeldLocks, LocksetId, Locksets, Rounds, Unclear, VectorClock};

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
    barriers: FxHashMap<u64, Rounds>,
    /// By pages: which words are suspects.
    found: FxHashMap<u64, Bits>,
    /// How many pages have a number for each word. Of others, which are kept apart, all words are one.
    most_pages: usize,
    coarse: FxHashMap<u64, u32>,
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

/// Some words of a page.
type Bits = [u64; WORDS / 64];

/// So many coarse pages are kept, and pages with suspects: with more, all memory is suspicious.
const MOST_COARSE: usize = 1 << 22;
const MOST_FOUND: usize = 1 << 20;

/// The history of a word to which nothing has happened.
const NEW: u32 = 0;
/// More histories are not told apart.
const MOST_HISTORIES: usize = 1 << 19;
/// So much of what accesses make of histories is remembered.
const MOST_NEXT: usize = 1 << 20;

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
            barriers: FxHashMap::default(),
            found: FxHashMap::default(),
            most_pages: usize::MAX,
            coarse: FxHashMap::default(),
            has_unordered: false,
            has_synchronisation: false,
            is_blind: false,
        }
    }
}

impl Suspects {
    /// Of memory that does not fit into so many bytes whole pages are looked at instead of words.
    pub fn within(bytes: usize) -> Self {
        Suspects {
            most_pages: bytes / size_of::<[u32; WORDS]>(),
            ..Suspects::default()
        }
    }

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
            || words(event.addr(), event.size()).any(|word| self.is_suspect(word))
    }

    #[inline]
    fn is_suspect(&self, word: u64) -> bool {
        let page = self.found.get(&(word / WORDS as u64));
        let at = word as usize % WORDS;
        page.is_some_and(|bits| bits[at / 64] >> (at % 64) & 1 != 0)
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
        let page = word / WORDS as u64;
        let is_full = self.pages.len() >= self.most_pages;
        let number = match self.pages.entry(page) {
            Entry::Occupied(known) => &mut known.into_mut()[word as usize % WORDS],
            Entry::Vacant(_) if is_full => return self.access_coarse(page, seen),
            Entry::Vacant(new) => &mut new.insert(Box::new([NEW; WORDS]))[word as usize % WORDS],
        };
        let history = *number;
        let next = match self.next.get(&(history, seen)) {
            Some(next) => *next,
            None => self.find_next(history, seen),
        };
        if next.history != history || next.is_suspect {
            self.becomes(word, next);
        }
    }

    /// An access to a page of which no words are told apart.
    #[cold]
    fn access_coarse(&mut self, page: u64, seen: Seen) {
        if self.coarse.len() >= MOST_COARSE {
            self.coarse.clear();
            self.is_blind = true;
        }
        let history = *self.coarse.entry(page).or_insert(NEW);
        let next = match self.next.get(&(history, seen)) {
            Some(next) => *next,
            None => self.find_next(history, seen),
        };
        self.has_unordered |= next.is_unordered;
        self.coarse.insert(page, next.history);
        if next.is_suspect {
            self.suspect(page, [u64::MAX; WORDS / 64]);
        }
    }

    #[cold]
    fn find_next(&mut self, history: u32, seen: Seen) -> Next {
        let next = self.work_out(history, seen);
        if self.next.len() >= MOST_NEXT {
            self.next.clear();
        }
        self.next.insert((history, seen), next);
        next
    }

    fn becomes(&mut self, word: u64, next: Next) {
        self.has_unordered |= next.is_unordered;
        let (page, at) = (word / WORDS as u64, word as usize % WORDS);
        if next.is_suspect {
            let mut bits = Bits::default();
            bits[at / 64] = 1 << (at % 64);
            self.suspect(page, bits);
        }
        if let Some(page) = self.pages.get_mut(&page) {
            page[at] = next.history;
        }
    }

    fn suspect(&mut self, page: u64, words: Bits) {
        if self.found.len() >= MOST_FOUND {
            self.is_blind = true;
            return;
        }
        let known = self.found.entry(page).or_default();
        for (known, new) in known.iter_mut().zip(words) {
            *known |= new;
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
                if apart.len() >= MOST_NEXT {
                    apart.clear();
                }
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
            Op::BarrierEnter | Op::BarrierExit => {
                self.has_synchronisation = true;
                self.is_blind |= self.barrier(event).is_err();
            }
            op => {
                self.has_synchronisation = true;
                if op == Op::Init && (self.barriers.contains_key(&peer) || step.written().is_some())
                {
                    let rounds = self.barriers.entry(peer).or_default();
                    self.is_blind |= rounds.init(step.written()).is_err();
                }
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

    /// A thread comes to a barrier, or leaves it.
    fn barrier(&mut self, event: &Event) -> Result<(), Unclear> {
        let (id, object) = (event.thread(), event.target());
        if event.op() == Op::BarrierExit {
            let known = self.barriers.entry(object).or_default().exit(id.0)?;
            self.know(id.index(), &VectorClock::of(known));
            return Ok(());
        }
        let thread = self.thread(id.index());
        let (mut clock, time) = (thread.clock.clone(), thread.time);
        thread.time += 1;
        clock.set(id, time);
        self.barriers
            .entry(object)
            .or_default()
            .enter(id.0, clock.times())
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
        // What was in a coarse page before is not forgotten; who gives back writes to all of it.
        if !is_new && !self.coarse.is_empty() {
            let known = self.coarse.keys().copied();
            let pages: Vec<u64> = match (last - first) as usize > self.coarse.len() {
                true => known.filter(|page| (first..=last).contains(page)).collect(),
                false => (first..=last)
                    .filter(|page| self.coarse.contains_key(page))
                    .collect(),
            };
            for page in pages {
                self.access_coarse(page, seen);
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
