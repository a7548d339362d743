//! Hints that a race may do no harm.
//!
//! *Hybrid* (section 7.5) sorts the races of its programs by hand: constant writes, lazy
//! initialisation, asynchronous notification, timestamps, statistics, double-checked locking; and
//! leaves it open to recognise them. Here each is recognised by what all accesses to the racing bytes
//! did in the trace. A hint is an observation about one run and never hides a race: in C, C++ and
//! Rust these patterns are wrong without atomics, however well they may work.
//!
//! Values are needed for all but double-checked locking, so there are few hints for recordings
//! without them.

use std::cell::OnceCell;

use deadheat_trace::{Addr, EventIndex, LockId, Op, Pc, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Race;

/// Accesses that are kept of a race's bytes; more change nothing.
const KEPT: usize = 4096;
/// The same where there are many races.
const LEAST_KEPT: usize = 64;
/// About so many are kept of all races.
const ALL_KEPT: usize = 1 << 20;

/// A pattern that the accesses to some bytes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hint {
    /// Every write stores this value.
    SameValue(u64),
    /// Every write stores what was there before.
    Unchanged,
    /// Every write adds to what its thread has just read, and nobody else looks.
    Counter,
    /// It is looked at without a lock, and again after this lock was taken.
    DoubleChecked(LockId),
    /// It is set once, by a thread that has just seen it unset.
    LazyInitialisation,
    /// A thread looks at it again and again until another has set it.
    Flag {
        /// Who looks.
        poller: ThreadId,
    },
    /// One thread sets it to larger and larger values.
    Timestamp {
        /// Who sets it.
        writer: ThreadId,
    },
}

/// Watches the bytes of races while a trace is read once more. Races of the same bytes are watched together.
#[derive(Debug, Default)]
pub struct Benign {
    watched: Vec<Watched>,
    by_word: FxHashMap<u64, Vec<usize>>,
    /// By which of the watched each race is judged.
    of_races: Vec<usize>,
    kept: usize,
    held: FxHashMap<ThreadId, Vec<LockId>>,
}

#[derive(Debug)]
struct Watched {
    start: u64,
    end: u64,
    /// The races, by where they were seen.
    races: Vec<(EventIndex, usize)>,
    closed: bool,
    accesses: Vec<Seen>,
    /// There were more accesses than could be kept.
    is_cut_off: bool,
    hints: OnceCell<Vec<Hint>>,
}

/// An access to watched bytes.
#[derive(Clone, Copy, Debug)]
struct Seen {
    thread: ThreadId,
    pc: Pc,
    op: Op,
    /// What was read, or what was there before a write, if it is known.
    read: Option<u64>,
    written: Option<u64>,
    /// A lock that was held.
    lock: Option<LockId>,
}

impl Benign {
    /// Will watch the bytes of these races.
    pub fn of(races: &[Race]) -> Self {
        let mut benign = Benign::default();
        let mut by_bytes: FxHashMap<(u64, u64), Vec<(EventIndex, usize)>> = FxHashMap::default();
        for (i, race) in races.iter().enumerate() {
            let (a, b) = (&race.first.event, &race.second.event);
            let start = race.addr().0;
            let end = (a.addr().0 + a.size().max(1)).min(b.addr().0 + b.size().max(1));
            let bytes = (start, end.max(start + 1));
            by_bytes
                .entry(bytes)
                .or_default()
                .push((race.second.index, i));
        }
        benign.of_races.resize(races.len(), 0);
        benign.kept = (ALL_KEPT / by_bytes.len().max(1)).clamp(LEAST_KEPT, KEPT);
        for (bytes, mut races) in by_bytes {
            races.sort_unstable();
            benign.watch(bytes, races);
        }
        benign
    }

    /// Begins to watch some bytes for some races.
    fn watch(&mut self, (start, end): (u64, u64), races: Vec<(EventIndex, usize)>) {
        let number = self.watched.len();
        for (_, race) in &races {
            self.of_races[*race] = number;
        }
        for word in start >> 3..=(end - 1) >> 3 {
            self.by_word.entry(word).or_default().push(number);
        }
        self.watched.push(Watched {
            start,
            end,
            races,
            closed: false,
            accesses: Vec::new(),
            is_cut_off: false,
            hints: OnceCell::new(),
        });
    }

    /// The next step of the trace.
    pub fn step(&mut self, index: EventIndex, step: &Step) {
        let event = &step.event;
        match event.op() {
            op if op.is_access() => self.access(step),
            Op::Acquire | Op::ReadAcquire => {
                self.held
                    .entry(event.thread())
                    .or_default()
                    .push(event.lock());
            }
            Op::Release | Op::ReadRelease => {
                let held = self.held.entry(event.thread()).or_default();
                if let Some(at) = held.iter().rposition(|lock| *lock == event.lock()) {
                    held.remove(at);
                }
            }
            Op::Alloc => self.reused(index, event.addr(), step.written().unwrap_or(0)),
            _ => {}
        }
    }

    /// What the accesses to the bytes of race `i` follow.
    pub fn hints(&self, i: usize) -> Vec<Hint> {
        let watched = self.of_races.get(i).and_then(|at| self.watched.get(*at));
        watched.map_or_else(Vec::new, |watched| watched.hints().clone())
    }

    fn access(&mut self, step: &Step) {
        let event = &step.event;
        let (start, size) = (event.addr().0, event.size().max(1));
        // A copy of many bytes has no one value; its first and last word are enough to notice it.
        let words = [start >> 3, (start + size - 1) >> 3];
        let words = if words[0] == words[1] {
            &words[..1]
        } else {
            &words[..]
        };
        for word in words {
            let Some(indices) = self.by_word.get(word) else {
                continue;
            };
            for i in indices {
                let watched = &mut self.watched[*i];
                if watched.closed || start >= watched.end || watched.start >= start + size {
                    continue;
                }
                if watched.accesses.len() >= self.kept {
                    // Less than is usual says nothing.
                    watched.is_cut_off = self.kept < KEPT;
                } else {
                    let whole = start == watched.start && start + size >= watched.end && size <= 8;
                    let held = self.held.get(&event.thread());
                    watched.accesses.push(Seen {
                        thread: event.thread(),
                        pc: event.pc(),
                        op: event.op(),
                        read: step.read().filter(|_| whole),
                        written: step.written().filter(|_| whole),
                        lock: held.and_then(|held| held.last().copied()),
                    });
                }
            }
        }
    }

    /// A block was handed out: what its bytes were before is another object.
    fn reused(&mut self, index: EventIndex, addr: Addr, size: u64) {
        let end = addr.0.saturating_add(size.max(1));
        let words = addr.0 >> 3..((end - 1) >> 3) + 1;
        // Most blocks are small, and most have no race in them.
        let candidates: Vec<usize> = if words.end - words.start <= self.watched.len() as u64 {
            let indices = words.filter_map(|word| self.by_word.get(&word));
            indices.flatten().copied().collect()
        } else {
            (0..self.watched.len()).collect()
        };
        for i in candidates {
            let watched = &mut self.watched[i];
            if watched.closed || watched.start >= end || addr.0 >= watched.end {
                continue;
            }
            let seen = watched.races.partition_point(|(at, _)| *at <= index);
            if seen == 0 {
                watched.accesses.clear();
                watched.is_cut_off = false;
                continue;
            }
            // Races that come later are about the object that begins here.
            watched.closed = true;
            let (later, bytes) = (watched.races.split_off(seen), (watched.start, watched.end));
            for word in bytes.0 >> 3..=(bytes.1 - 1) >> 3 {
                self.by_word.entry(word).or_default().retain(|at| *at != i);
            }
            if !later.is_empty() {
                self.watch(bytes, later);
            }
        }
    }
}

impl Watched {
    fn hints(&self) -> &Vec<Hint> {
        self.hints.get_or_init(|| {
            let seen = &self.accesses;
            if self.is_cut_off {
                return Vec::new();
            }
            let found = [
                same_value(seen),
                counter(seen),
                double_checked(seen),
                lazy(seen),
                flag(seen),
                timestamp(seen),
            ];
            found.into_iter().flatten().collect()
        })
    }
}

fn writes(seen: &[Seen]) -> impl Iterator<Item = (usize, &Seen)> {
    seen.iter()
        .enumerate()
        .filter(|(_, access)| access.op.writes())
}

/// What was there before access `at`, as far as the accesses before tell.
fn before(seen: &[Seen], at: usize) -> Option<u64> {
    let last = seen[..at].last()?;
    if last.op.writes() {
        last.written
    } else {
        last.read
    }
}

fn same_value(seen: &[Seen]) -> Option<Hint> {
    let values: Vec<Option<u64>> = writes(seen).map(|(_, access)| access.written).collect();
    let first = (*values.first()?)?;
    // A single write proves nothing.
    if values.len() > 1 && values.iter().all(|value| *value == Some(first)) {
        return Some(Hint::SameValue(first));
    }
    let unchanged = |(at, access): (usize, &Seen)| {
        let before = before(seen, at);
        before.is_some() && before == access.written
    };
    writes(seen).all(unchanged).then_some(Hint::Unchanged)
}

fn counter(seen: &[Seen]) -> Option<Hint> {
    let mut updates = 0;
    let mut updated = FxHashSet::default();
    for (at, access) in writes(seen) {
        if access.op == Op::AtomicRmw {
            return None;
        }
        let own = seen[..at]
            .iter()
            .rev()
            .find(|other| other.thread == access.thread);
        let own = own.filter(|other| other.op == Op::Read)?;
        let added = access.written?.wrapping_sub(own.read?) as i64;
        if added == 0 || added.unsigned_abs() > 1 << 20 {
            return None;
        }
        updates += 1;
        updated.insert(own.pc);
    }
    // Only those who update it look at it, or they look once, at the end.
    let others = seen
        .iter()
        .filter(|access| !access.op.writes() && !updated.contains(&access.pc));
    (updates >= 2 && others.count() <= 1).then_some(Hint::Counter)
}

fn double_checked(seen: &[Seen]) -> Option<Hint> {
    let again = |(at, first): (usize, &Seen)| {
        if first.op != Op::Read || first.lock.is_some() {
            return None;
        }
        let own = seen[at + 1..]
            .iter()
            .find(|other| other.thread == first.thread)?;
        (own.op == Op::Read && own.pc != first.pc).then_some(own.lock?)
    };
    let lock = seen.iter().enumerate().find_map(again)?;
    let all_locked = writes(seen).all(|(_, access)| access.lock == Some(lock));
    (all_locked && writes(seen).next().is_some()).then_some(Hint::DoubleChecked(lock))
}

fn lazy(seen: &[Seen]) -> Option<Hint> {
    let mut any = false;
    for (at, access) in writes(seen) {
        let own = seen[..at]
            .iter()
            .rev()
            .find(|other| other.thread == access.thread)?;
        let saw_unset = own.op == Op::Read && own.read == Some(0);
        if !saw_unset || access.lock.is_some() || access.written? == 0 {
            return None;
        }
        any = true;
    }
    // Whoever adds to what it read is a counter's business.
    let values: FxHashSet<_> = writes(seen).map(|(_, access)| access.written).collect();
    let readers = seen
        .iter()
        .any(|access| access.op.reads() && access.read != Some(0));
    (any && readers && (values.len() == 1 || seen.iter().all(|access| access.lock.is_none())))
        .then_some(Hint::LazyInitialisation)
}

fn flag(seen: &[Seen]) -> Option<Hint> {
    let writers: FxHashSet<ThreadId> = writes(seen).map(|(_, access)| access.thread).collect();
    let mut runs: FxHashMap<(ThreadId, Pc), (u64, u32)> = FxHashMap::default();
    let mut poller = None;
    for access in seen.iter().filter(|access| !access.op.writes()) {
        if writers.contains(&access.thread) {
            return None;
        }
        let value = access.read?;
        let run = runs.entry((access.thread, access.pc)).or_insert((value, 0));
        if run.0 == value {
            run.1 += 1;
        } else if run.1 >= 2 {
            // It saw the same several times, and then something else.
            poller = Some(access.thread);
        }
    }
    Some(Hint::Flag { poller: poller? })
}

fn timestamp(seen: &[Seen]) -> Option<Hint> {
    let mut last = None;
    let mut writer = None;
    let mut count = 0;
    for (_, access) in writes(seen) {
        if *writer.get_or_insert(access.thread) != access.thread
            || access.written? <= last.unwrap_or(0)
        {
            return None;
        }
        last = access.written;
        count += 1;
    }
    (count >= 3).then_some(Hint::Timestamp { writer: writer? })
}
