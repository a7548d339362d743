//! Follows a trace to know how things stand where a window begins.

use deadheat_trace::{Extents, LockId, Op, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::Contents;
use crate::{Block, Border, Hold, Holding};

/// How things stand behind the steps so far.
#[derive(Clone, Default)]
pub struct Standing {
    held: FxHashMap<(ThreadId, LockId), (Hold, u32)>,
    memory: Contents,
    blocks: Extents<()>,
}

impl Standing {
    /// At the beginning of a trace. What memory holds may take about so many bytes.
    pub fn within(bytes: usize) -> Self {
        Standing {
            memory: Contents::within(bytes / 2),
            ..Standing::default()
        }
    }

    /// How much of what memory holds was forgotten, in bytes: it does not count as known.
    pub fn forgotten(&self) -> u64 {
        self.memory.forgotten() * Contents::PAGE
    }

    /// Goes one step on.
    pub fn step(&mut self, step: &Step) {
        let event = &step.event;
        match event.op() {
            Op::Acquire => self.acquire(step, Hold::Write),
            Op::ReadAcquire => self.acquire(step, Hold::Read),
            Op::Release | Op::ReadRelease => self.release(step),
            Op::Alloc => {
                let (start, bytes) = (event.addr().0, step.written().unwrap_or(0).max(1));
                self.blocks
                    .remove_within(start, start.saturating_add(bytes));
                self.blocks.insert(start, bytes, ());
                // What a block before has left there is other memory.
                self.memory.forget(start, bytes);
            }
            Op::Free => {
                self.blocks.remove(event.addr().0);
            }
            // Anything may have happened.
            Op::Lost => {
                self.held.clear();
                self.memory.clear();
                self.blocks.clear();
            }
            op if op.writes() => self.know(step, step.written()),
            op if op.reads() => self.know(step, step.read()),
            _ => {}
        }
    }

    fn acquire(&mut self, step: &Step, hold: Hold) {
        let key = (step.event.thread(), step.event.lock());
        self.held.entry(key).or_insert((hold, 0)).1 += 1;
    }

    fn release(&mut self, step: &Step) {
        let key = (step.event.thread(), step.event.lock());
        if let Some((_, times)) = self.held.get_mut(&key) {
            *times -= 1;
            if *times == 0 {
                self.held.remove(&key);
            }
        }
    }

    /// An access tells what memory holds.
    fn know(&mut self, step: &Step, value: Option<u64>) {
        let (addr, size) = (step.event.addr().0, step.event.size());
        let value = value.filter(|_| size <= 8);
        if value.is_none() && step.event.op().reads() && !step.event.op().writes() {
            return;
        }
        let mut at = addr;
        while at < addr + size {
            let next = ((at | 7) + 1).min(addr + size);
            let shift = at & 7;
            let mask = ((1u32 << (next - at)) - 1) << shift;
            self.memory.change(at >> 3, |content| {
                content.known &= !(mask as u8);
                if let Some(value) = value {
                    let bits = (0..8).filter(|byte| mask >> byte & 1 != 0);
                    let bits = bits.fold(0, |bits, byte| bits | 0xFF << (8 * byte));
                    content.bytes =
                        content.bytes & !bits | (value >> (8 * (at - addr)) << (8 * shift)) & bits;
                    content.known |= mask as u8;
                }
            });
            at = next;
        }
    }

    /// The locks that are known to be held here: by whom, how, how many times.
    pub fn held(&self) -> impl Iterator<Item = (ThreadId, LockId, Hold, u32)> + '_ {
        let held = self.held.iter();
        held.map(|((thread, lock), (hold, times))| (*thread, *lock, *hold, *times))
    }

    /// The length of the block that begins at an address here.
    pub fn block(&self, start: u64) -> Option<u64> {
        Some(self.blocks.get(start)?.bytes)
    }

    /// The locks that are held here: those that are known to be, and those that are given back without
    /// having been taken.
    fn held_before(&self, window: &[Step]) -> FxHashMap<(ThreadId, LockId), (Hold, u32)> {
        let mut held = self.held.clone();
        let mut now: FxHashMap<(ThreadId, LockId), u32> = held
            .iter()
            .map(|(key, (_, times))| (*key, *times))
            .collect();
        for step in window {
            let (op, key) = (step.event.op(), (step.event.thread(), step.event.lock()));
            match op {
                Op::Acquire | Op::ReadAcquire => *now.entry(key).or_default() += 1,
                Op::Release | Op::ReadRelease => {
                    let times = now.entry(key).or_default();
                    if *times == 0 {
                        let hold = if op == Op::Release {
                            Hold::Write
                        } else {
                            Hold::Read
                        };
                        held.entry(key).or_insert((hold, 0)).1 += 1;
                    }
                    *times = times.saturating_sub(1);
                }
                _ => {}
            }
        }
        held
    }

    /// What a window that begins here needs to know.
    pub fn border(&self, window: &[Step]) -> Border {
        let held = self.held_before(window);
        let mut held: Vec<Holding> = held
            .iter()
            .map(|((thread, lock), (hold, times))| Holding {
                thread: *thread,
                lock: *lock,
                hold: *hold,
                times: *times,
            })
            .collect();
        held.sort_unstable_by_key(|holding| (holding.thread, holding.lock));
        let mut border = Border {
            held,
            ..Border::default()
        };
        let mut blocks = FxHashSet::default();
        for step in window {
            let (addr, op) = (step.event.addr().0, step.event.op());
            if !op.is_access() && op != Op::Free {
                continue;
            }
            let block = self.blocks.around(addr);
            blocks.extend(block.map(|block| (block.start, block.bytes)));
            if op.is_access() {
                for cell in addr >> 3..=(addr + step.event.size().max(1) - 1) >> 3 {
                    if let Some(content) = self.memory.get(cell) {
                        border.memory.insert(cell, content);
                    }
                }
            }
        }
        let blocks = blocks.into_iter().map(|(start, bytes)| Block {
            start: deadheat_trace::Addr(start),
            bytes,
        });
        border.blocks = blocks.collect();
        border.blocks.sort_unstable_by_key(|block| block.start);
        border
    }
}
