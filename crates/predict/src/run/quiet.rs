//! A look at a window before it is looked at: is there anything to ask about?
//!
//! Memory of which one lock is held at every access (Savage et al., Eraser, 1997), which one thread accesses,
//! which nobody writes, or which is only accessed atomically, has no candidates; and where locks are only taken
//! in one order, and nobody joins with a lock held, there is no cycle of requests. (Whether all may stand still is asked elsewhere.) Both are judged on the sure side: memory by words of eight bytes, without
//! regard to lives and the hard order. Most windows of most traces are quiet.

use deadheat_trace::{LockId, Op, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Hold;

/// Blocks longer than this are not gone through when they are freed.
pub(super) const LONG: u64 = 1 << 12;

/// More sets of locks than this are not kept from window to window.
const MANY: usize = 1 << 16;

/// No lock is held.
pub(super) const NO_LOCKS: u32 = 0;

/// The memory of the look, used for one window after the other.
#[derive(Default)]
pub struct Quiet {
    sets: LockSets,
    threads: Vec<Thread>,
    words: FxHashMap<u64, Word>,
    orders: FxHashSet<(LockId, LockId)>,
    blocks: FxHashMap<u64, u64>,
    freed: Vec<(u64, u64, Access)>,
}

/// What a thread holds.
#[derive(Default)]
struct Thread {
    held: Vec<(LockId, Hold, u32)>,
    /// Those that it holds for writing.
    set: u32,
}

#[derive(Clone, Copy)]
struct Access {
    thread: ThreadId,
    set: u32,
    writes: bool,
    is_atomic: bool,
}

/// All accesses to a word.
#[derive(Clone, Copy)]
struct Word {
    thread: ThreadId,
    has_several: bool,
    is_written: bool,
    is_atomic: bool,
    /// The locks that are held at each.
    set: u32,
}

/// Numbers for sets of locks.
pub(super) struct LockSets {
    sets: Vec<Vec<LockId>>,
    numbers: FxHashMap<Vec<LockId>, u32>,
    common: FxHashMap<(u32, u32), u32>,
}

impl Default for LockSets {
    fn default() -> Self {
        LockSets {
            sets: vec![Vec::new()],
            numbers: FxHashMap::from_iter([(Vec::new(), NO_LOCKS)]),
            common: FxHashMap::default(),
        }
    }
}

impl LockSets {
    /// How many sets have a number.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// The number of a set.
    pub fn number(&mut self, mut locks: Vec<LockId>) -> u32 {
        locks.sort_unstable();
        if let Some(number) = self.numbers.get(&locks) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(locks.clone());
        self.numbers.insert(locks, number);
        number
    }

    /// The locks that are in both.
    pub fn common(&mut self, one: u32, other: u32) -> u32 {
        if one == other || one == NO_LOCKS || other == NO_LOCKS {
            return if one == other { one } else { NO_LOCKS };
        }
        let key = (one.min(other), one.max(other));
        if let Some(common) = self.common.get(&key) {
            return *common;
        }
        let theirs = &self.sets[other as usize];
        let mine = self.sets[one as usize].iter();
        let both = mine.filter(|lock| theirs.contains(lock)).copied();
        let common = self.number(both.collect());
        self.common.insert(key, common);
        common
    }
}

impl Quiet {
    /// Whether there is surely nothing to ask about in a window. `held` are the locks that are known to be held where it
    /// begins; `block` tells the length of a block that is known there by its first byte.
    pub fn is_quiet(
        &mut self,
        window: &[Step],
        held: impl Iterator<Item = (ThreadId, LockId, Hold, u32)>,
        block: impl Fn(u64) -> Option<u64>,
    ) -> bool {
        self.start(held);
        for step in window {
            let (event, op) = (&step.event, step.event.op());
            let is_known = match op {
                Op::Acquire | Op::Request => self.acquire(step, Hold::Write),
                Op::ReadAcquire | Op::ReadRequest => self.acquire(step, Hold::Read),
                Op::Release | Op::ReadRelease => self.release(event.thread(), event.lock()),
                Op::Alloc => {
                    let bytes = step.written().unwrap_or(0).max(1);
                    self.blocks.insert(event.addr().0, bytes);
                    true
                }
                Op::Free => {
                    let start = event.addr().0;
                    let bytes = self.blocks.get(&start).copied().or_else(|| block(start));
                    let access = self.access(step);
                    self.freed.extend(bytes.map(|bytes| (start, bytes, access)));
                    bytes.is_none_or(|bytes| bytes <= LONG)
                }
                Op::ExternalWrite => true,
                // A cycle may go through a thread's end.
                Op::Join => self.thread(event.thread()).held.is_empty(),
                op if op.is_access() => {
                    let access = self.access(step);
                    let (start, bytes) = (event.addr().0, event.size());
                    (start >> 3..=start.saturating_add(bytes.max(1) - 1) >> 3)
                        .all(|word| self.add(word, access, true))
                }
                _ => true,
            };
            if !is_known {
                return false;
            }
        }
        let freed = std::mem::take(&mut self.freed);
        let mut words = freed.iter().flat_map(|(start, bytes, access)| {
            (start >> 3..=start.saturating_add(bytes - 1) >> 3).map(move |word| (word, *access))
        });
        let is_quiet = words.all(|(word, access)| self.add(word, access, false));
        self.freed = freed;
        is_quiet && self.is_in_one_order()
    }

    fn start(&mut self, held: impl Iterator<Item = (ThreadId, LockId, Hold, u32)>) {
        if self.sets.len() > MANY {
            self.sets = LockSets::default();
        }
        self.words.clear();
        self.orders.clear();
        self.blocks.clear();
        self.freed.clear();
        for thread in &mut self.threads {
            thread.held.clear();
            thread.set = NO_LOCKS;
        }
        for (thread, lock, hold, times) in held {
            self.thread(thread).held.push((lock, hold, times));
            self.renew(thread);
        }
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        if id.index() >= self.threads.len() {
            self.threads.resize_with(id.index() + 1, Thread::default);
        }
        &mut self.threads[id.index()]
    }

    /// What a thread holds has changed.
    fn renew(&mut self, id: ThreadId) {
        let held = self.threads[id.index()].held.iter();
        let writing = held.filter(|(_, hold, _)| *hold == Hold::Write);
        let locks = writing.map(|(lock, ..)| *lock).collect();
        self.threads[id.index()].set = self.sets.number(locks);
    }

    fn acquire(&mut self, step: &Step, hold: Hold) -> bool {
        let (id, lock) = (step.event.thread(), step.event.lock());
        let is_request = matches!(step.event.op(), Op::Request | Op::ReadRequest);
        self.thread(id);
        let thread = &mut self.threads[id.index()];
        if let Some((.., times)) = thread.held.iter_mut().find(|(held, ..)| *held == lock) {
            *times += u32::from(!is_request);
            return true;
        }
        let before = thread.held.iter().map(|(held, ..)| (*held, lock));
        self.orders.extend(before);
        if !is_request {
            thread.held.push((lock, hold, 1));
            self.renew(id);
        }
        true
    }

    /// False if it was not known to be held.
    fn release(&mut self, id: ThreadId, lock: LockId) -> bool {
        let thread = self.thread(id);
        let Some(at) = thread.held.iter().position(|(held, ..)| *held == lock) else {
            return false;
        };
        thread.held[at].2 -= 1;
        if thread.held[at].2 == 0 {
            thread.held.remove(at);
            self.renew(id);
        }
        true
    }

    fn access(&mut self, step: &Step) -> Access {
        let op = step.event.op();
        Access {
            thread: step.event.thread(),
            set: self.thread(step.event.thread()).set,
            writes: op == Op::Free || op.writes(),
            is_atomic: op.is_atomic(),
        }
    }

    /// Adds an access to a word, or only if there are others; false if there may be something to ask about.
    fn add(&mut self, number: u64, access: Access, is_first: bool) -> bool {
        let Some(word) = self.words.get_mut(&number) else {
            if is_first {
                let word = Word {
                    thread: access.thread,
                    has_several: false,
                    is_written: access.writes,
                    is_atomic: access.is_atomic,
                    set: access.set,
                };
                self.words.insert(number, word);
            }
            return true;
        };
        word.has_several |= word.thread != access.thread;
        word.is_written |= access.writes;
        word.is_atomic &= access.is_atomic;
        if word.set != access.set {
            word.set = self.sets.common(word.set, access.set);
        }
        word.set != NO_LOCKS || !word.has_several || !word.is_written || word.is_atomic
    }

    /// Whether all locks that are taken while others are held can be put into one order.
    fn is_in_one_order(&self) -> bool {
        let mut before: FxHashMap<LockId, u32> = FxHashMap::default();
        let mut after: FxHashMap<LockId, Vec<LockId>> = FxHashMap::default();
        for (first, second) in &self.orders {
            before.entry(*first).or_default();
            *before.entry(*second).or_default() += 1;
            after.entry(*first).or_default().push(*second);
        }
        let locks = before.len();
        let free = before.iter().filter(|(_, count)| **count == 0);
        let mut free: Vec<LockId> = free.map(|(lock, _)| *lock).collect();
        let mut done = 0;
        while let Some(lock) = free.pop() {
            done += 1;
            for second in after.get(&lock).into_iter().flatten() {
                if let Some(count) = before.get_mut(second) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(*second);
                    }
                }
            }
        }
        done == locks
    }
}

#[cfg(test)]
mod tests {
    use deadheat_trace::{Addr, Event, Pc};
    use proptest::prelude::*;

    use super::*;
    use crate::run::border::Standing;
    use crate::{Model, Window, candidates, cycles};

    const OPS: [Op; 12] = [
        Op::Read,
        Op::Write,
        Op::AtomicRmw,
        Op::AtomicRead,
        Op::Acquire,
        Op::Release,
        Op::ReadAcquire,
        Op::ReadRelease,
        Op::Request,
        Op::Alloc,
        Op::Free,
        Op::Branch,
    ];

    fn step((thread, op, target): (u32, usize, u64)) -> Step {
        let (thread, op, pc) = (ThreadId(thread), OPS[op], Pc(op as u32));
        match op {
            Op::Alloc => Step::new(Event::new(thread, op, 64 * target, pc)).with_written(24),
            Op::Free => Step::new(Event::new(thread, op, 64 * target, pc)),
            op if op.is_access() => {
                Step::new(Event::access(thread, op, Addr(64 * target + 12), 8, pc))
            }
            op => Step::new(Event::new(thread, op, target, pc)),
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let any = (0..3u32, 0..OPS.len(), 0..3u64);
        prop::collection::vec(any.prop_map(step), 2..14)
    }

    /// Whether there is anything to ask about, and whether the look says that there is nothing.
    fn asks_and_is_quiet(steps: &[Step], start: usize) -> (bool, bool) {
        let mut standing = Standing::default();
        steps[..start].iter().for_each(|step| standing.step(step));
        let window = Window {
            steps: steps[start..].to_vec(),
            needed_by: vec![crate::NOBODY; steps.len() - start],
            border: standing.border(&steps[start..]),
            ..Window::default()
        };
        let model = Model::new(&window);
        let pairs = candidates(&model, |_| true, |_| false).pairs;
        let asks = !pairs.is_empty() || !cycles(&model).cuts.is_empty();
        let block = |start| standing.block(start);
        let is_quiet = Quiet::default().is_quiet(&window.steps, standing.held(), block);
        (asks, is_quiet)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn there_is_nothing_to_ask_about_in_a_quiet_window(steps in steps(), start in 0..6usize) {
            let (asks, is_quiet) = asks_and_is_quiet(&steps, start.min(steps.len() - 1));
            prop_assert!(!(asks && is_quiet));
        }
    }

    #[test]
    fn accesses_under_one_lock_are_quiet() {
        let section = |thread| {
            [
                (thread, 4, 1),
                (thread, 0, 0),
                (thread, 1, 0),
                (thread, 5, 1),
            ]
        };
        let steps: Vec<Step> = [section(0), section(1)]
            .concat()
            .into_iter()
            .map(step)
            .collect();
        assert_eq!(asks_and_is_quiet(&steps, 0), (false, true));
        assert_eq!(asks_and_is_quiet(&steps, 2), (false, true));
    }

    #[test]
    fn locks_in_two_orders_are_not_quiet() {
        let nested = |thread, first, second| {
            [
                (thread, 4, first),
                (thread, 4, second),
                (thread, 5, second),
                (thread, 5, first),
            ]
        };
        let steps = [nested(0, 1, 2), nested(1, 2, 1)].concat();
        let steps: Vec<Step> = steps.into_iter().map(step).collect();
        assert_eq!(asks_and_is_quiet(&steps, 0), (true, false));
    }
}
