//! The critical sections of a window, and the relation that they make.

use std::collections::VecDeque;
use std::rc::Rc;

use deadheat_trace::{LockId, ThreadId};
use rustc_hash::FxHashMap;

use super::window::{Moment, What};
use crate::causal::{CausalClocks, LockClocks};
use crate::{Held, VectorClock};

/// An access in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    section: usize,
    writes: bool,
}

/// A critical section, as far as it lies in the window.
struct Section {
    thread: ThreadId,
    lock: LockId,
    shared: bool,
    /// Its thread's time where it, or the window, begins.
    begin: u32,
    /// At its end.
    end: Option<Rc<CausalClocks>>,
    /// Sections of the same lock whose ends lie before its beginning.
    after: Vec<usize>,
}

/// All sections of a window.
#[derive(Default)]
pub(super) struct Sections {
    all: Vec<Section>,
    /// The section that begins or ends at a step.
    pub at: FxHashMap<usize, usize>,
    /// In the order in which they began.
    of_lock: FxHashMap<LockId, Vec<usize>>,
    /// The last step of each thread.
    pub last: FxHashMap<ThreadId, usize>,
    /// Those that each thread is in.
    open: FxHashMap<ThreadId, Vec<usize>>,
}

impl Sections {
    /// One begins; its number.
    pub fn begin(&mut self, moment: &Moment, lock: LockId, shared: bool) -> usize {
        let number = self.all.len();
        self.of_lock.entry(lock).or_default().push(number);
        self.open.entry(moment.thread).or_default().push(number);
        self.all.push(Section {
            thread: moment.thread,
            lock,
            shared,
            begin: moment.clocks.happens.get(moment.thread),
            end: None,
            after: Vec::new(),
        });
        number
    }

    /// One ends; its number.
    pub fn end(&mut self, moment: &Moment, held: Held) -> Option<usize> {
        let open = self.open.get_mut(&moment.thread)?;
        let this = |number: &usize| {
            let section = &self.all[*number];
            section.lock == held.lock && section.shared == held.shared
        };
        let number = open.remove(open.iter().rposition(this)?);
        self.all[number].end = Some(Rc::clone(&moment.clocks));
        Some(number)
    }

    /// An access of a thread to a cell that had these uses (rule a).
    pub fn add_use(&mut self, thread: ThreadId, writes: bool, uses: &mut Vec<Use>) {
        let Some(open) = self.open.get(&thread) else {
            return;
        };
        for &number in open {
            for earlier in uses.iter() {
                if (writes || earlier.writes) && excludes(&self.all, earlier.section, number) {
                    add_once(&mut self.all[number].after, earlier.section);
                }
            }
        }
        for &section in open {
            add_once(uses, Use { section, writes });
        }
    }

    /// Goes through the window once and adds what is found by rule (b); whether that was anything.
    pub fn add_by_order(&mut self, moments: &VecDeque<Moment>) -> bool {
        let mut found: Vec<(usize, usize)> = Vec::new();
        self.follow(moments, |at, moment, lies| {
            if let What::Given(_) = moment.what
                && let Some(&number) = self.at.get(&at)
            {
                self.find_before(number, lies, &mut found);
            }
            if self.last.get(&moment.thread) == Some(&at) {
                for &number in self.open.get(&moment.thread).into_iter().flatten() {
                    self.find_before(number, lies, &mut found);
                }
            }
        });
        for (earlier, number) in &found {
            self.all[*number].after.push(*earlier);
        }
        !found.is_empty()
    }

    /// Finds the sections before a section that has come to its end, or to the window's, in which
    /// something lies before something in it.
    fn find_before(&self, number: usize, lies: &VectorClock, found: &mut Vec<(usize, usize)>) {
        let section = &self.all[number];
        let earlier = self.of_lock[&section.lock].iter();
        for &earlier in earlier.take_while(|earlier| **earlier < number) {
            let first = &self.all[earlier];
            if first.begin <= lies.get(first.thread)
                && excludes(&self.all, earlier, number)
                && !section.after.contains(&earlier)
            {
                found.push((earlier, number));
            }
        }
    }

    /// Calls `visit` for each step with what lies before it, as far as it is known, and its thread's
    /// own time.
    pub fn follow(
        &self,
        moments: &VecDeque<Moment>,
        mut visit: impl FnMut(usize, &Moment, &VectorClock),
    ) {
        let mut threads: FxHashMap<ThreadId, (CausalClocks, Rc<CausalClocks>)> =
            FxHashMap::default();
        let mut locks: FxHashMap<LockId, LockClocks> = FxHashMap::default();
        for (at, moment) in moments.iter().enumerate() {
            let (clocks, last) = threads.entry(moment.thread).or_insert_with(|| {
                let clocks = CausalClocks::clone(&moment.clocks);
                (clocks, Rc::clone(&moment.clocks))
            });
            if !Rc::ptr_eq(last, &moment.clocks) {
                *last = Rc::clone(&moment.clocks);
                clocks.happens.copy_from(&last.happens);
                clocks.lies.join(&last.lies);
            }
            if let What::Taken(held) = moment.what {
                if let Some(lock) = locks.get(&held.lock) {
                    lock.take(held.shared, clocks);
                }
                for &earlier in self
                    .at
                    .get(&at)
                    .map_or(&[][..], |number| &self.all[*number].after)
                {
                    if let Some(end) = &self.all[earlier].end {
                        clocks.lies.join(&end.happens);
                    }
                }
            }
            clocks.with_own_time(moment.thread, |lies| visit(at, moment, lies));
            if let What::Given(held) = moment.what {
                locks
                    .entry(held.lock)
                    .or_default()
                    .give(held.shared, clocks);
            }
        }
    }
}

/// Whether two sections are of the same lock, of different threads, and not both for reading.
fn excludes(all: &[Section], one: usize, other: usize) -> bool {
    let (one, other) = (&all[one], &all[other]);
    one.lock == other.lock && one.thread != other.thread && !(one.shared && other.shared)
}

fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
