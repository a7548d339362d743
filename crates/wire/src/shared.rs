//! Which memory a program's threads share: what the runtime finds out in one run, and leaves out of
//! the recording of the next.
//!
//! ```text
//! file := Header Entry*
//! ```
//!
//! Everything is little-endian and eight bytes wide, so that the file can be read as it is. A *word* is
//! eight bytes of memory, numbered by the bits of its address that [`WORD_ADDRESS`] has. An entry
//! speaks of 64 words that follow each other.

/// The variable that names the file; what the runtime finds goes to the same name with [`FOUND`] behind it.
pub const SHARED: &str = "DEADHEAT_SHARED";
/// What is added to the name of the file that the runtime writes.
pub const FOUND: &str = ".found";
/// The first eight bytes of the file.
pub const MAGIC: [u8; 8] = *b"DHSHARE1";

/// The bits of an address that tell its word. Programs, heaps, libraries and stacks lie apart in them.
pub const WORD_ADDRESS: u64 = 0x0FFF_FFFF_FFF8;

/// The number of the word at an address.
pub const fn word_of(addr: u64) -> u64 {
    (addr & WORD_ADDRESS) >> 3
}

/// The head of the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// How many events the run had, recorded or not.
    pub events: u64,
    /// How many accesses were not recorded.
    pub left_out: u64,
    /// How many words are shared that the recording was not to have.
    pub missed: u64,
    /// How many entries follow; more may be reserved. [`UNUSABLE`] if there was no room for all.
    pub entries: u64,
}

/// Instead of how many entries there are: not all that was found is in them.
pub const UNUSABLE: u64 = u64::MAX;

/// 64 words.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the first word, divided by 64.
    pub index: u64,
    /// Which of them are shared: a bit each, the lowest for the first.
    pub shared: u64,
    /// Which of them are accessed together with the next one.
    pub linked: u64,
}

const _: () = assert!(size_of::<Header>() == 40);
const _: () = assert!(size_of::<Entry>() == 24);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_one_word_have_one_number() {
        assert_eq!(word_of(0x5555_5555_5560), word_of(0x5555_5555_5567));
        assert_eq!(word_of(0x5555_5555_5560) + 1, word_of(0x5555_5555_5568));
        assert_ne!(word_of(0x5555_5555_5560), word_of(0x7FFF_5555_5560));
    }
}
