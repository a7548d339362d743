//! Weak-causally-precedes: races that other orders of critical sections would show.
//!
//! Follows Kini, Mathur and Viswanathan, *Dynamic Race Prediction in Linear Time* (PLDI 2017). The
//! relation is the smallest one such that, for two sections of the same lock, the first one earlier:
//!
//! - (a) the first one's end lies before every access in the second one that conflicts with an access
//!   in the first one;
//! - (b) if something in the first one lies before something in the second one, then the first one's
//!   end lies before the second one's end;
//! - (c) what happens before something that lies before lies before, and so does what happens after.
//!
//! Two accesses race if neither this nor the order of their thread orders them. The first race of a
//! trace (by its second access) is real, or there is a deadlock that the program can run into. Later
//! ones may depend on the outcome of the first.
//!
//! Where this deviates:
//!
//! - One queue of sections per lock with a cursor for each thread, instead of one per pair of threads
//!   ([`section`]); and for each lock and cell the last sections instead of clocks ([`cell`]).
//! - Sections in which a lock is held for reading exclude those for writing only.
//! - All other synchronisation ([`Messages`]) lies before in the sense of this relation, with
//!   everything that happens before it: as if each message were written and read under a lock of its own.
//!   Atomic accesses conflict like others in rule (a), and do not race with each other.
//! - A block that is given back counts as written; memory that is handed out is new.
//! - Of the accesses that race with a later one, those are told that no other of them covers
//!   ([`frontier`](crate::frontier)).
//!
//! Memory grows with the variables, times the locks that each is accessed under, and with the sections
//! of each lock whose beginning some thread does not have before it yet: in programs whose threads do not
//! communicate that is all of them. (The paper shows that no algorithm in one pass can do with less.)

mod cell;
mod section;

use std::cell::OnceCell;
use std::rc::Rc;

use deadheat_trace::{Event, EventIndex, LockId, Op, Step, Tables, ThreadId};
use smallvec::SmallVec;

use self::cell::Cell;
use self::section::{End, Section, Sections};
use crate::frontier::Past;
use crate::{
    Access, Change, Clock, Detector, HeldLocks, Messages, Race, Races, Shadow, VectorClock,
};

/// The detector. See the [module](self).
#[derive(Default)]
pub struct Wcp {
    messages: Messages<Clocks>,
    held: HeldLocks,
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    cells: Shadow<Cell>,
    racing: Vec<Past>,
}

/// What a thread has before it.
#[derive(Clone, Debug, Default)]
struct Clocks {
    /// What happens before, with the thread's own time. (The paper's H.)
    happens: VectorClock,
    /// What lies before. (The paper's P; the thread's own entry says nothing.)
    lies: VectorClock,
}

impl Clock for Clocks {
    fn start(thread: ThreadId) -> Self {
        Clocks {
            happens: VectorClock::start(thread),
            lies: VectorClock::new(),
        }
    }

    fn join(&mut self, other: &Self) {
        self.happens.join(&other.happens);
        self.lies.join(&other.happens);
    }

    fn copy_from(&mut self, other: &Self) {
        self.happens.copy_from(&other.happens);
        self.lies.copy_from(&other.lies);
    }

    fn advance(&mut self, thread: ThreadId) {
        self.happens.advance(thread);
    }

    fn memory(&self) -> usize {
        self.happens.memory() + self.lies.memory()
    }
}

#[derive(Default)]
struct Thread {
    /// The sections that it is in.
    sections: SmallVec<[(LockId, Rc<Section>); 4]>,
    /// Counts its synchronisations.
    segment: u32,
    ended: bool,
}

#[derive(Default)]
struct Lock {
    sections: Sections,
    /// At the end of the last section for writing.
    written: Clocks,
    /// At the ends of sections for reading.
    read: Clocks,
}

impl Detector for Wcp {
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races) {
        let event = &step.event;
        let (thread, op) = (event.thread(), event.op());
        let sent = self.messages.step(step);
        if self.messages.threads() > self.threads.len() {
            self.threads
                .resize_with(self.messages.threads(), Thread::default);
        }
        match op {
            Op::Read | Op::Write => return self.access(index, event, races),
            Op::Enter | Op::Leave | Op::Branch => return,
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw | Op::ExternalWrite => {
                self.access(index, event, races);
            }
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                self.cells.forget(event.addr(), size, |_| {});
            }
            Op::End => self.threads[thread.index()].ended = true,
            Op::Join => {
                if let Some(ended) = self.threads.get_mut(event.peer().index()) {
                    ended.ended = true;
                }
            }
            _ => match self.held.step(index, event) {
                Change::None => {}
                Change::Taken(held) => self.begin(thread, held.lock, held.shared, tables),
                Change::Given(held) => self.end(thread, held.lock, held.shared),
            },
        }
        if sent {
            self.messages.advance(thread);
        }
        self.threads[thread.index()].segment += 1;
    }

    fn memory(&self) -> usize {
        let locks = self.locks.iter();
        let lock = |lock: &Lock| {
            size_of::<Lock>() + lock.sections.memory() + lock.written.memory() + lock.read.memory()
        };
        self.messages.memory() + self.cells.memory() + locks.map(lock).sum::<usize>()
    }
}

impl Wcp {
    /// Nothing has happened.
    pub fn new() -> Self {
        Self::default()
    }

    fn begin(&mut self, thread: ThreadId, id: LockId, shared: bool, tables: &Tables) {
        let _ = tables;
        if id.index() >= self.locks.len() {
            self.locks.resize_with(id.index() + 1, Lock::default);
        }
        let lock = &mut self.locks[id.index()];
        let clocks = self.messages.clock_mut(thread);
        clocks.happens.join(&lock.written.happens);
        clocks.lies.join(&lock.written.lies);
        if !shared {
            clocks.happens.join(&lock.read.happens);
            clocks.lies.join(&lock.read.lies);
        }
        let section = Rc::new(Section {
            thread,
            begin: clocks.happens.get(thread),
            shared,
            end: OnceCell::new(),
        });
        lock.sections.push(Rc::clone(&section));
        self.threads[thread.index()].sections.push((id, section));
    }

    fn end(&mut self, thread: ThreadId, id: LockId, shared: bool) {
        let sections = &mut self.threads[thread.index()].sections;
        let this =
            |(lock, section): &(LockId, Rc<Section>)| *lock == id && section.shared == shared;
        let Some(at) = sections.iter().rposition(this) else {
            return;
        };
        let (_, section) = sections.remove(at);
        let lock = &mut self.locks[id.index()];
        let clocks = self.messages.clock_mut(thread);
        lock.sections.add_earlier(thread, shared, &mut clocks.lies);
        let end = End {
            time: clocks.happens.get(thread),
            clock: clocks.happens.clone(),
        };
        // The section left the list of those that are open: it had no end.
        let _ = section.end.set(end);
        if shared {
            lock.read.happens.join(&clocks.happens);
            lock.read.lies.join(&clocks.lies);
        } else {
            lock.written.copy_from(clocks);
        }
        self.messages.advance(thread);
        let (messages, threads) = (&self.messages, &self.threads);
        let lock = &mut self.locks[id.index()];
        lock.sections.trim(|whose, time| {
            threads.iter().enumerate().all(|(other, state)| {
                let other = ThreadId(other as u32);
                state.ended || other == whose || messages.clock(other).lies.get(whose) >= time
            })
        });
    }

    #[inline]
    fn access(&mut self, index: EventIndex, event: &Event, races: &mut Races) {
        let state = &self.threads[event.thread().index()];
        let Clocks { happens, lies } = self.messages.clock_mut(event.thread());
        let (segment, time) = (state.segment, happens.get(event.thread()));
        let (access, writes) = (
            Access {
                index,
                event: *event,
            },
            event.op().writes(),
        );
        let racing = &mut self.racing;
        self.cells.access(event.addr(), event.size(), |cell| {
            if cell.frontier.repeats(event, segment) {
                return;
            }
            for (lock, section) in &state.sections {
                cell.use_in(*lock, section, writes, lies);
            }
            let is_before = |thread, time| time <= lies.get(thread);
            let race = |past: &Past| racing.push(*past);
            cell.frontier.add(access, time, segment, is_before, race);
        });
        if !racing.is_empty() {
            // What the access has before it is known only when all its cells were seen.
            racing.retain(|past| past.time > lies.get(past.access.event.thread()));
            racing.sort_unstable_by_key(|past| past.access.index);
            racing.dedup_by_key(|past| past.access.index);
            for past in racing.drain(..) {
                let (first, second) = (past.access, access);
                races.add(Race { first, second });
            }
        }
    }
}
