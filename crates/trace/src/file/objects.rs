//! Synchronisation objects: one number for each life of an address.
//!
//! An object lives from its first use to its destruction, or to the release of the heap block
//! that it lies in; the next object at the same address is another one.

use std::collections::BTreeMap;

use crate::hash::FastMap;
use crate::{Addr, Op, SyncId, SyncKind, SyncObject, Tables};

/// What kind of object an operation is about.
fn kind_of(op: Op) -> SyncKind {
    match op {
        Op::Wait | Op::Wake | Op::Timeout | Op::Notify | Op::NotifyAll => SyncKind::Condition,
        Op::BarrierEnter | Op::BarrierExit => SyncKind::Barrier,
        Op::Post | Op::Take => SyncKind::Semaphore,
        Op::Send | Op::Receive => SyncKind::Channel,
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => SyncKind::Futex,
        _ => SyncKind::Lock,
    }
}

/// The kinds that can be initialised and destroyed, as a record numbers them.
const NUMBERED: [SyncKind; 4] =
    [SyncKind::Lock, SyncKind::Condition, SyncKind::Barrier, SyncKind::Semaphore];

/// The objects that are alive.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// At each address, by kind: a futex may lie inside a lock.
    alive: BTreeMap<u64, Vec<(SyncKind, SyncId)>>,
    /// The same, found at once.
    recent: FastMap<(u64, SyncKind), SyncId>,
    /// Sizes of heap blocks that are alive.
    blocks: FastMap<u64, u64>,
}

impl Objects {
    /// The object that an operation is about.
    pub fn of(&mut self, op: Op, addr: u64, tables: &mut Tables) -> SyncId {
        self.lookup(kind_of(op), addr, tables)
    }

    fn lookup(&mut self, kind: SyncKind, addr: u64, tables: &mut Tables) -> SyncId {
        if let Some(id) = self.recent.get(&(addr, kind)) {
            return *id;
        }
        let here = self.alive.entry(addr).or_default();
        let id = match here.iter().find(|(known, _)| *known == kind) {
            Some((_, id)) => *id,
            None => {
                let id = SyncId(tables.syncs.len() as u32);
                tables.syncs.push(SyncObject { kind, addr: Addr(addr), name: None });
                here.push((kind, id));
                id
            }
        };
        self.recent.insert((addr, kind), id);
        id
    }

    /// A new object; `number` is its kind, as recorded.
    pub fn initialised(&mut self, number: u64, addr: u64, tables: &mut Tables) -> SyncId {
        self.forget(addr);
        let kind = NUMBERED.get(number as usize).copied().unwrap_or(SyncKind::Lock);
        self.lookup(kind, addr, tables)
    }

    /// The object that is destroyed.
    pub fn destroyed(&mut self, number: u64, addr: u64, tables: &mut Tables) -> SyncId {
        let kind = NUMBERED.get(number as usize).copied().unwrap_or(SyncKind::Lock);
        let id = self.lookup(kind, addr, tables);
        self.forget(addr);
        id
    }

    fn forget(&mut self, addr: u64) {
        for (kind, _) in self.alive.remove(&addr).unwrap_or_default() {
            self.recent.remove(&(addr, kind));
        }
    }

    /// A heap block was handed out.
    pub fn allocated(&mut self, addr: u64, size: u64) {
        self.blocks.insert(addr, size);
    }

    /// A heap block was given back, and with it all objects inside.
    pub fn freed(&mut self, addr: u64) {
        let Some(size) = self.blocks.remove(&addr) else { return };
        let inside: Vec<u64> =
            self.alive.range(addr..addr.saturating_add(size)).map(|(addr, _)| *addr).collect();
        for addr in inside {
            self.forget(addr);
        }
    }
}
