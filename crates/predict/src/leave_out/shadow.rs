//! Who wrote last to memory that is left out, and what that thread had read by then.

use rustc_hash::FxHashMap;

/// Bytes that are told apart: most memory is accessed by so many or more.
const BYTES: u64 = 4;
/// Cells in a page.
const CELLS: usize = 64;
/// More pages are not kept: about 128 MB.
const MOST: usize = 1 << 18;
/// Several threads have written parts of a cell.
const MIXED: u32 = u32::MAX;

/// A write: whose, and the position behind the last read of that thread before it; 0 if there is none.
#[derive(Clone, Copy, Default)]
struct Write {
    thread: u32,
    before: u32,
}

/// The last writes to memory.
#[derive(Default)]
pub struct Shadow {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<[Write; CELLS]>,
    /// Some pages were forgotten.
    has_forgotten: bool,
}

impl Shadow {
    /// A thread writes; it has read something before a position.
    pub fn write(&mut self, (addr, size): (u64, u64), thread: u32, before: u32) {
        let end = addr.saturating_add(size.max(1));
        for cell in addr / BYTES..=(end - 1) / BYTES {
            let is_whole = addr <= cell * BYTES && (cell + 1) * BYTES <= end;
            let Some(known) = self.cell(cell, before > 0) else {
                continue;
            };
            let is_other = known.before > 0 && known.thread != thread;
            *known = match is_other && !is_whole {
                true => Write {
                    thread: MIXED,
                    before: 1,
                },
                false => Write { thread, before },
            };
        }
    }

    /// A thread reads what it wrote itself, if it did: before which position it had read what that may have come from. `now` is the
    /// position behind its last read.
    pub fn read(&mut self, (addr, size): (u64, u64), thread: u32, now: u32) -> u32 {
        let end = addr.saturating_add(size.max(1));
        let (has_forgotten, mut most) = (self.has_forgotten, 0);
        for cell in addr / BYTES..=(end - 1) / BYTES {
            most = most.max(match self.cell(cell, false) {
                None if has_forgotten => now,
                None => 0,
                Some(known) if known.thread == MIXED => now,
                Some(known) if known.thread == thread => known.before,
                Some(_) => 0,
            });
        }
        most
    }

    fn cell(&mut self, cell: u64, make: bool) -> Option<&mut Write> {
        let page = cell / CELLS as u64;
        let number = match self.numbers.get(&page) {
            Some(number) => *number,
            None if !make => return None,
            None => {
                if self.pages.len() >= MOST {
                    self.numbers.clear();
                    self.pages.clear();
                    self.has_forgotten = true;
                }
                // Of a page that may have been forgotten nobody knows who wrote last.
                let unknown = Write {
                    thread: MIXED,
                    before: 1,
                };
                let new = if self.has_forgotten {
                    unknown
                } else {
                    Write::default()
                };
                self.pages.push([new; CELLS]);
                let number = self.pages.len() as u32 - 1;
                self.numbers.insert(page, number);
                number
            }
        };
        Some(&mut self.pages[number as usize][cell as usize % CELLS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_s_own_writes_are_known() {
        let mut shadow = Shadow::default();
        shadow.write((8, 8), 1, 5);
        shadow.write((8, 4), 1, 9);
        assert_eq!(
            [(8, 4), (12, 4), (8, 8)].map(|at| shadow.read(at, 1, 20)),
            [9, 5, 9]
        );
        // What another has written it did not write for anything that it read.
        assert_eq!(shadow.read((8, 8), 2, 20), 0);
        shadow.write((8, 4), 2, 3);
        assert_eq!([1, 2].map(|thread| shadow.read((8, 4), thread, 20)), [0, 3]);
        // Parts by several: all that was read.
        shadow.write((13, 1), 2, 3);
        assert_eq!(
            [1, 2].map(|thread| shadow.read((12, 4), thread, 20)),
            [20, 20]
        );
    }

    #[test]
    fn what_was_forgotten_may_be_anything() {
        let mut shadow = Shadow::default();
        for page in 0..=MOST as u64 {
            shadow.write((page * BYTES * CELLS as u64, 4), 1, 5);
        }
        assert_eq!(
            [shadow.read((0, 4), 1, 20), shadow.read((4, 4), 1, 20)],
            [20, 20]
        );
        shadow.write((0, 4), 1, 7);
        assert_eq!(
            [shadow.read((0, 4), 1, 20), shadow.read((4, 4), 1, 20)],
            [7, 20]
        );
    }
}
