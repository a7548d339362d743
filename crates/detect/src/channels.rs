//! Shared channels: locks whose release sends and whose acquisition receives.
//!
//! From the hybrid paper (section 6.4): a structure whose operations block on wait and notify is a
//! channel between threads, and the objects that travel through it belong to one thread at a time. In Java
//! all locks of such a class count. Here a lock is known as a channel if a thread gave it back to wait at a
//! condition, or held it while notifying one. And as locks of one kind belong to objects of one kind: all
//! locks that were initialised at the same place as a known one count too; if they were not
//! initialised anywhere, those that lie in heap blocks allocated at the same place.
//!
//! Conditions that are made of futexes (Rust's) are known by the same: who gives a lock back and with
//! nothing but atomics in between goes to sleep on a futex, which is not itself the word of a lock, waits.

use deadheat_trace::{
    Addr, EventIndex, Extents, LockId, Op, Pc, Step, Steps, SyncId, SyncKind, Tables, ThreadId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::HeldLocks;

/// The locks that are channels.
///
/// ```
/// use deadheat_detect::Channels;
/// use deadheat_trace::{LockId, text};
///
/// let trace = text::parse("A|acq(m)|1\nA|rel(m)|2\nA|wait(c)|2\nB|acq(n)|3\nB|rel(n)|4\n")?;
/// let channels = Channels::find(&mut trace.stream())?;
/// assert!(channels.contains(LockId(0)) && !channels.contains(LockId(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Channels {
    known: FxHashSet<LockId>,
    /// Where known ones were made.
    known_places: FxHashSet<Pc>,
    /// Where locks were made.
    places: FxHashMap<LockId, Pc>,
    /// Live blocks of the heap, by the numbers of the places that made them.
    blocks: Extents<u32>,
    makers: Vec<Pc>,
    numbers: FxHashMap<Pc, u32>,
    /// By thread the lock that it gave back, if it has done nothing but atomics since.
    given: Vec<Option<LockId>>,
    /// Where locks lie.
    words: FxHashSet<Addr>,
    most_locks: usize,
}

impl Channels {
    /// None, to be learned while a trace is read.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a whole trace for them. Then all are known before the first step.
    pub fn find<S: Steps>(steps: &mut S) -> Result<Self, S::Error> {
        let mut channels = Channels::new();
        let mut locks = HeldLocks::default();
        let mut index = 0;
        while let Some(step) = steps.next_step()? {
            locks.step(EventIndex(index), &step.event);
            channels.step(&step, &locks, steps.tables());
            index += 1;
        }
        channels.settle();
        Ok(channels)
    }

    /// All of the trace was read: lets go of what is no longer needed.
    pub fn settle(&mut self) {
        self.blocks.clear();
        (self.makers, self.numbers) = Default::default();
        self.words.clear();
    }

    /// Whether a lock is a channel, as far as is known.
    #[inline]
    pub fn contains(&self, lock: LockId) -> bool {
        self.known.contains(&lock) || self.is_of_known_kind(lock)
    }

    /// The most locks that a thread held at once, as far as is known.
    pub fn most_locks(&self) -> usize {
        self.most_locks
    }

    /// The next step; `locks` has been shown it.
    #[inline]
    pub fn step(&mut self, step: &Step, locks: &HeldLocks, tables: &Tables) {
        match step.event.op() {
            Op::Read | Op::Write => {
                if let Some(given) = self.given.get_mut(step.event.thread().index()) {
                    *given = None;
                }
            }
            _ => self.other(step, locks, tables),
        }
    }

    fn other(&mut self, step: &Step, locks: &HeldLocks, tables: &Tables) {
        let event = &step.event;
        let thread = event.thread();
        if thread.index() >= self.given.len() {
            self.given.resize(thread.index() + 1, None);
        }
        match event.op() {
            Op::Acquire | Op::ReadAcquire => {
                self.most_locks = self.most_locks.max(locks.of(thread).len());
                self.appears(event.lock(), tables);
                self.given[thread.index()] = None;
            }
            Op::Release => self.given[thread.index()] = Some(event.lock()),
            Op::Wait => self.waits(thread),
            Op::FutexWait => {
                let futex = tables.syncs.get(event.sync().index());
                if futex.is_some_and(|futex| !self.words.contains(&futex.addr)) {
                    self.waits(thread);
                }
            }
            Op::Notify | Op::NotifyAll => {
                for held in locks.of(thread) {
                    self.is_channel(held.lock);
                }
            }
            Op::Init => {
                let SyncId(id) = event.sync();
                let kind = tables.syncs.get(id as usize).map(|object| object.kind);
                if kind == Some(SyncKind::Lock) && event.pc() != Pc::UNKNOWN {
                    self.places.insert(LockId(id), event.pc());
                }
            }
            Op::Alloc => {
                let maker = self.maker(event.pc());
                let bytes = step.written().unwrap_or(0);
                self.blocks.insert(event.addr().0, bytes, maker);
            }
            Op::Free => {
                self.blocks.remove(event.addr().0);
            }
            _ => {}
        }
    }

    /// The number of a place that makes blocks.
    fn maker(&mut self, place: Pc) -> u32 {
        let next = self.makers.len() as u32;
        let number = *self.numbers.entry(place).or_insert(next);
        if number == next {
            self.makers.push(place);
        }
        number
    }

    fn waits(&mut self, thread: ThreadId) {
        if let Some(lock) = self.given[thread.index()].take() {
            self.is_channel(lock);
        }
    }

    fn is_of_known_kind(&self, lock: LockId) -> bool {
        let place = self.places.get(&lock);
        place.is_some_and(|place| self.known_places.contains(place))
    }

    fn is_channel(&mut self, lock: LockId) {
        if self.known.insert(lock)
            && let Some(place) = self.places.get(&lock)
        {
            self.known_places.insert(*place);
        }
    }

    /// A lock that nobody initialised is made where its block is.
    fn appears(&mut self, lock: LockId, tables: &Tables) {
        let Some(object) = tables.syncs.get(lock.index()) else {
            return;
        };
        self.words.insert(object.addr);
        if self.places.contains_key(&lock) {
            return;
        }
        let block = self.blocks.around(object.addr.0);
        let place = block.map(|block| self.makers[block.what as usize]);
        if let Some(place) = place.filter(|place| *place != Pc::UNKNOWN) {
            self.places.insert(lock, place);
        }
    }
}
