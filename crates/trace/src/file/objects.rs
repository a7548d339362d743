//! Synchronisation objects: one number for each life of an address.
//!
//! An object lives from its first use to its destruction, or to the release of the heap block
//! that it lies in; the next object at the same address is another one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::hash::FastMap;
use crate::{Addr, Extents, Op, SyncId, SyncKind, SyncObject, Tables};

/// What kind of object an operation is about.
fn kind_of(op: Op) -> SyncKind {
    match op {
        Op::Wait | Op::Wake | Op::WakeRequest | Op::Timeout | Op::Notify | Op::NotifyAll => {
            SyncKind::Condition
        }
        Op::BarrierEnter | Op::BarrierExit => SyncKind::Barrier,
        Op::Post | Op::Take | Op::TakeRefused | Op::TakeRequest => SyncKind::Semaphore,
        Op::Send | Op::Receive | Op::ReceiveRefused => SyncKind::Channel,
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => SyncKind::Futex,
        _ => SyncKind::Lock,
    }
}

/// The kinds that can be initialised and destroyed, as a record numbers them.
const NUMBERED: [SyncKind; 4] = [
    SyncKind::Lock,
    SyncKind::Condition,
    SyncKind::Barrier,
    SyncKind::Semaphore,
];

/// An address and a kind: a futex may lie inside a lock.
type Place = (u64, SyncKind);

/// The objects that are alive.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    alive: FastMap<Place, SyncId>,
    /// The same places in order.
    places: BTreeSet<Place>,
    /// Sizes of heap blocks that are alive.
    blocks: Extents<()>,
    /// How many objects there have been.
    count: u32,
}

impl Objects {
    /// The object that an operation is about.
    #[inline]
    pub fn of(&mut self, op: Op, addr: u64, tables: &mut Arc<Tables>) -> SyncId {
        self.lookup((addr, kind_of(op)), tables)
    }

    #[inline]
    fn lookup(&mut self, place: Place, tables: &mut Arc<Tables>) -> SyncId {
        match self.alive.get(&place) {
            Some(id) => *id,
            None => self.appear(place, tables),
        }
    }

    #[cold]
    fn appear(&mut self, place: Place, tables: &mut Arc<Tables>) -> SyncId {
        let id = SyncId(self.count);
        self.count += 1;
        // Tables that have it already come from a reader that has been here before.
        if tables.syncs.len() <= id.index() {
            Arc::make_mut(tables).syncs.push(SyncObject {
                kind: place.1,
                addr: Addr(place.0),
                name: None,
            });
        }
        self.alive.insert(place, id);
        self.places.insert(place);
        id
    }

    /// A new object; `number` is its kind, as recorded.
    pub fn initialised(&mut self, number: u64, addr: u64, tables: &mut Arc<Tables>) -> SyncId {
        self.forget(addr, 1);
        self.lookup((addr, numbered(number)), tables)
    }

    /// The object that is destroyed.
    pub fn destroyed(&mut self, number: u64, addr: u64, tables: &mut Arc<Tables>) -> SyncId {
        let id = self.lookup((addr, numbered(number)), tables);
        self.forget(addr, 1);
        id
    }

    /// The objects in a part of memory are no more.
    fn forget(&mut self, addr: u64, size: u64) {
        // Locks come first at an address.
        let (start, end) = (
            (addr, SyncKind::Lock),
            (addr.saturating_add(size), SyncKind::Lock),
        );
        while let Some(place) = self.places.range(start..end).next().copied() {
            self.places.remove(&place);
            self.alive.remove(&place);
        }
    }

    /// A heap block was handed out. Whatever lay there is gone, even if nobody saw its release.
    pub fn allocated(&mut self, addr: u64, size: u64) {
        self.forget(addr, size);
        self.blocks.insert(addr, size, ());
    }

    /// A heap block was given back, and with it all objects inside.
    pub fn freed(&mut self, addr: u64) {
        if let Some(block) = self.blocks.remove(addr) {
            self.forget(addr, block.bytes);
        }
    }

    /// How many things it remembers.
    pub fn weight(&self) -> usize {
        self.alive.len() + self.places.len() + self.blocks.len()
    }
}

fn numbered(kind: u64) -> SyncKind {
    let kind = NUMBERED.get(kind as usize);
    kind.copied().unwrap_or(SyncKind::Lock)
}
