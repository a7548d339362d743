//! Shared objects: maximal runs of bytes that several threads access, at least one of them writing and at least
//! one not atomically.
//!
//! Memory that was released and handed out again is other memory: a byte is known by its address and the *life*
//! of its block. A block's release writes to all of it that was ever accessed.

use std::sync::atomic::{AtomicBool, Ordering};

use std::collections::BTreeMap;

use deadheat_trace::{Event, Op, Step};
use rustc_hash::FxHashMap;

/// The heap while a trace is read: which blocks are alive.
#[derive(Default)]
pub struct Blocks {
    /// By their first byte: where they end, and their lives.
    alive: BTreeMap<u64, (u64, u32)>,
    lives: u32,
}

impl Blocks {
    /// A block is handed out: its life.
    pub fn allocate(&mut self, step: &Step) -> u32 {
        let start = step.event.addr().0;
        let end = start.saturating_add(step.written().unwrap_or(0).max(1));
        let before = self.alive.range(..end).rev();
        let overlapping: Vec<u64> = before
            .take_while(|(_, (last, _))| *last > start)
            .map(|(first, _)| *first)
            .collect();
        for first in overlapping {
            self.alive.remove(&first);
        }
        self.lives += 1;
        self.alive.insert(start, (end, self.lives));
        self.lives
    }

    /// A block is given back: its life, and where it ended.
    pub fn release(&mut self, start: u64) -> Option<(u32, u64)> {
        self.alive.remove(&start).map(|(end, life)| (life, end))
    }

    /// The life of the block that an address lies in; 0 for all that is no block.
    pub fn life(&self, addr: u64) -> u32 {
        let block = self.alive.range(..=addr).next_back();
        let block = block.filter(|(_, (end, _))| addr < *end);
        block.map_or(0, |(_, (_, life))| *life)
    }
}

/// A run of shared bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// The life of its block.
    pub life: u32,
    /// Its first byte.
    pub start: u64,
    /// One past its last.
    pub end: u64,
}

/// The shared objects of a trace, in the order of their lives and addresses.
#[derive(Debug, Default)]
pub struct Objects {
    /// All of them.
    pub all: Vec<Object>,
}

/// What is known of eight bytes.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Who accessed each first, plus one.
    owners: [u32; 8],
    /// One bit for each byte: another thread accessed it, somebody wrote to it, somebody accessed it plainly.
    shared: u8,
    written: u8,
    plain: u8,
}

impl Cell {
    fn access(&mut self, mask: u8, thread: u32, writes: bool, is_plain: bool) {
        for (bit, owner) in self.owners.iter_mut().enumerate() {
            if mask >> bit & 1 == 0 {
                continue;
            }
            match *owner {
                0 => *owner = thread + 1,
                owner if owner != thread + 1 => self.shared |= 1 << bit,
                _ => {}
            }
        }
        if writes {
            self.written |= mask;
        }
        if is_plain {
            self.plain |= mask;
        }
    }
}

/// The bytes of each cell that a range covers.
pub fn cells(start: u64, end: u64) -> impl Iterator<Item = (u64, u8)> {
    (start >> 3..=end.saturating_sub(1).max(start) >> 3).map(move |cell| {
        let from = start.max(cell << 3) - (cell << 3);
        let upto = end.min((cell << 3) + 8) - (cell << 3);
        let mask = (1u16 << upto) - (1u16 << from);
        (cell, mask as u8)
    })
}

/// Steps between two looks at whether to stop.
pub const PART: usize = 1 << 14;

impl Objects {
    /// The shared objects of a trace, as far as it was read when `stop` became true. `is_judged` says which accesses count.
    pub fn of(steps: &[Step], is_judged: impl Fn(&Event) -> bool, stop: &AtomicBool) -> Self {
        let mut blocks = Blocks::default();
        let mut memory: FxHashMap<(u32, u64), Cell> = FxHashMap::default();
        // The cells of each living block that were accessed.
        let mut touched: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        let parts = steps.chunks(PART);
        let parts = parts.take_while(|_| !stop.load(Ordering::Relaxed));
        for step in parts.flatten() {
            let event = &step.event;
            let (op, thread) = (event.op(), event.thread().0);
            match op {
                Op::Alloc => {
                    blocks.allocate(step);
                }
                Op::Free => {
                    let Some((life, _)) = blocks.release(event.addr().0) else {
                        continue;
                    };
                    for cell in touched.remove(&life).unwrap_or_default() {
                        if let Some(cell) = memory.get_mut(&(life, cell))
                            && is_judged(event)
                        {
                            let known = cell.owners.iter().enumerate();
                            let known = known.filter(|(_, owner)| **owner != 0);
                            let mask = known.fold(0, |mask, (bit, _)| mask | 1 << bit);
                            cell.access(mask, thread, true, true);
                        }
                    }
                }
                _ if is_access(op) && is_judged(event) => {
                    let start = event.addr().0;
                    let life = blocks.life(start);
                    for (cell, mask) in cells(start, start + event.size()) {
                        let known = memory.entry((life, cell)).or_insert_with(|| {
                            if life != 0 {
                                touched.entry(life).or_default().push(cell);
                            }
                            Cell::default()
                        });
                        known.access(mask, thread, op.writes(), !op.is_atomic());
                    }
                }
                _ => {}
            }
        }
        Self::runs(&memory)
    }

    fn runs(memory: &FxHashMap<(u32, u64), Cell>) -> Self {
        let of_interest = |cell: &Cell| cell.shared & cell.written & cell.plain;
        let shared = memory.iter().map(|(at, cell)| (*at, of_interest(cell)));
        let mut shared: Vec<((u32, u64), u8)> = shared.filter(|(_, mask)| *mask != 0).collect();
        shared.sort_unstable();
        let mut all: Vec<Object> = Vec::new();
        for ((life, cell), mask) in shared {
            for bit in (0..8).filter(|bit| mask >> bit & 1 == 1) {
                let byte = (cell << 3) + bit;
                match all.last_mut() {
                    Some(last) if last.life == life && last.end == byte => last.end += 1,
                    _ => all.push(Object {
                        life,
                        start: byte,
                        end: byte + 1,
                    }),
                }
            }
        }
        Objects { all }
    }

    /// The objects that a range of bytes of a life touches.
    pub fn touched(&self, life: u32, start: u64, end: u64) -> impl Iterator<Item = (u32, Object)> {
        let first = self
            .all
            .partition_point(|object| (object.life, object.end) <= (life, start));
        let from = self.all[first..].iter().enumerate();
        from.take_while(move |(_, object)| object.life == life && object.start < end)
            .map(move |(at, object)| ((first + at) as u32, *object))
    }
}

/// Whether an operation accesses memory for the program. What code without hooks changed is known by its values
/// only, which count for nothing here.
pub fn is_access(op: Op) -> bool {
    op.is_access() && op != Op::ExternalWrite
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn objects(trace: &str) -> Vec<(u64, u64)> {
        let steps = text::parse(trace).unwrap().steps;
        let base = steps[0].event.addr().0;
        let found = Objects::of(&steps, |_| true, &AtomicBool::new(false)).all;
        found
            .iter()
            .map(|object| (object.start - base, object.end - base))
            .collect()
    }

    #[test]
    fn runs_are_as_long_as_they_can_be_and_no_longer() {
        // T0 writes eight bytes, T1 reads the middle four of them.
        assert_eq!(objects("T0|w(x:8)|1\nT1|r(x+2:4)|2\n"), [(2, 6)]);
        // Two neighbours make one.
        assert_eq!(
            objects("T0|w(x:8)|1\nT1|r(x:4)|2\nT1|r(x+4:4)|3\n"),
            [(0, 8)]
        );
    }

    #[test]
    fn what_nobody_writes_or_nobody_shares_is_none() {
        assert_eq!(objects("T0|r(x:8)|1\nT1|r(x:8)|2\n"), []);
        assert_eq!(objects("T0|w(x:8)|1\nT0|r(x:8)|2\n"), []);
        assert_eq!(objects("T0|w(x:4)|1\nT1|w(x+4:4)|2\n"), []);
    }
}
