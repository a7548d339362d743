//! What memory holds, as far as a trace has said it: in small pages, each with its bytes and which of them are known.
//!
//! A page costs little more than the memory that it speaks of, however long the trace is. Where that is too much, what nobody
//! has looked at for long is forgotten: it is then as unknown as memory is that nobody has accessed yet, of which nothing is
//! taken for granted.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::Content;

/// Words of eight bytes in a page: few, as sparse memory is common.
const WORDS: usize = 16;

/// About how many bytes a page takes, with its number.
const OF_PAGE: usize = size_of::<Page>() + 24;

/// The contents of memory by words, whose numbers are their addresses divided by eight.
///
/// Pages that change are young. When there are as many as may be, they become old, and what was old is forgotten. So what
/// was looked at lately stays known, and copies have the old ones in common.
#[derive(Clone)]
pub struct Contents {
    young: Pages,
    old: Arc<Pages>,
    /// So many pages may be young.
    most: usize,
    forgotten: u64,
}

#[derive(Clone, Default)]
struct Pages {
    numbers: FxHashMap<u64, u32>,
    all: Vec<Page>,
}

#[derive(Clone, Copy)]
struct Page {
    bytes: [u64; WORDS],
    known: [u8; WORDS],
}

impl Pages {
    fn get(&self, page: u64) -> Option<&Page> {
        Some(&self.all[*self.numbers.get(&page)? as usize])
    }

    /// The pages that there are of these.
    fn among(&self, pages: RangeInclusive<u64>) -> Vec<u64> {
        match pages.end() - pages.start() < self.all.len() as u64 {
            true => pages
                .filter(|page| self.numbers.contains_key(page))
                .collect(),
            false => {
                let all = self.numbers.keys();
                all.filter(|page| pages.contains(page)).copied().collect()
            }
        }
    }
}

impl Default for Contents {
    fn default() -> Self {
        Contents::within(usize::MAX)
    }
}

impl Contents {
    /// How many bytes of memory a page is about.
    pub const PAGE: u64 = 8 * WORDS as u64;

    /// Of nothing yet; takes twice so many bytes at the most.
    pub fn within(bytes: usize) -> Self {
        Contents {
            young: Pages::default(),
            old: Arc::default(),
            most: (bytes / OF_PAGE).max(1),
            forgotten: 0,
        }
    }

    /// Knows nothing any more.
    pub fn clear(&mut self) {
        (self.young, self.old) = Default::default();
    }

    /// How many pages were forgotten as there was no room for them.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// What is known of a word; `None` if nothing is.
    pub fn get(&self, word: u64) -> Option<Content> {
        let number = word / WORDS as u64;
        let page = self.young.get(number).or_else(|| self.old.get(number))?;
        let at = word as usize % WORDS;
        (page.known[at] != 0).then(|| Content {
            bytes: page.bytes[at],
            known: page.known[at],
        })
    }

    /// What is known of a word from now on, by what was known of it.
    pub fn change(&mut self, word: u64, change: impl FnOnce(&mut Content)) {
        let page = self.page(word / WORDS as u64);
        let at = word as usize % WORDS;
        let mut content = Content {
            bytes: page.bytes[at],
            known: page.known[at],
        };
        change(&mut content);
        (page.bytes[at], page.known[at]) = (content.bytes, content.known);
    }

    /// A page, young from now on.
    fn page(&mut self, number: u64) -> &mut Page {
        if self.young.all.len() >= self.most && !self.young.numbers.contains_key(&number) {
            self.age();
        }
        let young = &mut self.young;
        let next = young.all.len() as u32;
        let at = *young.numbers.entry(number).or_insert(next);
        if at == next {
            let old = self.old.get(number).copied();
            young.all.push(old.unwrap_or(Page {
                bytes: [0; WORDS],
                known: [0; WORDS],
            }));
        }
        &mut young.all[at as usize]
    }

    /// What is young becomes old.
    #[cold]
    fn age(&mut self) {
        let young = std::mem::take(&mut self.young);
        let mut old = self.old.numbers.keys();
        let is_forgotten = |page: &&u64| !young.numbers.contains_key(page);
        self.forgotten += old.by_ref().filter(is_forgotten).count() as u64;
        self.old = Arc::new(young);
    }

    /// Nothing is known any more of these bytes.
    pub fn forget(&mut self, start: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let end = start.saturating_add(bytes);
        let page_of = |address: u64| (address >> 3) / WORDS as u64;
        let touched = page_of(start)..=page_of(end - 1);
        let mut hit = self.young.among(touched.clone());
        hit.extend(self.old.among(touched));
        for page in hit {
            self.forget_in(page, start, end);
        }
    }

    /// Forgets the bytes of a page that lie between these addresses.
    fn forget_in(&mut self, page: u64, start: u64, end: u64) {
        for (at, known) in self.page(page).known.iter_mut().enumerate() {
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

    #[test]
    fn what_does_not_fit_is_forgotten() {
        let mut contents = Contents::within(8 * OF_PAGE);
        for page in 0..1000 {
            know(&mut contents, page * WORDS as u64);
            know(&mut contents, 3);
            let held = contents.young.all.len() + contents.old.all.len();
            assert!(held <= 16, "{held}");
            assert!(contents.get(page * WORDS as u64).is_some());
            assert!(contents.get(3).is_some(), "it is looked at all the time");
        }
        let known = (0..1000).filter(|page| contents.get(page * WORDS as u64).is_some());
        assert_eq!(contents.forgotten() + known.count() as u64, 1000);
    }

    #[test]
    fn what_is_forgotten_on_purpose_does_not_come_back() {
        let mut contents = Contents::within(2 * OF_PAGE);
        know(&mut contents, 0);
        (1..4).for_each(|page| know(&mut contents, page * WORDS as u64));
        let copy = contents.clone();
        let last = 3 * WORDS as u64;
        contents.forget(last << 3, 8);
        contents.forget((last - WORDS as u64) << 3, 8);
        assert_eq!(
            (contents.get(last), contents.get(last - WORDS as u64)),
            (None, None)
        );
        assert!(copy.get(last).is_some(), "a copy is on its own");
    }
}
