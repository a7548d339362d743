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
//! that races with any earlier one, with the first partner from each place of each thread.
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
//! - What happens to the word that a lock is made of is the lock's business, and passed over.
//! - Memory that other code has changed is read from nowhere.
//! - A block that is given back counts as written; memory that is handed out is new.
//! - Of the accesses of one kind to a cell that some thread does not have in its cut, only the
//!   last [`SyncP::HISTORY`] are kept: older ones are forgotten, and races with them missed.
//!
//! Memory grows with the cells (accesses of each kind, up to the limit), and with the sections whose end
//! some running thread does not have in its cut: if the threads do not read what others wrote, that is all of
//! them, at some 100 bytes and a cut each.

mod cell;
mod cut;
mod numbered;
mod sections;

use std::rc::Rc;

use deadheat_trace::{Addr, EventIndex, Op, Step, Tables, ThreadId};
use smallvec::SmallVec;

use self::cell::{Cell, Present, Scratch, Written};
use self::cut::{Cut, Point};
use self::sections::{Changed, Sections};
use crate::blocks::{self, Blocks};
use crate::lock_words::LockWords;
use crate::{Access, Change, Clock, Detector, Held, HeldLocks, Messages, Race, Races, Shadow};

/// Sync-preserving races.
///
/// ```
/// use deadheat_detect::{Detector, SyncP, Races};
/// use deadheat_trace::{EventIndex, text};
///
/// // If B is first to take the lock, nothing keeps the accesses apart.
/// let trace = text::parse("A|w(x)|1\nA|acq(m)|2\nA|rel(m)|3\nB|acq(m)|4\nB|rel(m)|5\nB|r(x)|6\n")?;
/// let (mut detector, mut races) = (SyncP::new(), Races::new());
/// for (index, step) in trace.steps.iter().enumerate() {
///     detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
/// }
/// detector.finish(&trace.tables, &mut races);
/// assert_eq!(races.racy_events(), 1);
/// # Ok::<(), text::ParseError>(())
/// ```
pub struct SyncP {
    /// The cut of each thread: what its next step needs.
    cuts: Messages<Cut>,
    threads: Vec<Thread>,
    held: HeldLocks,
    sections: Sections,
    cells: Shadow<Cell>,
    blocks: Blocks,
    words: LockWords,
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
const TRIM_EVERY: u64 = if cfg!(test) { 1 } else { 1 << 16 };

impl Default for SyncP {
    fn default() -> Self {
        Self::new()
    }
}

impl SyncP {
    /// How many accesses of each kind a cell remembers.
    pub const HISTORY: u32 = 1000;

    /// At the start of a trace.
    pub fn new() -> Self {
        Self::with_history(Self::HISTORY)
    }

    /// Remembers so many accesses of each kind for a cell, at least one.
    pub fn with_history(limit: u32) -> Self {
        SyncP {
            cuts: Messages::new(),
            threads: Vec::new(),
            held: HeldLocks::default(),
            sections: Sections::default(),
            cells: Shadow::new(),
            blocks: Blocks::default(),
            words: LockWords::default(),
            passed: Cut::default(),
            limit: limit.max(1),
            steps: 0,
            before: Cut::default(),
            changed: Changed::default(),
            scratch: Scratch::default(),
            racing: Vec::new(),
        }
    }

    /// Holds an access against earlier ones, cell by cell: all of its memory, or if `known` is set those
    /// cells that were accessed before.
    fn access(&mut self, access: Access, addr: Addr, size: u64, known: bool, races: &mut Races) {
        let event = &access.event;
        let (thread, reads, writes) = (event.thread(), event.op().reads(), event.op().writes());
        let state = &mut self.threads[thread.index()];
        let cut = self.cuts.clock_mut(thread);
        cut.set(thread, state.point);
        let kept = state.kept.get_or_insert_with(|| Rc::new(cut.clone()));
        let present = Present {
            access,
            point: state.point,
            cut,
            kept,
            sections: &self.sections,
            passed: &self.passed,
            limit: self.limit,
        };
        let (racing, scratch) = (&mut self.racing, &mut self.scratch);
        // What the access reads counts for what comes after it.
        let mut needs: SmallVec<[Written; 1]> = SmallVec::new();
        let visit = |cell: &mut Cell| {
            cell.add(&present, scratch, |first| racing.push(*first));
            if reads
                && let Some(written) = &cell.written
                && present.cut.get(written.thread) < written.point
                && written.thread != thread
            {
                needs.push(written.clone());
            }
            if writes && !reads {
                cell.written = Some(Written::new(thread, present.point, kept));
            }
        };
        match known {
            false => self.cells.access(addr, size, visit),
            true => self.cells.revisit(addr, size, visit),
        }
        for written in needs {
            let changed = &mut self.changed;
            changed.add(cut, &written.cut, written.thread, written.point);
        }
        self.close(thread);
        if reads && writes {
            // Who reads what it wrote needs what it read.
            let state = &mut self.threads[thread.index()];
            let cut = self.cuts.clock(thread);
            let kept = state.kept.get_or_insert_with(|| Rc::new(cut.clone()));
            let written = Written::new(thread, state.point, kept);
            self.cells
                .access(addr, size, |cell| cell.written = Some(written.clone()));
        }
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

    fn synchronise(&mut self, index: EventIndex, step: &Step, tables: &Tables) {
        let thread = step.event.thread();
        match self.held.step(index, &step.event) {
            Change::None => {
                let state = &mut self.threads[thread.index()];
                state.point = state.point.next();
                self.exchange(step);
            }
            Change::Taken(held) => self.begin(thread, held, tables),
            Change::Given(held) => self.end(thread, held),
        }
    }

    fn begin(&mut self, thread: ThreadId, held: Held, tables: &Tables) {
        let Held { lock, shared, .. } = held;
        if let Some(word) = self.words.add(lock, tables) {
            self.cuts.ignore_atomics_at(word);
        }
        let state = &mut self.threads[thread.index()];
        state.point = state.point.next_change();
        let point = state.point;
        // Whoever ended without giving the lock back has nothing more to do.
        if let Some(left) = self.sections.begin(thread, lock, shared, point) {
            let theirs = self.threads[left.index()].point;
            self.cuts.clock_mut(left).set(left, theirs);
            self.cuts.follow(thread, left);
            (0..self.cuts.threads()).for_each(|all| self.changed.mark(ThreadId(all as u32)));
        }
        let cut = self.cuts.clock_mut(thread);
        cut.set(thread, point);
        self.sections.end_open(lock, shared, cut, &mut self.changed);
        self.close(thread);
    }

    fn end(&mut self, thread: ThreadId, held: Held) {
        let state = &mut self.threads[thread.index()];
        state.point = state.point.next_change();
        let cut = self.cuts.clock_mut(thread);
        let kept = state.kept.get_or_insert_with(|| Rc::new(cut.clone()));
        let (lock, shared, kept) = (held.lock, held.shared, Rc::clone(kept));
        self.sections.end(thread, lock, shared, kept, state.point);
    }

    /// Messages are sent and received.
    fn exchange(&mut self, step: &Step) {
        let thread = step.event.thread();
        let state = &self.threads[thread.index()];
        let cut = self.cuts.clock_mut(thread);
        cut.set(thread, state.point);
        self.before.copy_from(cut);
        // What others have done need not end with a message: who joins them, or comes after all, needs it as well.
        match step.event.op() {
            Op::Join => self.reach_end(step.event.peer()),
            Op::Lost => {
                (0..self.threads.len()).for_each(|all| self.reach_end(ThreadId(all as u32)));
            }
            _ => {}
        }
        let _ = self.cuts.step(step);
        if step.event.op() == Op::Lost {
            return self.close_all();
        }
        let cut = self.cuts.clock(thread);
        self.before.add(cut, |more| self.changed.mark(more));
        self.close(thread);
    }

    /// All that a thread has done so far is in its cut.
    fn reach_end(&mut self, thread: ThreadId) {
        if let Some(state) = self.threads.get(thread.index())
            && thread.index() < self.cuts.threads()
        {
            self.cuts.clock_mut(thread).set(thread, state.point);
        }
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

    fn memory_event(&mut self, access: Access, step: &Step, races: &mut Races) {
        match self.blocks.step(step) {
            Some(blocks::Change::New(addr, size)) => {
                self.cells.forget(addr, size, |_| {});
                self.words.forget(addr, size);
            }
            Some(blocks::Change::Gone(addr, size)) => {
                self.access(access, addr, size, true, races);
            }
            None => {}
        }
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
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races) {
        let event = step.event;
        let (thread, op) = (event.thread(), event.op());
        if thread.index() >= self.threads.len()
            || self.threads[thread.index()].point == Point::default()
        {
            self.appear(thread);
        }
        let access = Access { index, event };
        match op {
            Op::Read | Op::Write => {
                self.access(access, event.addr(), event.size(), false, races);
                let state = &mut self.threads[thread.index()];
                state.point = state.point.next();
            }
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                if !self.words.has(event.addr()) {
                    self.access(access, event.addr(), event.size(), false, races);
                }
                self.synchronise(index, step, tables);
            }
            Op::ExternalWrite => {
                let (addr, size) = (event.addr(), event.size());
                self.cells.access(addr, size, |cell| cell.written = None);
            }
            Op::Enter | Op::Leave | Op::Branch | Op::Exit => {}
            Op::Alloc | Op::Free => {
                self.memory_event(access, step, races);
                self.synchronise(index, step, tables);
            }
            _ => self.synchronise(index, step, tables),
        }
        match op {
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
        if self.steps.is_multiple_of(TRIM_EVERY) {
            self.trim();
        }
    }

    fn memory(&self) -> usize {
        let cells: usize = self.cells.states().map(Cell::memory).sum();
        self.cuts.memory()
            + self.sections.memory()
            + self.cells.memory()
            + cells
            + self.blocks.memory()
    }
}
