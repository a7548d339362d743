//! Hybrid detection, the detailed mode: O'Callahan and Choi, "Hybrid Dynamic Data Race Detection"
//! (PPoPP 2003).
//!
//! Two conflicting accesses of different threads may race if no lock excludes them and a *limited*
//! happens-before orders neither before the other. It has the messages between threads, but not the order
//! in which locks were taken: that is mostly chance (figure 4). Locks that are
//! [channels](crate::Channels) do order. Which accesses are remembered, and which are redundant, is in
//! `deadheat-history`.
//!
//! Deviations:
//! - Messages are more than Java's: barriers, semaphores, once-initialisation, annotations, and atomics by
//!   their memory orders. The words of locks that are atomics themselves (Rust's) send nothing.
//! - Locks may be held for reading. Atomic accesses do not race with each other.
//! - A location is a cell: bytes that were always accessed together. Memory that is handed out has no
//!   history; giving it back is a write to the cells that were accessed.
//! - The most locks that a thread holds (the paper's N) are learned on the way or given. What was left out
//!   under a smaller number is told: [`Hybrid::unsure_locations`].
//! - Accesses that a later one stands for are dropped, so that memory does not grow with the trace.
//! - Channels are best known before: then also the first objects through them make no warning.

use deadheat_history::{Access as Remembered, History, Node, Options, Record, Store};
use deadheat_trace::{Addr, EventIndex, LockId, Op, Step, Tables};

use crate::blocks::{Blocks, Change as Memory};
use crate::happens_before::HappensBefore;
use crate::history_slots::VecSlots;
use crate::ownership::{Owner, Ownership};
use crate::protection::Protection;
use crate::{Access, Change, Channels, Detector, Race, Races, Shadow};

/// What to do and what not. The default is the paper's detailed mode, going on behind the first race of
/// a location.
#[derive(Clone, Debug)]
pub struct HybridOptions {
    /// Compare by limited happens-before. Otherwise by locks alone, with the thread-locality check
    /// (the paper's Detailed-NoHB).
    pub happens_before: bool,
    /// Apply the lockset-subset rule.
    pub subset: bool,
    /// Apply the oversized-lockset rule.
    pub oversized: bool,
    /// Drop accesses that a later one stands for.
    pub overtake: bool,
    /// Go on behind the first race of a location. The paper stops there; but then a race of
    /// other places is not seen.
    pub go_on: bool,
    /// The most locks that a thread holds, as far as is known before.
    pub most_locks: u32,
    /// The locks that are channels, as far as is known before. More are learned.
    pub channels: Channels,
    /// Whether locks can be channels.
    pub use_channels: bool,
}

impl Default for HybridOptions {
    fn default() -> Self {
        HybridOptions {
            happens_before: true,
            subset: true,
            oversized: true,
            overtake: true,
            go_on: true,
            most_locks: 0,
            channels: Channels::new(),
            use_channels: true,
        }
    }
}

/// The detector.
///
/// ```
/// use deadheat_detect::{Detector, Hybrid, HybridOptions, Races};
/// use deadheat_trace::{EventIndex, text};
///
/// // Figure 4: the order of the two critical sections is chance.
/// let trace = text::parse(
///     "A|w(x)|1\nA|acq(m)|2\nA|w(clock)|3\nA|rel(m)|4\nB|acq(m)|5\nB|w(clock)|6\nB|rel(m)|7\nB|r(x)|8\n",
/// )?;
/// let mut hybrid = Hybrid::new(HybridOptions::default());
/// let mut races = Races::new();
/// for (index, step) in trace.steps.iter().enumerate() {
///     hybrid.step(EventIndex(index as u64), step, &trace.tables, &mut races);
/// }
/// assert_eq!(races.found().len(), 1);
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
pub struct Hybrid {
    history: Options,
    oversized: bool,
    most_locks: u32,
    use_channels: bool,
    channels: Channels,
    order: HappensBefore,
    protection: Protection,
    shadow: Shadow<Cell>,
    blocks: Blocks,
    ownership: Ownership,
    unsure: u64,
}

/// A location: its history, where that lies, and whose it is.
#[derive(Clone, Debug, Default)]
struct Cell {
    history: History,
    store: Store<VecSlots<Node>, VecSlots<Record<Access>>>,
    owner: Owner,
    unsure: bool,
}

impl Hybrid {
    /// At the start of a trace.
    pub fn new(options: HybridOptions) -> Self {
        Hybrid {
            history: Options {
                happens_before: options.happens_before,
                subset: options.subset,
                most_locks: None,
                overtake: options.overtake,
                go_on: options.go_on,
            },
            oversized: options.oversized,
            most_locks: options.most_locks.max(options.channels.most_locks() as u32),
            use_channels: options.use_channels,
            channels: options.channels,
            order: HappensBefore::default(),
            protection: Protection::default(),
            shadow: Shadow::new(),
            blocks: Blocks::default(),
            ownership: Ownership::default(),
            unsure: 0,
        }
    }

    /// The most locks that a thread was seen to hold at an access; atomic accesses count one more.
    /// Another run that starts with this number leaves nothing out.
    pub fn most_locks(&self) -> u32 {
        self.most_locks
    }

    /// How many locations were accessed with more locks than was thought possible when accesses
    /// were left out: they may have races that are not reported.
    pub fn unsure_locations(&self) -> u64 {
        self.unsure
    }

    /// How many accesses are remembered now, of all locations.
    pub fn remembered(&self) -> u64 {
        let records = |cell: &Cell| u64::from(cell.store.records.used());
        self.shadow.states().map(records).sum()
    }

    /// The locks that turned out to be channels.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    fn access(&mut self, access: Access, cells: Cells, races: &mut Races) {
        let event = &access.event;
        let (thread, op) = (event.thread(), event.op());
        let holds = self.protection.of(thread, op.is_atomic());
        self.most_locks = self.most_locks.max(holds.len() as u32);
        let mut options = self.history;
        options.most_locks = self.oversized.then_some(self.most_locks);
        let clock = self.order.clock(thread);
        let time = if options.happens_before {
            clock.get(thread)
        } else {
            0
        };
        let remembered = Remembered {
            thread: thread.0,
            time,
            writes: op.writes() || op == Op::Free,
            holds,
            payload: access,
        };
        let (ownership, unsure) = (&mut self.ownership, &mut self.unsure);
        let add = |cell: &mut Cell| {
            if !options.happens_before
                && !ownership.is_shared(&mut cell.owner, event.addr(), thread)
            {
                return;
            }
            let known = |other| clock.get(deadheat_trace::ThreadId(other));
            let Cell { history, store, .. } = cell;
            let outcome = history.add(store, &remembered, &options, known, |first| {
                races.add(Race {
                    first: first.payload,
                    second: access,
                });
            });
            if outcome.unsure && !outcome.race && !cell.unsure {
                cell.unsure = true;
                *unsure += 1;
            }
        };
        match cells {
            Cells::Accessed => self.shadow.access(event.addr(), event.size(), add),
            Cells::Freed(addr, size) => self.shadow.revisit(addr, size, add),
        }
    }

    fn memory_event(&mut self, access: Access, step: &Step, races: &mut Races) {
        match self.blocks.step(step) {
            Some(Memory::New(addr, size)) => {
                self.shadow.forget(addr, size, |_| {});
                if !self.history.happens_before {
                    self.ownership.add(addr, size);
                }
            }
            Some(Memory::Gone(addr, size)) => {
                self.access(access, Cells::Freed(addr, size), races);
                self.ownership.remove(addr);
                self.shadow
                    .revisit(addr, size, |cell| cell.owner = Owner::Shared);
            }
            None => {}
        }
    }

    /// Anything but an access. Whether its thread must advance.
    fn other(&mut self, index: EventIndex, step: &Step, tables: &Tables) -> bool {
        if let Change::Taken(held) = self.protection.step(index, step) {
            self.ignore_word_of(held.lock, tables);
        }
        let (channels, used) = (&self.channels, self.use_channels);
        self.order
            .step_with(step, |lock| used && channels.contains(lock))
    }

    fn ignore_word_of(&mut self, lock: LockId, tables: &Tables) {
        let object = tables.syncs.get(lock.index());
        if let Some(object) = object.filter(|object| object.addr != Addr(0)) {
            self.order.ignore_atomics_at(object.addr);
        }
    }
}

/// Which cells an access is to.
enum Cells {
    /// Those of its bytes.
    Accessed,
    /// Those of a block that were accessed before.
    Freed(Addr, u64),
}

impl Detector for Hybrid {
    #[inline]
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races) {
        let event = step.event;
        let access = Access { index, event };
        if self.use_channels {
            self.channels.step(step, self.protection.locks(), tables);
        }
        let sent = match event.op() {
            Op::Read | Op::Write => self.order.step(step),
            _ => self.other(index, step, tables),
        };
        match event.op() {
            Op::Read | Op::Write | Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                self.access(access, Cells::Accessed, races);
            }
            Op::Alloc | Op::Free => self.memory_event(access, step, races),
            _ => {}
        }
        if sent {
            self.order.advance(event.thread());
        }
    }

    fn forget(&mut self) -> bool {
        self.shadow = Shadow::new();
        true
    }

    fn memory(&self) -> usize {
        let cell = |cell: &Cell| cell.store.nodes.memory() + cell.store.records.memory();
        let cells: usize = self.shadow.states().map(cell).sum();
        self.order.memory()
            + self.shadow.memory()
            + cells
            + self.blocks.memory()
            + self.ownership.memory()
    }
}
