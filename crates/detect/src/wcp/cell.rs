//! What is remembered about a cell of memory.

use std::rc::Rc;

use deadheat_trace::{LockId, ThreadId};

use super::section::Section;
use crate::VectorClock;
use crate::accesses::Accesses;

/// The state of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The accesses that may race with later ones.
    pub accesses: Accesses,
    /// The last use, which need not be looked at again: thread, its segment, and whether it wrote.
    last: (ThreadId, u32, bool),
    /// The locks that it was accessed under, sorted; each with the place of its uses.
    locks: Vec<(LockId, u32)>,
    uses: Vec<Uses>,
    /// Where the lock was that was looked for last.
    hint: u32,
}

/// The sections of one lock in which the cell was accessed, as far as they matter: the last ones.
#[derive(Clone, Debug, Default)]
struct Uses {
    reads: Last,
    writes: Last,
    /// In sections for reading, the last of each thread; and whether it wrote.
    shared: Option<Box<Shared>>,
}

type Shared = Vec<(Rc<Section>, bool)>;

/// The last two exclusive sections of different threads, the newest first.
#[derive(Clone, Debug, Default)]
struct Last([Option<Rc<Section>>; 2]);

impl Last {
    fn of_another(&self, thread: ThreadId) -> Option<&Rc<Section>> {
        let mut last = self.0.iter().flatten();
        last.find(|section| section.thread != thread)
    }

    fn push(&mut self, section: &Rc<Section>) {
        let [newest, older] = &mut self.0;
        if newest
            .as_ref()
            .is_none_or(|newest| newest.thread != section.thread)
        {
            *older = newest.take();
        }
        if newest
            .as_ref()
            .is_none_or(|newest| !Rc::ptr_eq(newest, section))
        {
            *newest = Some(Rc::clone(section));
        }
    }
}

impl Cell {
    /// The cell is accessed in some sections. The ends of earlier sections of these locks with an access
    /// that conflicts lie before (rule a of the paper).
    #[inline]
    pub fn use_in(
        &mut self,
        sections: &[(LockId, Rc<Section>)],
        segment: u32,
        writes: bool,
        before: &mut VectorClock,
    ) {
        let Some((_, first)) = sections.first() else {
            return;
        };
        // No section is open in a thread's first segment: the default stands for no use.
        let this = (first.thread, segment, writes);
        if self.last != this {
            self.last = this;
            for (lock, section) in sections {
                self.use_of(*lock, section, writes, before);
            }
        }
    }

    fn use_of(
        &mut self,
        lock: LockId,
        section: &Rc<Section>,
        writes: bool,
        before: &mut VectorClock,
    ) {
        let uses = self.uses_of(lock);
        if let Some(earlier) = uses.writes.of_another(section.thread) {
            earlier.add_end_to(before);
        }
        if writes && let Some(earlier) = uses.reads.of_another(section.thread) {
            earlier.add_end_to(before);
        }
        if !section.shared {
            for (earlier, wrote) in uses.shared.iter().flat_map(|shared| shared.iter()) {
                if earlier.thread != section.thread && (writes || *wrote) {
                    earlier.add_end_to(before);
                }
            }
        }
        match (section.shared, writes) {
            (false, true) => uses.writes.push(section),
            (false, false) => uses.reads.push(section),
            (true, _) => {
                let same = |(last, wrote): &(Rc<Section>, bool)| {
                    last.thread == section.thread && *wrote == writes
                };
                let shared = uses.shared.get_or_insert_default();
                shared.retain(|last| !same(last));
                shared.push((Rc::clone(section), writes));
            }
        }
    }

    /// How many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        self.locks.capacity() * size_of::<(LockId, u32)>()
            + self.uses.capacity() * size_of::<Uses>()
    }

    #[inline]
    fn uses_of(&mut self, lock: LockId) -> &mut Uses {
        let hinted = self.locks.get(self.hint as usize);
        if hinted.is_none_or(|(there, _)| *there != lock) {
            let found = self.locks.binary_search_by_key(&lock, |(there, _)| *there);
            let at = found.unwrap_or_else(|at| {
                self.locks.insert(at, (lock, self.uses.len() as u32));
                self.uses.push(Uses::default());
                at
            });
            self.hint = at as u32;
        }
        let (_, place) = self.locks[self.hint as usize];
        &mut self.uses[place as usize]
    }
}
