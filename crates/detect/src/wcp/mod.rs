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
//! - What happens to the word that a lock is made of is the lock's business, and passed over.
//! - An access is held against all earlier ones that can matter, as `hb` does (see `accesses.rs`).
//!
//! Memory grows with the variables, times the locks that each is accessed under, and with the sections
//! of each lock whose beginning some thread does not have before it yet: in programs whose threads do not
//! communicate that is all of them. (The paper shows that no algorithm in one pass can do with less.)

mod cell;
mod section;

use std::rc::Rc;

use deadheat_trace::{Addr, EventIndex, LockId, Op, Step, Tables, ThreadId};
use smallvec::SmallVec;

use self::cell::Cell;
use self::section::{Section, Sections};
use crate::blocks::{self, Blocks};
use crate::causal::{CausalClocks, LockClocks};
use crate::lock_words::LockWords;
use crate::{Access, Change, Detector, Held, HeldLocks, Messages, Race, Races, Shadow};

/// Races by weak-causally-precedes.
///
/// ```
/// use deadheat_detect::{Detector, Wcp, Races};
/// use deadheat_trace::{EventIndex, text};
///
/// // If B is first to take the lock, nothing keeps the accesses apart.
/// let trace = text::parse("A|w(x)|1\nA|acq(m)|2\nA|rel(m)|3\nB|acq(m)|4\nB|rel(m)|5\nB|r(x)|6\n")?;
/// let (mut detector, mut races) = (Wcp::new(), Races::new());
/// for (index, step) in trace.steps.iter().enumerate() {
///     detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
/// }
/// detector.finish(&trace.tables, &mut races);
/// assert_eq!(races.racy_events(), 1);
/// # Ok::<(), text::ParseError>(())
/// ```
#[derive(Default)]
pub struct Wcp {
    messages: Messages<CausalClocks>,
    held: HeldLocks,
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    words: LockWords,
    cells: Shadow<Cell>,
    blocks: Blocks,
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
    /// The section that excludes others and has not ended.
    open: Option<Rc<Section>>,
    clocks: LockClocks,
}

impl Detector for Wcp {
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races) {
        let event = step.event;
        let (thread, op) = (event.thread(), event.op());
        let sent = self.messages.step(step);
        if self.messages.threads() > self.threads.len() {
            self.threads
                .resize_with(self.messages.threads(), Thread::default);
        }
        let access = Access { index, event };
        match op {
            Op::Read | Op::Write => return self.access(access, races),
            Op::Enter | Op::Leave | Op::Branch | Op::ExternalWrite | Op::Exit => return,
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                if !self.words.has(event.addr()) {
                    self.access(access, races);
                }
            }
            Op::Alloc | Op::Free => self.memory_event(access, step, races),
            Op::End => self.threads[thread.index()].ended = true,
            Op::Join => {
                if let Some(ended) = self.threads.get_mut(event.peer().index()) {
                    ended.ended = true;
                }
            }
            _ => match self.held.step(index, &event) {
                Change::None => {}
                Change::Taken(held) => self.begin(thread, held, tables),
                Change::Given(held) => self.end(thread, held),
            },
        }
        if sent {
            self.messages.advance(thread);
        }
        self.threads[thread.index()].segment += 1;
    }

    fn memory(&self) -> usize {
        let lock = |lock: &Lock| size_of::<Lock>() + lock.sections.memory() + lock.clocks.memory();
        let cells: usize = self.cells.states().map(Cell::memory).sum();
        self.messages.memory()
            + self.locks.iter().map(lock).sum::<usize>()
            + self.cells.memory()
            + cells
            + self.blocks.memory()
    }
}

impl Wcp {
    /// At the start of a trace.
    pub fn new() -> Self {
        Self::default()
    }

    fn begin(&mut self, thread: ThreadId, held: Held, tables: &Tables) {
        if let Some(word) = self.words.add(held.lock, tables) {
            self.messages.ignore_atomics_at(word);
        }
        let (at, shared) = (held.lock.index(), held.shared);
        if at >= self.locks.len() {
            self.locks.resize_with(at + 1, Lock::default);
        }
        let lock = &mut self.locks[at];
        if let Some(left) = lock.open.take() {
            self.messages.follow(thread, left.thread);
            left.close(&self.messages.clock(left.thread).happens);
        }
        let clocks = self.messages.clock_mut(thread);
        lock.clocks.take(shared, clocks);
        let begin = clocks.happens.get(thread);
        let section = Rc::new(Section::new(thread, begin, shared));
        lock.sections.push(Rc::clone(&section));
        lock.open = (!shared).then(|| Rc::clone(&section));
        let sections = &mut self.threads[thread.index()].sections;
        sections.push((held.lock, section));
    }

    fn end(&mut self, thread: ThreadId, held: Held) {
        let Held {
            lock: id, shared, ..
        } = held;
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
        section.close(&clocks.happens);
        lock.clocks.give(shared, clocks);
        if !shared {
            lock.open = None;
        }
        self.messages.advance(thread);
        let (messages, threads) = (&self.messages, &self.threads);
        lock.sections.trim(|whose, time| {
            threads.iter().enumerate().all(|(other, state)| {
                let other = ThreadId(other as u32);
                state.ended || other == whose || messages.clock(other).lies.get(whose) >= time
            })
        });
    }

    #[inline]
    fn access(&mut self, access: Access, races: &mut Races) {
        let event = &access.event;
        let thread = event.thread();
        let (addr, size, writes) = (event.addr(), event.size(), event.op().writes());
        let clocks = self.messages.clock_mut(thread);
        let state = &self.threads[thread.index()];
        if !state.sections.is_empty() {
            // All cells first: what one of them orders, it orders for the whole access.
            self.cells.access(addr, size, |cell| {
                cell.use_in(&state.sections, state.segment, writes, &mut clocks.lies);
            });
        }
        clocks.with_own_time(thread, |clock| {
            self.cells.access(addr, size, |cell| {
                let mut race = |first| {
                    races.add(Race {
                        first,
                        second: access,
                    })
                };
                cell.accesses.add(access, clock, &mut race);
            });
        });
    }

    fn memory_event(&mut self, access: Access, step: &Step, races: &mut Races) {
        match self.blocks.step(step) {
            Some(blocks::Change::New(addr, size)) => {
                self.cells.forget(addr, size, |_| {});
                self.words.forget(addr, size);
            }
            Some(blocks::Change::Gone(addr, size)) => self.give_back(access, addr, size, races),
            None => {}
        }
    }

    fn give_back(&mut self, access: Access, addr: Addr, size: u64, races: &mut Races) {
        let thread = access.event.thread();
        let clocks = self.messages.clock_mut(thread);
        let state = &self.threads[thread.index()];
        self.cells.revisit(addr, size, |cell| {
            cell.use_in(&state.sections, state.segment, true, &mut clocks.lies);
        });
        clocks.with_own_time(thread, |clock| {
            self.cells.revisit(addr, size, |cell| {
                let mut race = |first| {
                    races.add(Race {
                        first,
                        second: access,
                    })
                };
                cell.accesses.add(access, clock, &mut race);
            });
        });
    }
}
