//! The heap's blocks that are alive.

use deadheat_trace::{Addr, Extents, Op, Step};

/// What a step does to memory as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These bytes are new.
    New(Addr, u64),
    /// These bytes are given back.
    Gone(Addr, u64),
}

/// Sizes of blocks by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    sizes: Extents<()>,
}

impl Blocks {
    /// What an allocation or release does; nothing if it is none, or of a block that nobody saw.
    pub fn step(&mut self, step: &Step) -> Option<Change> {
        let addr = step.event.addr();
        match step.event.op() {
            Op::Alloc => {
                let size = step.written()?;
                self.sizes.insert(addr.0, size, ());
                Some(Change::New(addr, size))
            }
            Op::Free => {
                let size = self.sizes.remove(addr.0)?.bytes;
                Some(Change::Gone(addr, size))
            }
            _ => None,
        }
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.sizes.memory()
    }
}
