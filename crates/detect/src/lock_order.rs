//! Potential deadlocks: cycles in the order in which locks are taken (Goodlock: Havelund, SPIN 2000;
//! with guards and segments as in Bensalem and Havelund, PADTAD 2005).
//!
//! A *step* of a cycle is a thread that holds one lock and requests another. Each step requests what the
//! next one holds, the last one what the first one holds. It is no deadlock if
//!
//! - two steps are of the same thread,
//! - two steps hold a common lock that excludes them (a gate),
//! - a lock is held and requested for reading only,
//! - limited happens-before (messages, not locks) orders one step before another,
//! - a lock was only tried for: then the thread would not have waited.
//!
//! A request is a lock that was taken, or found taken ([`Op::Request`]), while another was held. A thread
//! that was seen to wait for a lock that it holds itself is a cycle of one. An order that follows from what
//! is read under other locks is not seen: such cycles are reported though they cannot be.
//!
//! Work and memory are bounded, and it is said if a bound was met: of the same request (thread, locks
//! held, lock) the first [`MOST_TIMES`] at different times of the thread are kept, [`MOST_REQUESTS`] in
//! all, and the search visits [`MOST_VISITS`] steps.

mod cycles;

use std::sync::atomic::AtomicBool;

use deadheat_history::Hold;
use deadheat_trace::{Addr, EventIndex, LockId, Op, Pc, Step, Tables, ThreadId};
use rustc_hash::FxHashMap;

use crate::happens_before::HappensBefore;
use crate::protection::{Holds, Protection};
use crate::{Change, Held, VectorClock};

pub use cycles::{Deadlock, DeadlockStep, Deadlocks};

/// How often a request is kept.
pub const MOST_TIMES: usize = 8;
/// How many requests are kept.
pub const MOST_REQUESTS: usize = 1 << 18;
/// How many bytes they may take.
const MOST_BYTES: usize = 64 << 20;
/// How many steps the search visits.
pub const MOST_VISITS: usize = 1 << 22;

/// Gathers requests, and finds the cycles in them.
///
/// ```
/// use deadheat_detect::LockOrder;
/// use deadheat_trace::{EventIndex, text};
///
/// let trace = text::parse(
///     "A|acq(m)|1\nA|acq(n)|2\nA|rel(n)|3\nA|rel(m)|4\nB|acq(n)|5\nB|acq(m)|6\n",
/// )?;
/// let mut locks = LockOrder::new();
/// for (index, step) in trace.steps.iter().enumerate() {
///     locks.step(EventIndex(index as u64), step, &trace.tables);
/// }
/// let deadlocks = locks.deadlocks();
/// assert_eq!(deadlocks.found.len(), 1);
/// assert_eq!(deadlocks.found[0].steps[1].requests.at, EventIndex(5));
/// assert!(deadlocks.complete);
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
#[derive(Default)]
pub struct LockOrder {
    order: HappensBefore,
    protection: Protection,
    requests: Vec<Request>,
    kept: FxHashMap<Key, Vec<u32>>,
    /// Threads that waited for themselves.
    alone: Vec<DeadlockStep>,
    /// About how many bytes the requests take.
    bytes: usize,
    left_out: bool,
}

/// A lock that a step of a deadlock holds or requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockPlace {
    /// Which.
    pub lock: LockId,
    /// The event that took it, or requested it.
    pub at: EventIndex,
    /// Its place in the program.
    pub pc: Pc,
    /// Held or requested for reading.
    pub shared: bool,
}

/// A thread requested a lock while it held others.
struct Request {
    thread: ThreadId,
    /// What it held, in the order in which it was taken.
    held: Vec<LockPlace>,
    /// The same as a set.
    holds: Holds,
    wanted: LockPlace,
    time: u32,
    known: VectorClock,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    thread: ThreadId,
    holds: Holds,
    wanted: LockId,
    shared: bool,
}

impl LockOrder {
    /// At the start of a trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next step.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables) {
        if !matches!(step.event.op(), Op::Read | Op::Write) {
            self.other(index, step, tables);
        }
    }

    /// The cycles in what was requested so far.
    pub fn deadlocks(&self) -> Deadlocks {
        self.deadlocks_until(&AtomicBool::new(false))
    }

    /// The same, as far as they were found when `stop` became true.
    pub fn deadlocks_until(&self, stop: &AtomicBool) -> Deadlocks {
        let mut deadlocks = cycles::search(&self.requests, stop);
        let alone = self
            .alone
            .iter()
            .map(|step| Deadlock { steps: vec![*step] });
        deadlocks.found.extend(alone);
        deadlocks.found.sort_by_key(Deadlock::last_request);
        deadlocks.complete &= !self.left_out;
        deadlocks
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.order.memory() + self.bytes
    }

    fn other(&mut self, index: EventIndex, step: &Step, tables: &Tables) {
        let event = &step.event;
        let sent = self.order.step_with(step, |_| false);
        let wanted = |shared| LockPlace {
            lock: event.lock(),
            at: index,
            pc: event.pc(),
            shared,
        };
        match event.op() {
            Op::Request => self.wait(event.thread(), wanted(false)),
            Op::ReadRequest => self.wait(event.thread(), wanted(true)),
            _ => {}
        }
        if let Change::Taken(held) = self.protection.step(index, step) {
            if !step.was_tried() {
                self.request(event.thread(), wanted(held.shared));
            }
            let object = tables.syncs.get(held.lock.index());
            if let Some(object) = object.filter(|object| object.addr != Addr(0)) {
                self.order.ignore_atomics_at(object.addr);
            }
        }
        if sent {
            self.order.advance(event.thread());
        }
    }

    /// A thread waits for a lock.
    fn wait(&mut self, thread: ThreadId, wanted: LockPlace) {
        let locks = self.protection.locks().of(thread).iter().map(place);
        let mut own = locks.filter(|held| held.hold().excludes(wanted.hold()));
        let Some(holds) = own.next() else {
            return self.request(thread, wanted);
        };
        let known =
            |step: &DeadlockStep| (step.holds.pc, step.requests.pc) == (holds.pc, wanted.pc);
        if !self.alone.iter().any(known) {
            self.alone.push(DeadlockStep {
                thread,
                holds,
                requests: wanted,
            });
        }
    }

    /// A thread requests a lock, or has just taken it.
    fn request(&mut self, thread: ThreadId, wanted: LockPlace) {
        let locks = self.protection.locks().of(thread);
        if !locks.iter().any(|held| held.lock != wanted.lock) {
            return;
        }
        let others = locks.iter().filter(|held| held.lock != wanted.lock);
        let held: Vec<LockPlace> = others.map(place).collect();
        let holds = self.protection.of(thread, false).iter();
        let holds: Holds = holds
            .copied()
            .filter(|hold| hold.lock() != wanted.lock.0)
            .collect();
        let known = self.order.clock(thread);
        let time = known.get(thread);
        let key = Key {
            thread,
            holds: holds.clone(),
            wanted: wanted.lock,
            shared: wanted.shared,
        };
        let is_full = self.requests.len() == MOST_REQUESTS || self.bytes > MOST_BYTES;
        let times = match self.kept.get_mut(&key) {
            Some(times) => times,
            None if is_full => {
                self.left_out = true;
                return;
            }
            None => self.kept.entry(key).or_default(),
        };
        if times.contains(&time) {
            return;
        }
        if times.len() == MOST_TIMES || is_full {
            self.left_out = true;
            return;
        }
        times.push(time);
        let request = Request {
            thread,
            held,
            holds,
            wanted,
            time,
            known: known.clone(),
        };
        self.bytes += request.memory();
        self.requests.push(request);
    }
}

/// A lock in a thread's hands.
fn place(held: &Held) -> LockPlace {
    LockPlace {
        lock: held.lock,
        at: held.since,
        pc: held.pc,
        shared: held.shared,
    }
}

impl LockPlace {
    /// The lock, and how it is held or wanted.
    fn hold(&self) -> Hold {
        match self.shared {
            true => Hold::shared(self.lock.0),
            false => Hold::exclusive(self.lock.0),
        }
    }
}

impl Request {
    /// About how many bytes it takes, with how it is known.
    fn memory(&self) -> usize {
        2 * size_of::<Request>() + self.known.memory() + size_of_val(&self.held[..])
    }

    /// What of the locks held stands in the way of who wants one like this.
    fn holds_against(&self, wanted: Hold) -> Option<&LockPlace> {
        self.held.iter().find(|place| place.hold().excludes(wanted))
    }

    /// Whether both threads can stand at their requests at once.
    fn can_meet(&self, other: &Request) -> bool {
        let gate = |mine: &Hold| other.holds.iter().any(|theirs| mine.excludes(*theirs));
        let before = |a: &Request, b: &Request| a.time <= b.known.get(a.thread);
        self.thread != other.thread
            && !self.holds.iter().any(gate)
            && !before(self, other)
            && !before(other, self)
    }
}
