//! The file of what was found: which words are shared, and which are accessed together.
//!
//! It is mapped and kept up to date as the program runs, so what it says survives however the program ends.
//! Its space is reserved before it is used: a full disk is no fault in the program. Then it says that
//! it is of no use.

use core::cell::UnsafeCell;

use deadheat_wire::shared::{Entry, FOUND, Header, MAGIC, UNUSABLE};

use super::maps;
use crate::options::MAX_PATH;
use crate::sys;

/// The file grows by so much.
const CHUNK: usize = 1 << 18;
/// The longest that it becomes: addresses that are kept for it.
const LONGEST: usize = 1 << 34;
const HEADER_WORDS: usize = size_of::<Header>() / 8;
const ENTRY_WORDS: usize = size_of::<Entry>() / 8;

/// Where in the header what stands.
const EVENTS: usize = 1;
const LEFT_OUT: usize = 2;
const MISSED: usize = 3;
const ENTRIES: usize = 4;
/// Where in an entry.
const SHARED: usize = 1;
const LINKED: usize = 2;

/// The file, mapped.
pub struct Found {
    file: i32,
    /// Its words; null if there is no file.
    words: *mut u64,
    /// How many bytes are mapped.
    mapped: usize,
    entries: usize,
}

/// Where the words are that no file has any more.
struct Nowhere(UnsafeCell<[u64; HEADER_WORDS]>);
// SAFETY: only written, and by the one thread that has the turn.
unsafe impl Sync for Nowhere {}
static NOWHERE: Nowhere = Nowhere(UnsafeCell::new([0; HEADER_WORDS]));

impl Found {
    /// No file.
    pub const fn none() -> Self {
        Found {
            file: -1,
            words: core::ptr::null_mut(),
            mapped: 0,
            entries: 0,
        }
    }

    /// Makes the file beside the one at `path`; false if that is not possible.
    pub fn create(&mut self, path: &[u8]) -> bool {
        let mut full = [0; MAX_PATH];
        let end = path.len() - 1;
        if end + FOUND.len() >= full.len() {
            return false;
        }
        full[..end].copy_from_slice(&path[..end]);
        full[end..end + FOUND.len()].copy_from_slice(FOUND.as_bytes());
        let flags = libc::O_CREAT | libc::O_TRUNC | libc::O_RDWR | libc::O_CLOEXEC;
        let file = sys::high(sys::open(&full[..=end + FOUND.len()], flags, 0o600));
        if file < 0 {
            return false;
        }
        let nothing = libc::PROT_NONE as usize;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
        let words = sys::call(libc::SYS_mmap, [0, LONGEST, nothing, flags, usize::MAX, 0]);
        if words < 0 {
            sys::close(file as i32);
            return false;
        }
        *self = Found::none();
        (self.file, self.words) = (file as i32, words as *mut u64);
        if !self.grow() {
            self.give_up();
            return false;
        }
        self.put(0, u64::from_le_bytes(MAGIC));
        true
    }

    /// Reserves and maps more of the file.
    fn grow(&mut self) -> bool {
        if self.mapped + CHUNK > LONGEST {
            return false;
        }
        let at = self.words as usize + self.mapped;
        let reserved = sys::call(
            libc::SYS_fallocate,
            [self.file as usize, 0, self.mapped, CHUNK, 0, 0],
        );
        if reserved != 0 {
            return false;
        }
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_FIXED) as usize;
        let arguments = [
            at,
            CHUNK,
            protection,
            flags,
            self.file as usize,
            self.mapped,
        ];
        let is_mapped = sys::call(libc::SYS_mmap, arguments) == at as isize;
        self.mapped += if is_mapped { CHUNK } else { 0 };
        is_mapped
    }

    /// There is no room for it: whoever reads it is told so.
    fn give_up(&mut self) {
        if self.mapped > 0 {
            self.put(ENTRIES, UNUSABLE);
        }
        *self = Found {
            words: NOWHERE.0.get().cast(),
            ..Found::none()
        };
    }

    /// Whether what was found is of use.
    pub fn is_usable(&self) -> bool {
        self.file >= 0
    }

    #[inline(always)]
    fn put(&mut self, word: usize, value: u64) {
        // SAFETY: callers name words of the header, or of entries that are mapped; of a file that was
        // given up only the header's, for which there is room.
        unsafe { *self.words.add(word) = value };
    }

    /// So many events have happened.
    #[inline(always)]
    pub fn events(&mut self, events: u64) {
        self.put(EVENTS, events);
    }

    /// So many accesses were not recorded, and so many words were shared that the recording was not to have.
    pub fn missing(&mut self, left_out: u64, missed: u64) {
        self.put(LEFT_OUT, left_out);
        self.put(MISSED, missed);
    }

    /// Marks one of 64 words, as shared or as accessed together with the next one; whether it was not. Which
    /// entry they have, if any, is kept in `number`.
    fn mark(&mut self, number: &mut u32, index: u64, bit: u32, column: usize) -> bool {
        if !self.is_usable() {
            return false;
        }
        if *number == 0 {
            let end = HEADER_WORDS + (self.entries + 1) * ENTRY_WORDS;
            if end * 8 > self.mapped && !self.grow() {
                self.give_up();
                return false;
            }
            self.put(HEADER_WORDS + self.entries * ENTRY_WORDS, index);
            self.entries += 1;
            self.put(ENTRIES, self.entries as u64);
            *number = self.entries as u32;
        }
        let word = HEADER_WORDS + (*number as usize - 1) * ENTRY_WORDS + column;
        // SAFETY: entries are mapped before they get a number.
        unsafe {
            let bits = self.words.add(word);
            let is_new = *bits >> bit & 1 == 0;
            *bits |= 1 << bit;
            is_new
        }
    }

    /// Marks the word at an address.
    fn mark_word(&mut self, addr: usize, column: usize) -> bool {
        let (number, index) = maps::entry_of(addr);
        // SAFETY: as in `maps::is_wanted`.
        self.mark(unsafe { &mut *number }, index, addr as u32 / 8 % 64, column)
    }

    /// Marks the word at an address as shared; whether it was not.
    pub fn mark_shared(&mut self, addr: usize) -> bool {
        self.mark_word(addr, SHARED)
    }

    /// Marks the word at an address as accessed together with the next one.
    pub fn mark_linked(&mut self, addr: usize) {
        self.mark_word(addr, LINKED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_where_readers_expect_it() {
        assert_eq!(core::mem::offset_of!(Header, events), EVENTS * 8);
        assert_eq!(core::mem::offset_of!(Header, left_out), LEFT_OUT * 8);
        assert_eq!(core::mem::offset_of!(Header, missed), MISSED * 8);
        assert_eq!(core::mem::offset_of!(Header, entries), ENTRIES * 8);
        assert_eq!(core::mem::offset_of!(Entry, shared), SHARED * 8);
        assert_eq!(core::mem::offset_of!(Entry, linked), LINKED * 8);
    }

    #[test]
    fn what_is_found_is_in_the_file_at_once() {
        let folder = std::env::temp_dir().join(format!("deadheat-found-{}", std::process::id()));
        let path = std::format!("{}\0", folder.display());
        let mut found = Found::none();
        assert!(found.create(path.as_bytes()));
        let mut numbers = [0; 30_000];
        for (index, number) in numbers.iter_mut().enumerate() {
            assert!(found.mark(number, index as u64 + 7, 1, SHARED));
            assert!(!found.mark(number, index as u64 + 7, 1, SHARED));
        }
        assert!(found.mark(&mut numbers[0], 7, 63, LINKED));
        found.events(17);
        let file = std::format!("{}{FOUND}", folder.display());
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let word = |at: usize| u64::from_le_bytes(*bytes[at * 8..].first_chunk().unwrap());
        assert_eq!((word(EVENTS), word(ENTRIES)), (17, 30_000));
        assert_eq!([word(5), word(6), word(7)], [7, 2, 1 << 63]);
        assert_eq!([word(8), word(9), word(10)], [8, 2, 0]);
    }
}
