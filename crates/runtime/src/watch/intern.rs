//! Tables in which equal things have one number, for ever, without locks.
//!
//! A table has an array of entries, filled from its start, and an index of their numbers by hash.
//! An entry is complete before its number appears in the index, and never changes after, so a
//! look-up only reads. Two threads that bring the same thing at the same time find out when they
//! put its number into the index; the loser's entry stays unused.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::memory;

/// A thing's two words, and one more that belongs to it.
pub struct Entry {
    key: [u64; 2],
    value: u32,
    mark: AtomicU32,
}

/// A table.
pub struct Table {
    entries: AtomicPtr<Entry>,
    index: AtomicPtr<AtomicU32>,
    count: AtomicU32,
    bits: u32,
}

impl Table {
    /// A table for at most `1 << bits` things; [`Table::map`] gives it its memory.
    pub const fn new(bits: u32) -> Self {
        Table {
            entries: AtomicPtr::new(core::ptr::null_mut()),
            index: AtomicPtr::new(core::ptr::null_mut()),
            count: AtomicU32::new(1),
            bits,
        }
    }

    /// Gets its memory; pages that are never touched cost nothing. False if there is none.
    pub fn map(&self) -> bool {
        let entries = memory::pages(1 << self.bits);
        let index = memory::pages(2 << self.bits);
        self.entries.store(entries, Ordering::Release);
        self.index.store(index, Ordering::Release);
        !entries.is_null() && !index.is_null()
    }

    /// How many numbers were given.
    pub fn len(&self) -> u32 {
        self.count.load(Ordering::Relaxed).min(1 << self.bits) - 1
    }

    /// Whether more than three quarters of its numbers were given.
    pub fn is_nearly_full(&self) -> bool {
        self.len() > 3 << (self.bits - 2)
    }

    /// The number of the thing with this key; a new one has the value that `value` makes of its
    /// number. 0 if the table is full.
    pub fn number(&self, key: [u64; 2], value: impl Fn(u32) -> u32) -> u32 {
        let mask = (2usize << self.bits) - 1;
        let index = self.index.load(Ordering::Relaxed);
        let mut at = hash(key) as usize & mask;
        let mut mine = 0;
        loop {
            // SAFETY: `at` is within the index, which stays mapped.
            let place = unsafe { &*index.add(at) };
            let mut number = place.load(Ordering::Acquire);
            if number == 0 {
                if mine == 0 {
                    mine = self.add(key, &value);
                    if mine == 0 {
                        return 0;
                    }
                }
                match place.compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return mine,
                    Err(other) => number = other,
                }
            }
            if self.entry(number).key == key {
                return number;
            }
            at = (at + 1) & mask;
        }
    }

    /// Fills a new entry that nobody else knows yet.
    #[cold]
    fn add(&self, key: [u64; 2], value: impl Fn(u32) -> u32) -> u32 {
        if self.count.load(Ordering::Relaxed) >= 1 << self.bits {
            return 0;
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        if number >= 1 << self.bits {
            self.count.store(1 << self.bits, Ordering::Relaxed);
            return 0;
        }
        let value = value(number);
        // SAFETY: the number is ours alone and within the array.
        unsafe {
            let entry = self.entries.load(Ordering::Relaxed).add(number as usize);
            (*entry).key = key;
            (*entry).value = value;
        }
        number
    }

    fn entry(&self, number: u32) -> &Entry {
        // SAFETY: numbers come from `number`, so the entry is within the array and complete.
        unsafe { &*self.entries.load(Ordering::Relaxed).add(number as usize) }
    }

    /// The key of the thing with this number.
    pub fn key(&self, number: u32) -> [u64; 2] {
        self.entry(number).key
    }

    /// What belongs to it.
    #[inline]
    pub fn value(&self, number: u32) -> u32 {
        self.entry(number).value
    }

    /// Marks it.
    pub fn mark(&self, number: u32) {
        self.entry(number).mark.store(1, Ordering::Relaxed);
    }

    /// Whether it is marked.
    pub fn is_marked(&self, number: u32) -> bool {
        self.entry(number).mark.load(Ordering::Relaxed) != 0
    }
}

/// Mixes two words.
#[inline]
pub fn hash(key: [u64; 2]) -> u64 {
    let mixed = (key[0] ^ key[1].rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29 ^ key[1]).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_have_one_number_whoever_brings_them() {
        static TABLE: Table = Table::new(12);
        assert!(TABLE.map());
        let numbers = || -> Vec<u32> {
            (0..1000)
                .map(|i| TABLE.number([i % 500, i % 7], |number| number + 1))
                .collect()
        };
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(numbers)).collect();
        let all: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        for other in &all[1..] {
            assert_eq!(&all[0], other);
        }
        for (i, &number) in (0..).zip(&all[0]) {
            assert_eq!(TABLE.key(number), [i % 500, i % 7]);
            assert_eq!(TABLE.value(number), number + 1);
        }
    }

    #[test]
    fn a_full_table_says_so_and_still_finds() {
        let table = Table::new(4);
        assert!(table.map());
        let numbers: Vec<u32> = (0..30).map(|i| table.number([i, 0], |_| 0)).collect();
        assert!(numbers[..15].iter().all(|number| *number != 0));
        assert!(numbers[15..].iter().all(|number| *number == 0));
        assert_eq!(table.number([3, 0], |_| 0), numbers[3]);
        assert!(table.is_nearly_full());
    }
}
