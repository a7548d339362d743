//! A trace in figures: how many steps of which kind, by whom, to how much memory.
//!
//! ```
//! use deadheat_trace::{Op, stats, text};
//!
//! let trace = text::parse("T0|fork(T1)|1\nT0|w(x)|2\nT1|r(x)|3\n")?;
//! let stats = stats::of(&mut trace.stream())?;
//! assert_eq!((stats.steps, stats.shared_words), (3, 1));
//! assert_eq!(stats.by_op[&Op::Fork], 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod render;
mod words;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use self::words::Words;
use crate::hash::FastMap;
use crate::op_name::op_name;
use crate::{Mode, Op, Step, Steps, SyncId, SyncKind, Tables, ThreadId};

/// A trace in figures. Printed, it is a table for the terminal; serialized, an object with these
/// fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// `serial` or `parallel`.
    #[serde(serialize_with = "mode_word")]
    pub mode: Mode,
    /// How many steps.
    pub steps: u64,
    /// How many steps of each operation there is one of.
    #[serde(serialize_with = "named_ops")]
    pub by_op: BTreeMap<Op, u64>,
    /// Every thread that ran, by its number.
    pub threads: Vec<ThreadStats>,
    /// How many locks were used.
    pub locks: u64,
    /// How many other things threads synchronised on.
    pub objects: u64,
    /// The most locks that one thread held at once; one taken twice counts once.
    pub max_locks_held: u64,
    /// How many aligned 8-byte words of memory were accessed.
    pub words: u64,
    /// How many of them by more than one thread.
    pub shared_words: u64,
    /// How many of those were also written.
    pub shared_written_words: u64,
    /// How many places of the program the steps come from.
    pub locations: u64,
    /// How many accesses have values.
    pub with_values: u64,
    /// How many events are known to be missing.
    pub lost: u64,
}

/// What one thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ThreadStats {
    /// Its number.
    pub id: u32,
    /// Its name, or `T` and its number.
    pub name: String,
    /// How many steps.
    pub steps: u64,
    /// Plain reads.
    pub reads: u64,
    /// Plain writes.
    pub writes: u64,
    /// Atomic accesses and fences.
    pub atomics: u64,
    /// Locks, waits, forks, and all other synchronisation.
    pub syncs: u64,
    /// The most locks that it held at once.
    pub max_locks_held: u64,
}

/// Counts step by step.
pub struct Counter {
    by_op: [u64; Op::ALL.len()],
    threads: Vec<Counts>,
    syncs: FastMap<u32, bool>,
    words: Words,
    locations: FastMap<u32, ()>,
    with_values: u64,
    lost: u64,
}

#[derive(Clone, Default)]
struct Counts {
    stats: ThreadStats,
    /// The locks it holds, each with how often.
    held: Vec<(SyncId, u32)>,
}

impl Default for Counter {
    fn default() -> Self {
        Counter::new()
    }
}

impl Counter {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Counter {
            by_op: [0; Op::ALL.len()],
            threads: Vec::new(),
            syncs: FastMap::default(),
            words: Words::default(),
            locations: FastMap::default(),
            with_values: 0,
            lost: 0,
        }
    }

    /// The next step.
    pub fn step(&mut self, step: &Step) {
        let event = &step.event;
        let op = event.op();
        self.by_op[op as usize - 1] += 1;
        self.locations.insert(event.pc().0, ());
        let index = event.thread().index();
        if index >= self.threads.len() {
            self.threads.resize(index + 1, Counts::default());
        }
        let counts = &mut self.threads[index];
        counts.stats.steps += 1;
        match op {
            Op::Read => counts.stats.reads += 1,
            Op::Write => counts.stats.writes += 1,
            op if op.is_atomic() || op == Op::Fence => counts.stats.atomics += 1,
            Op::Alloc | Op::Free | Op::Enter | Op::Leave | Op::Branch | Op::Exit => return,
            Op::ExternalWrite => {}
            Op::Lost => self.lost = self.lost.saturating_add(step.written().unwrap_or(0)),
            _ => {
                counts.stats.syncs += 1;
                counts.lock(op, event.sync());
                if !matches!(
                    op,
                    Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End
                ) {
                    *self.syncs.entry(event.sync().0).or_default() |= event.is_lock_op();
                }
            }
        }
        if op.is_access() {
            self.words
                .access(event.thread(), event.addr(), event.size(), op.writes());
            let known = step.read().is_some() || step.written().is_some();
            self.with_values += u64::from(known);
        }
    }

    /// At the end of the trace.
    pub fn finish(self, mode: Mode, tables: &Tables) -> Stats {
        let ops = Op::ALL.into_iter().zip(self.by_op);
        let threads = self.threads.into_iter().zip(0..);
        let threads: Vec<ThreadStats> = threads
            .filter(|(counts, _)| counts.stats.steps > 0)
            .map(|(counts, id)| ThreadStats {
                id,
                name: tables.thread_name(ThreadId(id)),
                ..counts.stats
            })
            .collect();
        let is_lock = |id: u32, used_as_lock: bool| match tables.syncs.get(id as usize) {
            Some(object) => object.kind == SyncKind::Lock,
            None => used_as_lock,
        };
        let all_syncs = self.syncs.len() as u64;
        let locks = self
            .syncs
            .into_iter()
            .filter(|(id, lock)| is_lock(*id, *lock));
        let locks = locks.count() as u64;
        let words = self.words.totals();
        Stats {
            mode,
            steps: self.by_op.iter().sum(),
            by_op: ops.filter(|(_, count)| *count > 0).collect(),
            max_locks_held: threads.iter().map(|t| t.max_locks_held).max().unwrap_or(0),
            threads,
            locks,
            objects: all_syncs - locks,
            words: words.all,
            shared_words: words.shared,
            shared_written_words: words.shared_written,
            locations: self.locations.len() as u64,
            with_values: self.with_values,
            lost: self.lost,
        }
    }
}

impl Counts {
    fn lock(&mut self, op: Op, lock: SyncId) {
        let at = self.held.iter().position(|(held, _)| *held == lock);
        match (op, at) {
            (Op::Acquire | Op::ReadAcquire, Some(at)) => self.held[at].1 += 1,
            (Op::Acquire | Op::ReadAcquire, None) => {
                self.held.push((lock, 1));
                let held = self.held.len() as u64;
                self.stats.max_locks_held = self.stats.max_locks_held.max(held);
            }
            (Op::Release | Op::ReadRelease, Some(at)) => {
                self.held[at].1 -= 1;
                if self.held[at].1 == 0 {
                    self.held.swap_remove(at);
                }
            }
            _ => {}
        }
    }
}

/// The figures of a whole trace.
pub fn of<S: Steps>(steps: &mut S) -> Result<Stats, S::Error> {
    let mut counter = Counter::new();
    while let Some(step) = steps.next_step()? {
        counter.step(&step);
    }
    Ok(counter.finish(steps.mode(), steps.tables()))
}

fn mode_word<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(render::mode_word(*mode))
}

fn named_ops<S: Serializer>(ops: &BTreeMap<Op, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(ops.iter().map(|(op, count)| (op_name(*op), count)))
}
