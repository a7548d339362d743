//! What a detector remembers about memory: one state per cell.
//!
//! A *cell* is a run of bytes inside an aligned word of eight that were always accessed together so
//! far. When an access meets a part of a cell, the cell is split and its state goes to both parts: the
//! states are the same as if every byte had its own. Memory that was never accessed has no cells.

use deadheat_trace::Addr;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const WORDS: usize = 512;
const PAGE_SHIFT: u32 = 12;
const NONE: u32 = u32::MAX;
const RECENT: usize = 256;

/// States of cells of type `T`, by address.
#[derive(Debug)]
pub struct Shadow<T> {
    pages: FxHashMap<u64, u32>,
    /// The first cell of each word.
    words: Vec<[u32; WORDS]>,
    cells: Vec<Cell<T>>,
    free: u32,
    /// Pages that were accessed lately, by the low bits of their numbers.
    recent: Vec<(u64, u32)>,
}

#[derive(Debug)]
struct Cell<T> {
    mask: u8,
    /// The next cell of the same word, or the next free one.
    next: u32,
    state: T,
}

impl<T: Default + Clone> Default for Shadow<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default + Clone> Shadow<T> {
    /// No memory was accessed yet.
    pub fn new() -> Self {
        Shadow {
            pages: FxHashMap::default(),
            words: Vec::new(),
            cells: Vec::new(),
            free: NONE,
            recent: vec![(u64::MAX, NONE); RECENT],
        }
    }

    /// Calls `visit` for the state of every cell of `size` bytes at `addr`; cells are made and split so
    /// that they cover exactly these bytes.
    #[inline]
    pub fn access(&mut self, addr: Addr, size: u64, mut visit: impl FnMut(&mut T)) {
        let (mut at, end) = (addr.0, addr.0.saturating_add(size));
        while at < end {
            let word = at & !7;
            let here = end.min(word + 8);
            let mask = mask_of(at - word, here - word);
            self.visit_word(word, mask, &mut visit);
            at = here;
        }
    }

    /// Calls `visit` for the state of every cell that has a byte among `size` bytes at `addr`, and was
    /// accessed before; then forgets these bytes.
    pub fn forget(&mut self, addr: Addr, size: u64, mut visit: impl FnMut(&mut T)) {
        for (page, word, mask) in self.known_words(addr, size) {
            self.forget_word(page, word, mask, &mut visit);
        }
    }

    /// Calls `visit` for the state of every cell of `size` bytes at `addr` that was accessed before;
    /// cells are split at the ends.
    pub fn revisit(&mut self, addr: Addr, size: u64, mut visit: impl FnMut(&mut T)) {
        for (page, word, mask) in self.known_words(addr, size) {
            let slot = (word >> 3) as usize % WORDS;
            let known = self.known_bytes(page, slot) & mask;
            if known != 0 {
                self.visit_split(page, slot, known, &mut visit);
            }
        }
    }

    /// The words of `size` bytes at `addr` that lie in pages that were accessed: page, word, and which
    /// of its bytes. However large the range is, only what was accessed is gone through.
    fn known_words(&self, addr: Addr, size: u64) -> impl Iterator<Item = (u32, u64, u8)> + use<T> {
        let (start, end) = (addr.0, addr.0.saturating_add(size));
        let numbers = start >> PAGE_SHIFT..(end >> PAGE_SHIFT) + 1;
        let pages: SmallVec<[(u64, u32); 2]> =
            if (numbers.end - numbers.start) as usize <= self.pages.len() {
                let page = |number| Some((number, *self.pages.get(&number)?));
                numbers.filter_map(page).collect()
            } else {
                let known = self.pages.iter().map(|(number, page)| (*number, *page));
                let mut within: SmallVec<_> = known
                    .filter(|(number, _)| numbers.contains(number))
                    .collect();
                within.sort_unstable();
                within
            };
        pages.into_iter().flat_map(move |(number, page)| {
            let first = number << PAGE_SHIFT;
            let words = (0..WORDS as u64).map(move |word| first + 8 * word);
            words.filter_map(move |word| {
                let (from, to) = (start.max(word), end.min(word.saturating_add(8)));
                (from < to).then(|| (page, word, mask_of(from - word, to - word)))
            })
        })
    }

    /// The states of all cells.
    pub fn states(&self) -> impl Iterator<Item = &T> {
        self.cells.iter().map(|cell| &cell.state)
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// How many bytes it holds, without what the states hold outside themselves.
    pub fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<Cell<T>>()
            + self.words.capacity() * size_of::<[u32; WORDS]>()
            + self.pages.capacity() * size_of::<(u64, u32)>()
    }

    #[inline]
    fn visit_word(&mut self, word: u64, mask: u8, visit: &mut impl FnMut(&mut T)) {
        let page = self.page(word >> PAGE_SHIFT);
        let slot = (word >> 3) as usize % WORDS;
        let first = self.words[page as usize][slot];
        if first != NONE {
            let cell = &mut self.cells[first as usize];
            if cell.mask == mask {
                return visit(&mut cell.state);
            }
        }
        self.visit_split(page, slot, mask, visit);
    }

    /// The same where the bytes are not just the word's first cell.
    #[cold]
    #[inline(never)]
    fn visit_split(&mut self, page: u32, slot: usize, mask: u8, visit: &mut impl FnMut(&mut T)) {
        let mut rest = mask;
        let mut at = self.words[page as usize][slot];
        while at != NONE && rest != 0 {
            let cell = &mut self.cells[at as usize];
            let next = cell.next;
            let common = cell.mask & rest;
            if common != 0 {
                let outside = cell.mask & !common;
                cell.mask = common;
                let before = (outside != 0).then(|| cell.state.clone());
                visit(&mut cell.state);
                if let Some(state) = before {
                    self.push(page, slot, outside, state);
                }
                rest &= !common;
            }
            at = next;
        }
        if rest != 0 {
            let mut state = T::default();
            visit(&mut state);
            self.push(page, slot, rest, state);
        }
    }

    fn known_bytes(&self, page: u32, slot: usize) -> u8 {
        let (mut known, mut at) = (0, self.words[page as usize][slot]);
        while at != NONE {
            let cell = &self.cells[at as usize];
            known |= cell.mask;
            at = cell.next;
        }
        known
    }

    fn forget_word(&mut self, page: u32, word: u64, mask: u8, visit: &mut impl FnMut(&mut T)) {
        let slot = (word >> 3) as usize % WORDS;
        let mut before = NONE;
        let mut at = self.words[page as usize][slot];
        while at != NONE {
            let cell = &mut self.cells[at as usize];
            let next = cell.next;
            if cell.mask & mask != 0 {
                visit(&mut cell.state);
                cell.mask &= !mask;
            }
            if cell.mask == 0 {
                cell.state = T::default();
                cell.next = self.free;
                self.free = at;
                match before {
                    NONE => self.words[page as usize][slot] = next,
                    before => self.cells[before as usize].next = next,
                }
            } else {
                before = at;
            }
            at = next;
        }
    }

    fn push(&mut self, page: u32, slot: usize, mask: u8, state: T) {
        let first = &mut self.words[page as usize][slot];
        let cell = Cell {
            mask,
            next: *first,
            state,
        };
        if self.free == NONE {
            *first = self.cells.len() as u32;
            self.cells.push(cell);
        } else {
            *first = self.free;
            self.free = std::mem::replace(&mut self.cells[*first as usize], cell).next;
        }
    }

    #[inline]
    fn page(&mut self, number: u64) -> u32 {
        let (known, page) = self.recent[number as usize % RECENT];
        if known == number {
            return page;
        }
        self.find_page(number)
    }

    #[inline(never)]
    fn find_page(&mut self, number: u64) -> u32 {
        let words = &mut self.words;
        let page = *self.pages.entry(number).or_insert_with(|| {
            words.push([NONE; WORDS]);
            words.len() as u32 - 1
        });
        self.recent[number as usize % RECENT] = (number, page);
        page
    }
}

/// The bytes from `start` to `end` (at most 8) of a word.
#[inline]
const fn mask_of(start: u64, end: u64) -> u8 {
    ((1u16 << end) - (1u16 << start)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Cells behave as if every byte had a state of its own.
        #[test]
        fn cells_are_bytes(accesses in prop::collection::vec((0u64..40, 1u64..20, any::<bool>()), 1..60)) {
            let mut shadow: Shadow<Vec<usize>> = Shadow::new();
            let mut bytes: HashMap<u64, Vec<usize>> = HashMap::new();
            for (i, (offset, size, forget)) in accesses.into_iter().enumerate() {
                let addr = 4096 - 16 + offset;
                let mut seen = Vec::new();
                let expected: Vec<Vec<usize>> = (addr..addr + size)
                    .filter_map(|byte| match forget {
                        true => bytes.remove(&byte),
                        false => Some(bytes.entry(byte).or_default().clone()),
                    })
                    .collect();
                if forget {
                    shadow.forget(Addr(addr), size, |state| seen.push(state.clone()));
                } else {
                    shadow.access(Addr(addr), size, |state| {
                        seen.push(state.clone());
                        state.push(i);
                    });
                    for byte in addr..addr + size {
                        bytes.get_mut(&byte).unwrap().push(i);
                    }
                }
                let distinct = |mut states: Vec<Vec<usize>>| {
                    states.sort();
                    states.dedup();
                    states
                };
                prop_assert_eq!(distinct(seen), distinct(expected));
            }
        }
    }

    #[test]
    fn only_known_cells_are_visited_again() {
        let mut shadow: Shadow<u8> = Shadow::new();
        shadow.access(Addr(64), 4, |state| *state = 1);
        shadow.access(Addr(80), 8, |state| *state = 2);
        let mut seen = Vec::new();
        shadow.revisit(Addr(66), 18, |state| {
            seen.push(*state);
            *state = 3;
        });
        assert_eq!(seen, [1, 2]);
        let mut after = Vec::new();
        shadow.access(Addr(64), 24, |state| after.push(*state));
        after.sort_unstable();
        assert_eq!(after, [0, 0, 1, 2, 3, 3]);
    }

    #[test]
    fn a_block_as_large_as_memory_takes_no_longer_than_what_was_accessed() {
        let mut shadow: Shadow<u8> = Shadow::new();
        shadow.access(Addr(1 << 40), 8, |state| *state = 1);
        shadow.access(Addr(8), 8, |state| *state = 2);
        let mut seen = Vec::new();
        shadow.revisit(Addr(16), u64::MAX, |state| seen.push(*state));
        shadow.forget(Addr(0), u64::MAX, |state| seen.push(*state));
        assert_eq!(seen, [1, 2, 1]);
    }

    #[test]
    fn forgotten_cells_are_used_again() {
        let mut shadow: Shadow<u8> = Shadow::new();
        for _ in 0..100 {
            shadow.access(Addr(64), 32, |state| *state += 1);
            let mut seen = Vec::new();
            shadow.forget(Addr(60), 40, |state| seen.push(*state));
            assert_eq!(seen, [1; 4]);
        }
        assert_eq!(shadow.cells(), 4);
    }
}
