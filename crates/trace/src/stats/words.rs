//! Which words of memory were accessed, and by how many threads.

use crate::hash::FastMap;
use crate::{Addr, ThreadId};

const PAGE_WORDS: usize = 512;
/// Of a word: the thread that accessed it, plus one, in the low bits.
const THREAD: u32 = (1 << 24) - 1;
const SHARED: u32 = 1 << 30;
const WRITTEN: u32 = 1 << 31;

/// One entry per aligned 8-byte word, in pages.
#[derive(Default)]
pub(super) struct Words {
    pages: Vec<[u32; PAGE_WORDS]>,
    index: FastMap<u64, usize>,
    /// The page used last: its number plus one, and where it is.
    last: (u64, usize),
}

/// How many words.
pub(super) struct Totals {
    pub all: u64,
    pub shared: u64,
    pub shared_written: u64,
}

impl Words {
    /// An access of this many bytes.
    pub fn access(&mut self, thread: ThreadId, addr: Addr, size: u64, writes: bool) {
        let (first, last) = (addr.0 >> 3, (addr.0 + size.max(1) - 1) >> 3);
        for word in first..=last {
            let entry = self.entry(word);
            let owner = thread.0 + 1;
            match *entry & THREAD {
                0 => *entry = owner,
                before if before != owner => *entry |= SHARED,
                _ => {}
            }
            if writes {
                *entry |= WRITTEN;
            }
        }
    }

    fn entry(&mut self, word: u64) -> &mut u32 {
        let number = word / PAGE_WORDS as u64;
        if self.last.0 != number + 1 {
            let at = *self.index.entry(number).or_insert_with(|| {
                self.pages.push([0; PAGE_WORDS]);
                self.pages.len() - 1
            });
            self.last = (number + 1, at);
        }
        &mut self.pages[self.last.1][word as usize % PAGE_WORDS]
    }

    /// How many words of each kind.
    pub fn totals(&self) -> Totals {
        let words = || self.pages.iter().flat_map(|page| page.iter());
        let with = |flags| words().filter(|word| **word & flags == flags).count() as u64;
        Totals {
            all: words().filter(|word| **word != 0).count() as u64,
            shared: with(SHARED),
            shared_written: with(SHARED | WRITTEN),
        }
    }
}
