//! What memory holds, as far as a trace has said it: in small pages, each with its bytes and which of them are known.
//!
//! A page costs little more than the memory that it speaks of, however long the trace is, and copies of all of it are
//! plain copies of two arrays.

use rustc_hash::FxHashMap;

use crate::Content;

/// Words of eight bytes in a page: few, as sparse memory is common.
const WORDS: usize = 16;

/// The contents of memory by words, whose numbers are their addresses divided by eight.
#[derive(Clone, Default)]
pub struct Contents {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<Page>,
}

#[derive(Clone, Copy)]
struct Page {
    bytes: [u64; WORDS],
    known: [u8; WORDS],
}

impl Contents {
    /// What is known of a word; `None` if nothing is.
    pub fn get(&self, word: u64) -> Option<Content> {
        let page = &self.pages[*self.numbers.get(&(word / WORDS as u64))? as usize];
        let at = word as usize % WORDS;
        (page.known[at] != 0).then(|| Content {
            bytes: page.bytes[at],
            known: page.known[at],
        })
    }

    /// What is known of a word from now on, by what was known of it.
    pub fn change(&mut self, word: u64, change: impl FnOnce(&mut Content)) {
        let next = self.pages.len() as u32;
        let number = *self
            .numbers
            .entry(word / WORDS as u64)
            .or_insert_with(|| next);
        if number == next {
            self.pages.push(Page {
                bytes: [0; WORDS],
                known: [0; WORDS],
            });
        }
        let page = &mut self.pages[number as usize];
        let at = word as usize % WORDS;
        let mut content = Content {
            bytes: page.bytes[at],
            known: page.known[at],
        };
        change(&mut content);
        (page.bytes[at], page.known[at]) = (content.bytes, content.known);
    }

    /// Nothing is known any more of these bytes.
    pub fn forget(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        let page_of = |address: u64| (address >> 3) / WORDS as u64;
        let touched = page_of(start)..=page_of(end.saturating_sub(1));
        if bytes == 0 {
        } else if touched.end() - touched.start() < self.pages.len() as u64 {
            touched.for_each(|page| self.forget_in(page, start, end));
        } else {
            let hit = self.numbers.keys().filter(|page| touched.contains(page));
            for page in hit.copied().collect::<Vec<u64>>() {
                self.forget_in(page, start, end);
            }
        }
    }

    /// Forgets the bytes of a page that lie between these addresses.
    fn forget_in(&mut self, page: u64, start: u64, end: u64) {
        let Some(number) = self.numbers.get(&page) else {
            return;
        };
        for (at, known) in self.pages[*number as usize].known.iter_mut().enumerate() {
            let first = (page * WORDS as u64 + at as u64) << 3;
            let from = start.saturating_sub(first).min(8);
            let to = end.saturating_sub(first).min(8);
            let gone = ((1u32 << to) - 1) & !((1u32 << from) - 1);
            *known &= !(gone as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn know(contents: &mut Contents, word: u64) {
        contents.change(word, |content| {
            *content = Content {
                bytes: 7,
                known: 0xFF,
            }
        });
    }

    #[test]
    fn what_is_forgotten_is_no_longer_known() {
        let mut contents = Contents::default();
        for word in [0, 1, 15, 16, 1 << 40] {
            know(&mut contents, word);
        }
        contents.forget(4, 8);
        assert_eq!(contents.get(0).map(|content| content.known), Some(0x0F));
        assert_eq!(contents.get(1).map(|content| content.known), Some(0xF0));
        assert_eq!(contents.get(2), None);
        contents.forget(8, u64::MAX);
        let left = |word| contents.get(word).is_some();
        assert_eq!(
            [0, 1, 15, 16, 1 << 40].map(left),
            [true, false, false, false, false]
        );
    }
}
