//! Sync-preserving races: those that show up when some events are left out, and the rest keeps its order.
//!
//! Follows Mathur, Pavlogiannis and Viswanathan, *Optimal Prediction of Synchronization-Preserving
//! Races* (POPL 2021). Two accesses race if some reordering of a part of the trace ends just before both, in
//! which threads keep their order, every read sees the write that it saw, and of the sections of a lock that
//! have begun the order is kept. Such a reordering exists if the smallest set of steps that has all before the
//! two accesses has neither of them; where a set must have:
//!
//! - with a step all earlier ones of its thread, and what sent messages to it;
//! - with a read the write that it saw;
//! - with the beginnings of two sections of a lock the end of the earlier one.
//!
//! The set in the order of the trace is the schedule, so every race found is real. Found is every access
//! that races with any earlier one, with the first partner in each thread.
//!
//! How it is done in one pass: what is asked for lies always earlier, so a set is a *cut* ([`cut`]), and what
//! one access asks for its thread's later accesses ask for too. Every thread has the cut that its next step
//! needs by itself. Most pairs are settled by it: either the earlier access is in it, or both
//! accesses hold the same lock. For the others the two accesses' cuts are put together and closed ([`sections`]);
//! what was found for two threads and a cell is kept for their next accesses ([`cell`]).
//!
//! Where this deviates:
//!
//! - The paper keeps a copy of each lock's history for each variable and pair of threads. Here there is
//!   one, and cuts are checked by looking at the sections that are open at their edge.
//! - Sections in which a lock is held for reading exclude those for writing only.
//! - Other synchronisation ([`Messages`]) is never reordered: a receiver needs all senders of the trace. That
//!   is more than it needs, so races are missed but none is wrong. Atomic reads need their write like others.
//! - A block that is given back counts as written; memory that is handed out is new.
//! - Of the accesses of a thread to a cell, in different sections, that some thread has yet to come
//!   after, only the last [`SyncP::HISTORY`] are kept: older ones are forgotten, and races with them missed.
//!
//! Memory grows with the cells (accesses of each thread, up to the limit), and with the sections whose end
//! some running thread does not have in its cut: if the threads do not read what others wrote, that is all of
//! them, at some 100 bytes each.

mod cell;
mod cut;
mod numbered;
mod sections;

use std::rc::Rc;

use deadheat_trace::{Event, EventIndex, Op, Step, Tables, ThreadId};

use self::cell::{Cell, Present, Scratch, Written};
use self::cut::{Cut, Point};
use self::sections::{Changed, Sections};
use crate::{Access, Change, Clock, Detector, HeldLocks, Messages, Race, Races, Shadow};

/// The detector. See the [module](self).
pub struct SyncP {
    /// The cut of each thread: what its next step needs.
    cuts: Messages<Cut>,
    threads: Vec<Thread>,
    held: HeldLocks,
    sections: Sections,
    cells: Shadow<Cell>,
    /// What all running threads have in their cuts.
    passed: Cut,
    limit: u32,
    steps: u64,
    before: Cut,
    changed: Changed,
    scratch: Scratch,
    racing: Vec<Access>,
}

#[derive(Default)]
struct Thread {
    point: Point,
    /// Its cut, to be kept, unless it has changed.
    kept: Option<Rc<Cut>>,
    ended: bool,
}

/// How many steps lie between two looks at what can be forgotten.
const TRIM_EVERY: u64 = 1 << 16;

impl Default for SyncP {
    fn default() -> Self {
        Self::new()
    }
}

impl SyncP {
    /// How many accesses of each thread and kind a cell remembers.
    pub const HISTORY: u32 = 256;

    /// Nothing has happened.
    pub fn new() -> Self {
        Self::with_history(Self::HISTORY)
    }

    /// Remembers so many accesses of each thread and kind for a cell, at least one.
    pub fn with_history(limit: u32) -> Self {
        SyncP {
            cuts: Messages::new(),
            threads: Vec::new(),
            held: HeldLocks::default(),
            sections: Sections::default(),
            cells: Shadow::new(),
            passed: Cut::default(),
            limit: limit.max(1),
            steps: 0,
            before: Cut::default(),
            changed: Changed::default(),
            scratch: Scratch::default(),
            racing: Vec::new(),
        }
    }

    fn access(&mut self, index: EventIndex, event: &Event, races: &mut Races) {
        let thread = event.thread();
        let state = &mut self.threads[thread.index()];
        let cut = self.cuts.clock_mut(thread);
        cut.set(thread, state.point);
        let kept = state.kept.get_or_insert_with(|| Rc::new(cut.clone()));
        let access = Access {
            index,
            event: *event,
        };
        let present = Present {
            access,
            point: state.point,
            cut,
            kept,
            sections: &self.sections,
            passed: &self.passed,
            limit: self.limit,
        };
        let (reads, writes) = (event.op().reads(), event.op().writes());
        let (racing, scratch) = (&mut self.racing, &mut self.scratch);
        let after = state.point.next();
        // What the access reads counts for what comes after it.
        let mut needs: Vec<Written> = Vec::new();
        self.cells.access(event.addr(), event.size(), |cell| {
            cell.find(&present, scratch, |first| racing.push(*first));
            cell.add(&present);
            if reads
                && let Some(written) = &cell.written
                && written.thread != thread
                && present.cut.get(written.thread) < written.point
            {
                needs.push(written.clone());
            }
            if writes {
                cell.written = Some(Written {
                    thread,
                    point: after,
                    cut: Rc::clone(kept),
                });
            }
        });
        for written in needs {
            let Written {
                thread,
                point,
                cut: needed,
            } = written;
            self.changed.add(cut, &needed, thread, point);
        }
        self.close(thread);
        self.report(access, races);
    }

    fn report(&mut self, second: Access, races: &mut Races) {
        if self.racing.is_empty() {
            return;
        }
        self.racing.sort_unstable_by_key(|access| access.index);
        self.racing.dedup_by_key(|access| access.index);
        for first in self.racing.drain(..) {
            races.add(Race { first, second });
        }
    }

    /// A thread's cut has become more.
    fn close(&mut self, thread: ThreadId) {
        if !self.changed.is_empty() {
            let cut = self.cuts.clock_mut(thread);
            self.sections.close(cut, &mut self.changed, None);
            self.threads[thread.index()].kept = None;
        }
    }

    fn synchronise(&mut self, index: EventIndex, step: &Step) {
        let event = &step.event;
        let thread = event.thread();
        let state = &mut self.threads[thread.index()];
        match self.held.step(index, event) {
            Change::None => {
                state.point = state.point.next();
                self.exchange(step);
            }
            Change::Taken(held) => {
                state.point = state.point.next_change();
                let (lock, shared) = (held.lock, held.shared);
                self.sections.begin(thread, lock, shared, state.point);
                let cut = self.cuts.clock_mut(thread);
                cut.set(thread, state.point);
                self.sections.end_open(lock, shared, cut, &mut self.changed);
                self.close(thread);
            }
            Change::Given(held) => {
                state.point = state.point.next_change();
                let cut = self.cuts.clock_mut(thread);
                let kept = state.kept.get_or_insert_with(|| Rc::new(cut.clone()));
                let (lock, shared, kept) = (held.lock, held.shared, Rc::clone(kept));
                self.sections.end(thread, lock, shared, kept, state.point);
            }
        }
    }

    /// Messages are sent and received.
    fn exchange(&mut self, step: &Step) {
        let thread = step.event.thread();
        let state = &self.threads[thread.index()];
        let cut = self.cuts.clock_mut(thread);
        cut.set(thread, state.point);
        self.before.copy_from(cut);
        let _ = self.cuts.step(step);
        if step.event.op() == Op::Lost {
            return self.close_all();
        }
        let cut = self.cuts.clock(thread);
        self.before.add(cut, |more| self.changed.mark(more));
        self.close(thread);
    }

    /// Behind a gap every thread has all that was before.
    fn close_all(&mut self) {
        for thread in 0..self.cuts.threads() {
            for changed in 0..self.cuts.threads() {
                self.changed.mark(ThreadId(changed as u32));
            }
            self.close(ThreadId(thread as u32));
        }
    }

    /// A thread makes its first step. What all others have in their cuts is forgotten, so it
    /// must have it too; it does, unless it came from nowhere.
    #[cold]
    fn appear(&mut self, thread: ThreadId) {
        self.cuts.know(thread);
        self.threads
            .resize_with(self.cuts.threads(), Thread::default);
        let cut = self.cuts.clock_mut(thread);
        cut.add(&self.passed, |more| self.changed.mark(more));
        self.close(thread);
    }

    fn trim(&mut self) {
        for (thread, state) in self.threads.iter().enumerate() {
            let thread = ThreadId(thread as u32);
            let others = (0..self.threads.len())
                .filter(|other| *other != thread.index() && !self.threads[*other].ended);
            let points = others.map(|other| self.cuts.clock(ThreadId(other as u32)).get(thread));
            let passed = points.min().unwrap_or(state.point);
            self.passed.reach(thread, passed);
        }
        self.sections.trim(&self.passed);
    }
}

impl Detector for SyncP {
    fn step(&mut self, index: EventIndex, step: &Step, _: &Tables, races: &mut Races) {
        let event = &step.event;
        let (thread, op) = (event.thread(), event.op());
        if thread.index() >= self.threads.len()
            || self.threads[thread.index()].point == Point::default()
        {
            self.appear(thread);
        }
        if op.is_access() {
            self.access(index, event, races);
        }
        match op {
            Op::Read | Op::Write | Op::ExternalWrite => {
                let state = &mut self.threads[thread.index()];
                state.point = state.point.next();
            }
            Op::Enter | Op::Leave | Op::Branch => {}
            _ => self.synchronise(index, step),
        }
        match op {
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                self.cells.forget(event.addr(), size, |_| {});
            }
            Op::Fork => self
                .threads
                .resize_with(self.cuts.threads(), Thread::default),
            Op::End => self.threads[thread.index()].ended = true,
            Op::Join => {
                if let Some(ended) = self.threads.get_mut(event.peer().index()) {
                    ended.ended = true;
                }
            }
            _ => {}
        }
        self.steps += 1;
        if self.steps % TRIM_EVERY == 0 {
            self.trim();
        }
    }

    fn memory(&self) -> usize {
        self.cuts.memory() + self.sections.memory() + self.cells.memory()
    }
}
