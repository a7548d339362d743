//! What memory holds as far as a trace says it: a shadow of every byte that was seen.
//!
//! Pages of 4 KiB, each with its bytes and one bit per byte that says whether it is known. A
//! small direct-mapped cache in front of the page table keeps accesses of up to eight bytes that
//! stay in a page, nearly all of them, at a few nanoseconds.

use crate::hash::FastMap;

const PAGE_BITS: u32 = 12;
const PAGE: usize = 1 << PAGE_BITS;
const CACHED: usize = 256;
const NO_PAGE: u64 = u64::MAX;

/// Both arrays are longer than the page so that eight bytes, and 64 bits across two words, can
/// be loaded at any offset; the excess is never known.
struct Page {
    bytes: [u8; PAGE + 8],
    known: [u64; PAGE / 64 + 1],
}

/// The contents of memory.
pub(super) struct Shadow {
    pages: Vec<Box<Page>>,
    index: FastMap<u64, u32>,
    /// Pages that were forgotten whole.
    spare: Vec<u32>,
    cache: [(u64, u32); CACHED],
    /// More pages are not kept: then all are forgotten.
    most: usize,
    has_forgotten: bool,
}

impl Shadow {
    /// Nothing is known.
    pub fn new() -> Self {
        Shadow {
            pages: Vec::new(),
            index: FastMap::default(),
            spare: Vec::new(),
            cache: [(NO_PAGE, 0); CACHED],
            most: usize::MAX,
            has_forgotten: false,
        }
    }

    /// The same in so many bytes.
    pub fn within(bytes: usize) -> Self {
        Shadow {
            most: (bytes / size_of::<Page>()).max(1),
            ..Shadow::new()
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let most = self.most;
        *self = Shadow {
            most,
            ..Shadow::new()
        };
    }

    /// Whether bytes may be unknown because there was no room for them.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Whether all of these bytes are known; they may lie in two pages.
    pub fn knows(&self, addr: u64, size: usize) -> bool {
        (addr..addr + size as u64).all(|byte| {
            let page = self.index.get(&(byte >> PAGE_BITS));
            page.is_some_and(|page| {
                self.pages[*page as usize].known_bits(byte as usize & (PAGE - 1)) & 1 != 0
            })
        })
    }

    /// A read of up to eight bytes returned `value`. Unknown bytes become known by it. If known
    /// ones differ, says what was expected; the bytes then hold what was read.
    #[inline]
    pub fn read(&mut self, addr: u64, size: usize, value: u64) -> Option<u64> {
        let offset = (addr as usize) & (PAGE - 1);
        if offset + size > PAGE {
            return self.read_across(addr, size, value);
        }
        let page = self.page(addr >> PAGE_BITS);
        let known = page.known_bits(offset) & bit_mask(size);
        let held = page.load(offset);
        let mask = byte_mask(size);
        if known == bit_mask(size) {
            if held & mask == value {
                return None;
            }
        } else {
            page.set_known(offset, size);
        }
        let checked = spread(known) & mask;
        page.store(offset, size, value);
        ((held ^ value) & checked != 0).then_some(held & checked | value & !checked)
    }

    /// A write of up to eight bytes.
    #[inline]
    pub fn write(&mut self, addr: u64, size: usize, value: u64) {
        let offset = (addr as usize) & (PAGE - 1);
        if offset + size > PAGE {
            return self.write_across(addr, size, value);
        }
        let page = self.page(addr >> PAGE_BITS);
        page.set_known(offset, size);
        page.store(offset, size, value);
    }

    /// Whatever was there is no longer known.
    pub fn forget(&mut self, addr: u64, len: u64) {
        let end = addr.saturating_add(len);
        let (first, last) = (addr >> PAGE_BITS, end.saturating_sub(1) >> PAGE_BITS);
        if len == 0 {
            return;
        }
        if last - first < 16 {
            for number in first..=last {
                self.forget_in(number, addr, end);
            }
        } else {
            // A large range: only the pages there are.
            let numbers = self.index.keys().copied();
            let hit: Vec<u64> = numbers.filter(|n| (first..=last).contains(n)).collect();
            for number in hit {
                self.forget_in(number, addr, end);
            }
        }
    }

    fn forget_in(&mut self, number: u64, addr: u64, end: u64) {
        let Some(&at) = self.index.get(&number) else {
            return;
        };
        let start = number << PAGE_BITS;
        let from = addr.saturating_sub(start).min(PAGE as u64) as usize;
        let to = (end - start).min(PAGE as u64) as usize;
        let page = &mut self.pages[at as usize];
        if from == 0 && to == PAGE {
            page.known = [0; PAGE / 64 + 1];
            self.index.remove(&number);
            self.spare.push(at);
            let slot = &mut self.cache[number as usize % CACHED];
            if slot.0 == number {
                slot.0 = NO_PAGE;
            }
        } else {
            page.clear_known(from, to);
        }
    }

    #[inline]
    fn page(&mut self, number: u64) -> &mut Page {
        let slot = self.cache[number as usize % CACHED];
        let at = if slot.0 == number {
            slot.1
        } else {
            self.find(number)
        };
        &mut self.pages[at as usize]
    }

    #[cold]
    fn find(&mut self, number: u64) -> u32 {
        let at = match self.index.get(&number) {
            Some(&at) => at,
            None => {
                if self.spare.is_empty() && self.pages.len() >= self.most {
                    self.clear();
                    self.has_forgotten = true;
                }
                let at = self.spare.pop().unwrap_or_else(|| {
                    self.pages.push(Page::unknown());
                    (self.pages.len() - 1) as u32
                });
                self.index.insert(number, at);
                at
            }
        };
        self.cache[number as usize % CACHED] = (number, at);
        at
    }

    #[cold]
    fn read_across(&mut self, addr: u64, size: usize, value: u64) -> Option<u64> {
        let here = PAGE - (addr as usize & (PAGE - 1));
        let bits = here * 8;
        let low = self.read(addr, here, value & byte_mask(here));
        let high = self.read(addr + here as u64, size - here, value >> bits);
        if low.is_none() && high.is_none() {
            return None;
        }
        let low = low.unwrap_or(value & byte_mask(here));
        Some(low | high.unwrap_or(value >> bits) << bits)
    }

    #[cold]
    fn write_across(&mut self, addr: u64, size: usize, value: u64) {
        let here = PAGE - (addr as usize & (PAGE - 1));
        self.write(addr, here, value & byte_mask(here));
        self.write(addr + here as u64, size - here, value >> (here * 8));
    }
}

impl Page {
    fn unknown() -> Box<Page> {
        Box::new(Page {
            bytes: [0; PAGE + 8],
            known: [0; PAGE / 64 + 1],
        })
    }

    #[inline]
    fn load(&self, offset: usize) -> u64 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.bytes[offset..offset + 8]);
        u64::from_le_bytes(eight)
    }

    #[inline]
    fn store(&mut self, offset: usize, size: usize, value: u64) {
        let mask = byte_mask(size);
        let merged = self.load(offset) & !mask | value & mask;
        self.bytes[offset..offset + 8].copy_from_slice(&merged.to_le_bytes());
    }

    /// The known bits from this byte on, at least eight of them.
    #[inline]
    fn known_bits(&self, offset: usize) -> u64 {
        let (word, bit) = (offset / 64, offset % 64);
        // Two shifts: by 64 would be none at all.
        self.known[word] >> bit | self.known[word + 1] << 1 << (63 - bit)
    }

    #[inline]
    fn set_known(&mut self, offset: usize, size: usize) {
        let (word, bit) = (offset / 64, offset % 64);
        let mask = bit_mask(size);
        self.known[word] |= mask << bit;
        self.known[word + 1] |= mask >> 1 >> (63 - bit);
    }

    fn clear_known(&mut self, from: usize, to: usize) {
        for byte in from..to {
            self.known[byte / 64] &= !(1 << (byte % 64));
        }
    }
}

/// One bit per byte.
#[inline]
fn bit_mask(size: usize) -> u64 {
    (1 << size) - 1
}

/// All bits of this many bytes, one to eight.
#[inline]
fn byte_mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

/// Each of the low eight bits as a whole byte.
#[inline]
fn spread(bits: u64) -> u64 {
    let mut bytes = 0;
    for byte in 0..8 {
        bytes |= (bits >> byte & 1) * (0xFF << (8 * byte));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_learnt_kept_and_forgotten() {
        let mut shadow = Shadow::new();
        assert_eq!(shadow.read(0x1000, 4, 0x0403_0201), None);
        assert_eq!(shadow.read(0x1002, 1, 3), None);
        assert_eq!(shadow.read(0x1002, 1, 9), Some(3));
        assert_eq!(shadow.read(0x1000, 8, 0xFF09_0201), Some(0x0409_0201));
        shadow.write(0x1004, 2, 0xBBAA);
        assert_eq!(shadow.read(0x1005, 1, 0xBB), None);
        shadow.forget(0x1005, 1);
        assert_eq!(shadow.read(0x1004, 2, 0x11AA), None);
        assert_eq!(shadow.read(0x1004, 2, 0xBBAA), Some(0x11AA));
    }

    #[test]
    fn pages_have_no_seams() {
        let mut shadow = Shadow::new();
        for start in 0x1FF8..0x2002u64 {
            for size in 1..=8usize {
                let value = 0x1122_3344_5566_7788 & byte_mask(size);
                shadow.write(start, size, value);
                assert_eq!(shadow.read(start, size, value), None);
                let other = !value & byte_mask(size);
                assert_eq!(shadow.read(start, size, other), Some(value));
            }
        }
    }

    #[test]
    fn forgotten_pages_are_used_again_by_one_only() {
        let mut shadow = Shadow::new();
        shadow.write(0x1000, 8, 1);
        shadow.forget(0x1000, 0x1000);
        shadow.write(0x2000, 8, 2);
        assert_eq!(shadow.read(0x1000, 8, 3), None);
        assert_eq!(shadow.read(0x2000, 8, 2), None);
    }

    #[test]
    fn large_ranges_are_forgotten() {
        let mut shadow = Shadow::new();
        for page in 0..40u64 {
            shadow.write(page << 12, 8, page);
        }
        shadow.forget(0x1004, 30 << 12);
        assert_eq!(shadow.read(0x1000, 4, 7), Some(1));
        assert_eq!(shadow.read(0x1004, 4, 7), None);
        assert_eq!(shadow.read(5 << 12, 8, 77), None);
        assert_eq!(shadow.read(31 << 12, 4, 78), None);
        assert_eq!(shadow.read((31 << 12) + 4, 4, 1), Some(0));
        assert_eq!(shadow.read(32 << 12, 8, 78), Some(32));
        shadow.forget(0, u64::MAX);
        assert_eq!(shadow.read(32 << 12, 8, 5), None);
    }
}
