//! Memory through a trace's eyes: the blocks of the heap, and what bytes hold.

use super::shadow::Shadow;
use super::violation::Rule;
use crate::hash::FastMap;
use crate::{Addr, Op, Step};

/// The heap, and in serial traces the contents of memory.
pub(super) struct Memory {
    shadow: Option<Shadow>,
    blocks: FastMap<u64, Block>,
    /// Events are missing: a block may have come from there.
    lost: bool,
}

/// What is known of the last block at an address.
#[derive(Clone, Copy)]
enum Block {
    Live { size: u64 },
    Freed,
}

impl Memory {
    /// With or without its contents.
    pub fn new(contents: bool) -> Self {
        Memory {
            shadow: contents.then(Shadow::new),
            blocks: FastMap::default(),
            lost: false,
        }
    }

    /// The same in about so many bytes; what does not fit is forgotten.
    pub fn within(contents: bool, bytes: usize) -> Self {
        Memory {
            shadow: contents.then(|| Shadow::within(bytes)),
            ..Memory::new(contents)
        }
    }

    /// Whether it is not known if an access reads what was written last, for want of room.
    pub fn is_forgotten(&self, step: &Step) -> bool {
        let event = &step.event;
        let whole = event.size().min(8) as usize;
        self.shadow.as_ref().is_some_and(|shadow| {
            shadow.has_forgotten() && step.read().is_some() && !shadow.knows(event.addr().0, whole)
        })
    }

    /// An access. If it read something else than what was written last: what that was.
    #[inline]
    pub fn access(&mut self, step: &Step) -> Option<u64> {
        let shadow = self.shadow.as_mut()?;
        let event = &step.event;
        let (addr, size) = (event.addr().0, event.size());
        let whole = size.min(8) as usize;
        if whole == 0 {
            return None;
        }
        let mask = u64::MAX >> (64 - 8 * whole);
        let expected = match step.read() {
            Some(value) => shadow.read(addr, whole, value & mask),
            None => None,
        };
        if event.op().writes() {
            match step.written() {
                Some(value) => {
                    shadow.write(addr, whole, value & mask);
                    if size > 8 {
                        shadow.forget(addr + 8, size - 8);
                    }
                }
                None => shadow.forget(addr, size),
            }
        }
        expected
    }

    /// Anything else that concerns memory.
    pub fn event(&mut self, step: &Step) -> Option<Rule> {
        let addr = step.event.addr().0;
        match step.event.op() {
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                self.blocks.insert(addr, Block::Live { size });
                self.forget(addr, size);
                None
            }
            Op::Free => match self.blocks.insert(addr, Block::Freed) {
                Some(Block::Live { size }) => {
                    self.forget(addr, size);
                    None
                }
                Some(Block::Freed) => Some(Rule::DoubleFree(Addr(addr))),
                None if self.lost => None,
                None => Some(Rule::FreeUnknown(Addr(addr))),
            },
            Op::Lost => {
                self.lost = true;
                self.blocks.clear();
                if let Some(shadow) = &mut self.shadow {
                    shadow.clear();
                }
                None
            }
            _ => None,
        }
    }

    fn forget(&mut self, addr: u64, size: u64) {
        if let Some(shadow) = &mut self.shadow {
            shadow.forget(addr, size);
        }
    }
}
