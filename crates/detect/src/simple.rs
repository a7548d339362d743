//! Eraser's condition: the simple mode of the hybrid paper (O'Callahan and Choi, PPoPP 2003, section
//! 6.2), which is almost that of Savage et al. (TOCS 1997).
//!
//! A location is suspicious if it was written, not by one thread alone accessed, and no lock was held at
//! all of its accesses. Accesses count from when a second thread comes to the *object*
//! (section 6.3: the thread-locality check): a heap block, or the cell itself elsewhere. The check can be
//! left out.
//!
//! Deviations: A lock that is held for reading protects reads but no writes (Eraser). All atomic
//! accesses hold one more lock (see `protection.rs`), so atomics among themselves are not suspicious.
//! From the access at which the condition holds, every access to the location is
//! reported, with the last one before it that conflicts with it; there may be none, then it only counts.
//! Memory that is handed out has no history.

use deadheat_trace::{Addr, EventIndex, Op, Step, Tables};

use crate::blocks::{Blocks, Change};
use crate::ownership::{Owner, Ownership};
use crate::protection::Protection;
use crate::{Access, Detector, LocksetId, Locksets, Race, Races, Shadow};

/// The detector.
#[derive(Default)]
pub struct Simple {
    every_access: bool,
    protection: Protection,
    sets: Locksets,
    shadow: Shadow<Cell>,
    blocks: Blocks,
    ownership: Ownership,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    owner: Owner,
    shared: Option<Box<Shared>>,
}

/// What is known of the accesses that count.
#[derive(Clone, Debug)]
struct Shared {
    /// The locks that were held at all of them.
    common: LocksetId,
    /// The last two accesses, and the last two writes, each by different threads.
    accesses: LastTwo,
    writes: LastTwo,
}

#[derive(Clone, Copy, Debug, Default)]
struct LastTwo([Option<Access>; 2]);

impl LastTwo {
    fn add(&mut self, access: Access) {
        let [last, before] = &mut self.0;
        if last.is_some_and(|last| last.event.thread() != access.event.thread()) {
            *before = *last;
        }
        *last = Some(access);
    }

    /// The last one that may race with an access.
    fn conflicting(&self, access: &Access) -> Option<Access> {
        let mut all = self.0.into_iter().flatten();
        all.find(|other| other.event.conflicts_with(&access.event))
    }
}

impl Shared {
    fn add(&mut self, access: Access, common: LocksetId) {
        self.common = common;
        self.accesses.add(access);
        if access.event.op().writes() {
            self.writes.add(access);
        }
    }

    fn is_suspicious(&self) -> bool {
        let [_, second_thread] = self.accesses.0;
        let [write, _] = self.writes.0;
        self.common == LocksetId::EMPTY && second_thread.is_some() && write.is_some()
    }
}

impl Simple {
    /// With the thread-locality check.
    pub fn new() -> Self {
        Self::default()
    }

    /// Without it: every access counts.
    pub fn of_every_access() -> Self {
        Simple {
            every_access: true,
            ..Self::default()
        }
    }

    fn access(&mut self, access: Access, races: &mut Races) {
        let event = &access.event;
        let (thread, op) = (event.thread(), event.op());
        let holds = self.protection.of(thread, op.is_atomic());
        let mut held = None;
        let sets = &mut self.sets;
        let every_access = self.every_access;
        let ownership = &mut self.ownership;
        let addr = event.addr();
        let mut reported = false;
        self.shadow.access(addr, event.size(), |cell| {
            if !every_access && !ownership.is_shared(&mut cell.owner, addr, thread) {
                return;
            }
            let held = *held.get_or_insert_with(|| {
                let protects = holds
                    .iter()
                    .filter(|hold| hold.is_exclusive() || !op.writes());
                let locks: smallvec::SmallVec<[u32; 4]> =
                    protects.map(|hold| hold.lock()).collect();
                sets.intern(&locks)
            });
            let shared = cell.shared.get_or_insert_with(|| {
                Box::new(Shared {
                    common: held,
                    accesses: LastTwo::default(),
                    writes: LastTwo::default(),
                })
            });
            let common = sets.intersection(shared.common, held);
            let write = shared.writes.conflicting(&access);
            let other = write.or_else(|| shared.accesses.conflicting(&access));
            shared.add(access, common);
            if shared.is_suspicious() && !reported {
                reported = true;
                match other {
                    Some(first) => races.add(Race {
                        first,
                        second: access,
                    }),
                    None => races.note(access),
                }
            }
        });
    }

    fn renew(&mut self, addr: Addr, size: u64) {
        self.shadow.forget(addr, size, |_| {});
        self.ownership.add(addr, size);
    }

    fn give_back(&mut self, addr: Addr, size: u64) {
        self.ownership.remove(addr);
        self.shadow
            .revisit(addr, size, |cell| cell.owner = Owner::Shared);
    }
}

impl Detector for Simple {
    #[inline]
    fn step(&mut self, index: EventIndex, step: &Step, _tables: &Tables, races: &mut Races) {
        let event = step.event;
        match event.op() {
            Op::Read | Op::Write | Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                self.access(Access { index, event }, races);
            }
            Op::Alloc | Op::Free => match self.blocks.step(step) {
                Some(Change::New(addr, size)) => self.renew(addr, size),
                Some(Change::Gone(addr, size)) => self.give_back(addr, size),
                None => {}
            },
            _ => {
                self.protection.step(index, step);
            }
        }
    }

    fn memory(&self) -> usize {
        let shared = self.shadow.states().filter(|cell| cell.shared.is_some());
        self.sets.memory()
            + self.shadow.memory()
            + shared.count() * size_of::<Shared>()
            + self.blocks.memory()
            + self.ownership.memory()
    }
}
