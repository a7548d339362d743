//! Whose memory is whose: the thread-locality check of the hybrid paper (section 6.3).
//!
//! As long as one thread alone accesses an object, its accesses do not count. An object is a block of
//! the heap while it is alive; of other memory each cell is one.

use deadheat_trace::{Addr, Extents, ThreadId};

/// Whose a cell is; the start of every cell's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody has accessed it.
    #[default]
    Nobody,
    /// This thread's alone.
    Thread(ThreadId),
    /// Its block's.
    Block(u32),
    /// Not one thread's.
    Shared,
}

/// The owners of the heap's blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ownership {
    /// Live blocks, and their numbers.
    blocks: Extents<u32>,
    /// By number: nobody, a thread, or shared.
    owners: Vec<Owner>,
    free: Vec<u32>,
}

impl Ownership {
    /// Whether an access by this thread to a cell at this address counts: the object was another
    /// thread's before, or nobody's alone.
    #[inline]
    pub fn is_shared(&mut self, cell: &mut Owner, addr: Addr, thread: ThreadId) -> bool {
        if *cell == Owner::Nobody
            && let Some(number) = self.block_at(addr)
        {
            *cell = Owner::Block(number);
        }
        let owner = match *cell {
            Owner::Block(number) => &mut self.owners[number as usize],
            _ => &mut *cell,
        };
        match *owner {
            Owner::Nobody => *owner = Owner::Thread(thread),
            Owner::Thread(mine) if mine == thread => {}
            _ => {
                *owner = Owner::Shared;
                *cell = Owner::Shared;
                return true;
            }
        }
        false
    }

    /// A block was handed out. (If nobody saw the release of the one before, cells may still have
    /// its number, which is not used again.)
    pub fn add(&mut self, addr: Addr, size: u64) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.owners.push(Owner::Nobody);
            self.owners.len() as u32 - 1
        });
        self.owners[number as usize] = Owner::Nobody;
        self.blocks.insert(addr.0, size, number);
    }

    /// A block is given back. Its cells must be nobody's or shared from here on: its number is
    /// used again.
    pub fn remove(&mut self, addr: Addr) {
        if let Some(block) = self.blocks.remove(addr.0) {
            self.free.push(block.what);
        }
    }

    fn block_at(&self, addr: Addr) -> Option<u32> {
        Some(self.blocks.around(addr.0)?.what)
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.blocks.memory() + self.owners.capacity() * size_of::<Owner>()
    }
}
