//! Which parts of memory are alive, such as the heap's blocks: where each begins, how long it is, and something about it.
//!
//! Programs have millions of small blocks, and everybody who reads a trace follows them. So they are kept page by page,
//! each in a few bytes: in a page only the low bits of their addresses differ.

use std::collections::BTreeMap;

const PAGE_SHIFT: u32 = 12;
/// Longer than any memory that there is; what is said to be longer is taken to be as long.
const LONGEST: u64 = (1 << 48) - 1;

/// Parts of memory by their first addresses, one at each.
///
/// ```
/// use deadheat_trace::{Extent, Extents};
///
/// let mut blocks = Extents::default();
/// blocks.insert(0x1000, 16, "a list");
/// assert_eq!(blocks.around(0x100f), Some(Extent { start: 0x1000, bytes: 16, what: "a list" }));
/// assert_eq!(blocks.around(0x1010), None);
/// ```
#[derive(Clone, Debug)]
pub struct Extents<T> {
    pages: BTreeMap<u64, Vec<Entry<T>>>,
    count: usize,
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent<T> {
    /// Its first address.
    pub start: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// What is known of it.
    pub what: T,
}

impl<T> Extent<T> {
    /// The first address behind it.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }
}

/// An extent in its page, with the low and high bits of its length.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    offset: u16,
    high: u16,
    low: u32,
    what: T,
}

const _: () = assert!(size_of::<Entry<()>>() == 8);

impl<T: Copy> Entry<T> {
    fn new(start: u64, bytes: u64, what: T) -> Self {
        let bytes = bytes.min(LONGEST);
        Entry {
            offset: offset_of(start),
            high: (bytes >> 32) as u16,
            low: bytes as u32,
            what,
        }
    }

    fn extent(&self, page: u64) -> Extent<T> {
        Extent {
            start: page << PAGE_SHIFT | u64::from(self.offset),
            bytes: u64::from(self.high) << 32 | u64::from(self.low),
            what: self.what,
        }
    }
}

fn offset_of(start: u64) -> u16 {
    (start & ((1 << PAGE_SHIFT) - 1)) as u16
}

impl<T> Default for Extents<T> {
    fn default() -> Self {
        Extents {
            pages: BTreeMap::new(),
            count: 0,
        }
    }
}

impl<T: Copy> Extents<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Extents::default();
    }

    /// Puts one there, and says what began at its first address before.
    pub fn insert(&mut self, start: u64, bytes: u64, what: T) -> Option<Extent<T>> {
        let number = start >> PAGE_SHIFT;
        let page = self.pages.entry(number).or_default();
        let entry = Entry::new(start, bytes, what);
        match page.binary_search_by_key(&entry.offset, |other| other.offset) {
            Ok(at) => Some(std::mem::replace(&mut page[at], entry).extent(number)),
            Err(at) => {
                page.insert(at, entry);
                self.count += 1;
                None
            }
        }
    }

    /// Takes away the one that begins here.
    pub fn remove(&mut self, start: u64) -> Option<Extent<T>> {
        let number = start >> PAGE_SHIFT;
        let page = self.pages.get_mut(&number)?;
        let at = page.binary_search_by_key(&offset_of(start), |other| other.offset);
        let removed = page.remove(at.ok()?);
        self.count -= 1;
        if page.is_empty() {
            self.pages.remove(&number);
        }
        Some(removed.extent(number))
    }

    /// The one that begins here.
    pub fn get(&self, start: u64) -> Option<Extent<T>> {
        let number = start >> PAGE_SHIFT;
        let page = self.pages.get(&number)?;
        let at = page.binary_search_by_key(&offset_of(start), |other| other.offset);
        Some(page[at.ok()?].extent(number))
    }

    /// The last one that begins at this address or before.
    pub fn before(&self, address: u64) -> Option<Extent<T>> {
        let number = address >> PAGE_SHIFT;
        if let Some(page) = self.pages.get(&number) {
            let behind = page.partition_point(|other| other.offset <= offset_of(address));
            if let Some(at) = behind.checked_sub(1) {
                return Some(page[at].extent(number));
            }
        }
        let (number, page) = self.pages.range(..number).next_back()?;
        Some(page.last()?.extent(*number))
    }

    /// The one that has this address, if the last one that begins there or before does.
    pub fn around(&self, address: u64) -> Option<Extent<T>> {
        let found = self.before(address)?;
        (address - found.start < found.bytes).then_some(found)
    }

    /// Takes away, from this end on, those that reach behind a start, up to the first one that does not.
    pub fn remove_within(&mut self, start: u64, end: u64) {
        let mut last = end.checked_sub(1);
        while let Some(found) = last.and_then(|last| self.before(last))
            && found.end() > start
        {
            self.remove(found.start);
            last = found.start.checked_sub(1);
        }
    }

    /// All of them, by their addresses.
    pub fn iter(&self) -> impl Iterator<Item = Extent<T>> + '_ {
        let pages = self.pages.iter();
        pages.flat_map(|(number, page)| page.iter().map(|entry| entry.extent(*number)))
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        /// What a page takes besides its entries, and how many of these are there for one that is used.
        const PAGE: usize = 64;
        self.pages.len() * PAGE + self.count * size_of::<Entry<T>>() * 3 / 2
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Deed {
        Insert(u64, u64),
        Remove(u64),
        RemoveWithin(u64, u64),
    }

    fn address() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..40, 4080u64..4112, (1u64 << 47)..(1 << 47) + 40]
    }

    fn deed() -> impl Strategy<Value = Deed> {
        let bytes = prop_oneof![0u64..30, 4000u64..9000];
        prop_oneof![
            (address(), bytes.clone()).prop_map(|(start, bytes)| Deed::Insert(start, bytes)),
            address().prop_map(Deed::Remove),
            (address(), bytes).prop_map(|(start, bytes)| Deed::RemoveWithin(start, start + bytes)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn they_are_a_map_by_address(deeds in prop::collection::vec(deed(), 0..60)) {
            let mut extents = Extents::default();
            let mut map: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
            for (number, deed) in deeds.into_iter().enumerate() {
                let extent = |(start, (bytes, what))| Extent { start, bytes, what };
                match deed {
                    Deed::Insert(start, bytes) => {
                        let before = map.insert(start, (bytes, number));
                        let before = before.map(|known| extent((start, known)));
                        prop_assert_eq!(extents.insert(start, bytes, number), before);
                    }
                    Deed::Remove(start) => {
                        let before = map.remove(&start).map(|known| extent((start, known)));
                        prop_assert_eq!(extents.remove(start), before);
                    }
                    Deed::RemoveWithin(start, end) => {
                        let over = map.range(..end).rev();
                        let over = over.take_while(|(first, (bytes, _))| *first + bytes > start);
                        let over: Vec<u64> = over.map(|(first, _)| *first).collect();
                        for first in &over {
                            map.remove(first);
                        }
                        extents.remove_within(start, end);
                    }
                }
                let all: Vec<_> = map.iter().map(|(start, known)| extent((*start, *known))).collect();
                prop_assert_eq!(extents.iter().collect::<Vec<_>>(), all);
                prop_assert_eq!(extents.len(), map.len());
                for at in (0..50).chain(4070..4120).chain((1 << 47)..(1 << 47) + 45) {
                    let last = map.range(..=at).next_back();
                    let last = last.map(|(start, known)| extent((*start, *known)));
                    prop_assert_eq!(extents.before(at), last);
                    prop_assert_eq!(extents.around(at), last.filter(|last| at < last.end()));
                    prop_assert_eq!(extents.get(at), last.filter(|last| last.start == at));
                }
            }
        }
    }

    #[test]
    fn millions_of_small_blocks_take_few_bytes_each() {
        let mut extents = Extents::default();
        for number in 0..1_000_000 {
            extents.insert(number * 32, 24, ());
        }
        assert!(extents.memory() < 16_000_000, "{}", extents.memory());
        for number in 0..1_000_000 {
            extents.remove(number * 32);
        }
        assert_eq!((extents.memory(), extents.pages.len()), (0, 0));
    }
}
