//! Where the named variables of text traces lie: a cell of synthetic memory each.
//!
//! Programs' addresses end at 2^47, events have room for 48 bits. The half that no program uses
//! holds the cells: 64 regions of 2^41 bytes, one per power of two, so that an address alone says
//! which cell it lies in. Cells never overlap, are aligned to their own size, and the smallest
//! (8 bytes) lie densely, which keeps shadow memory over them small.

use crate::Addr;

/// One past the highest address of a program; the cells lie above it.
pub(crate) const PROGRAM_END: u64 = 1 << 47;
/// The size of a cell unless more is asked for.
pub(crate) const SMALLEST: u64 = 1 << SMALLEST_CLASS;
/// The size of the largest cell.
pub(crate) const LARGEST: u64 = 1 << LARGEST_CLASS;

const REGION_BITS: u32 = 41;
const SMALLEST_CLASS: u32 = 3;
const LARGEST_CLASS: u32 = 40;

/// A cell: its first address and its size, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub base: Addr,
    pub size: u64,
}

impl Cell {
    /// The cell that an address lies in; `None` for addresses of programs.
    pub fn of(addr: Addr) -> Option<Cell> {
        let class = (addr.0.checked_sub(PROGRAM_END)? >> REGION_BITS) as u32;
        (SMALLEST_CLASS..=LARGEST_CLASS)
            .contains(&class)
            .then(|| Cell {
                base: Addr(addr.0 & !((1 << class) - 1)),
                size: 1 << class,
            })
    }

    /// The size of the smallest cell that holds this many bytes; `None` if there is none.
    pub fn size_for(bytes: u64) -> Option<u64> {
        (bytes <= LARGEST).then(|| bytes.next_power_of_two().max(SMALLEST))
    }

    /// The `index`-th cell of this size, which is one from [`Cell::size_for`]; `None` if its
    /// region is full.
    fn nth(size: u64, index: u64) -> Option<Cell> {
        let class = size.trailing_zeros();
        let start = PROGRAM_END + (u64::from(class) << REGION_BITS);
        (index < 1 << (REGION_BITS - class)).then(|| Cell {
            base: Addr(start + index * size),
            size,
        })
    }

    /// How many cells of the same size lie before it.
    pub fn index(self) -> u64 {
        (self.base.0 & ((1 << REGION_BITS) - 1)) >> self.class()
    }

    fn class(self) -> u32 {
        self.size.trailing_zeros()
    }
}

/// How many cells of each size have been handed out.
pub(crate) struct Allotment {
    counts: [u64; LARGEST_CLASS as usize + 1],
}

impl Default for Allotment {
    fn default() -> Self {
        let counts = [0; LARGEST_CLASS as usize + 1];
        Allotment { counts }
    }
}

impl Allotment {
    /// The next cell of this size, which is one from [`Cell::size_for`]; `None` if there is none.
    pub fn next(&self, size: u64) -> Option<Cell> {
        Cell::nth(size, self.counts[size.trailing_zeros() as usize])
    }

    /// Hands out all cells of its size up to this one.
    pub fn advance_past(&mut self, cell: Cell) {
        self.counts[cell.class() as usize] = cell.index() + 1;
    }

    /// Whether a cell has been handed out.
    pub fn has(&self, cell: Cell) -> bool {
        cell.index() < self.counts[cell.class() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_its_cell() {
        for bytes in [1, 8, 9, 64, 65, 4096, LARGEST] {
            let size = Cell::size_for(bytes).unwrap();
            assert!(size >= bytes && size >= SMALLEST);
            for index in [0, 1] {
                let cell = Cell::nth(size, index).unwrap();
                assert_eq!(cell.index(), index);
                assert_eq!(Cell::of(cell.base), Some(cell));
                assert_eq!(Cell::of(Addr(cell.base.0 + size - 1)), Some(cell));
                assert!(cell.base.0 + size <= 1 << 48);
            }
        }
        assert_eq!(Cell::size_for(LARGEST + 1), None);
        assert_eq!(Cell::nth(LARGEST, 2), None);
        assert_eq!(Cell::of(Addr(PROGRAM_END - 1)), None);
        assert_eq!(Cell::of(Addr(PROGRAM_END)), None);
    }
}
