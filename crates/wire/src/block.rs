//! The headers of a file and of its blocks.

use crate::{BLOCK_MAGIC, FILE_MAGIC, MAX_BLOCK_BYTES, VERSION, checksum};

/// The head of a recording.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    magic: [u8; 8],
    /// The format's version.
    pub version: u32,
    /// [`FileHeader::SERIAL`], [`FileHeader::SHARED`].
    pub flags: u32,
    /// The seed of a serial recording's schedule.
    pub seed: u64,
    /// The process that was recorded.
    pub process: u32,
    reserved: [u32; 3],
    /// Zero; room for later versions.
    spare: u64,
    sum: u64,
}

const _: () = assert!(size_of::<FileHeader>() == FileHeader::WORDS * 8);

impl FileHeader {
    /// Flag: one thread ran at a time; one stream holds everything, with values.
    pub const SERIAL: u32 = 1;
    /// Flag: accesses to memory that threads do not share are left out, and functions that have nothing else.
    pub const SHARED: u32 = 2;
    /// Its length in words.
    pub const WORDS: usize = 7;

    /// A header of the current version.
    pub const fn new(flags: u32, seed: u64, process: u32) -> Self {
        FileHeader {
            magic: FILE_MAGIC,
            version: VERSION,
            flags,
            seed,
            process,
            reserved: [0; 3],
            spare: 0,
            sum: 0,
        }
    }

    /// Its words, with the checksum filled in.
    pub fn to_words(mut self) -> [u64; Self::WORDS] {
        self.sum = 0;
        // SAFETY: the type is `repr(C)`, has no padding (asserted by its size) and consists of
        // integers only, so every bit pattern is valid on both sides.
        let mut words: [u64; Self::WORDS] = unsafe { core::mem::transmute(self) };
        words[Self::WORDS - 1] = checksum(&words[..Self::WORDS - 1]);
        words
    }

    /// The header in `words`, whatever its version; `None` if they hold none or a damaged one.
    pub fn from_words(words: &[u64; Self::WORDS]) -> Option<Self> {
        // SAFETY: as in `to_words`.
        let header: FileHeader = unsafe { core::mem::transmute(*words) };
        let intact = checksum(&words[..Self::WORDS - 1]) == header.sum;
        (header.magic == FILE_MAGIC && intact).then_some(header)
    }
}

/// What a block holds.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Events, see [`crate::word`].
    Events = 1,
    /// Facts about modules and threads, see [`crate::meta`].
    Meta = 2,
    /// The recording was closed in good order.
    End = 3,
}

/// The head of a block.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    magic: [u8; 4],
    kind: u8,
    /// [`BlockHeader::VALUES`] or zero.
    pub flags: u8,
    reserved: u16,
    /// The thread whose events these are; 0 in a serial recording.
    pub stream: u32,
    /// How many words of payload follow.
    pub words: u32,
    /// How many blocks of this stream came before.
    pub ordinal: u32,
    /// The thread that runs at the block's start (the stream's own in a parallel recording).
    pub thread: u32,
    /// The *last pc* at the block's start.
    pub pc: u64,
    /// Zero; room for later versions.
    spare: u64,
    /// The sequence number that the stream had reached before this block.
    pub seq_before: u64,
    /// The last sequence number in this block, or `seq_before`.
    pub seq_last: u64,
    payload_sum: u64,
    sum: u64,
}

const _: () = assert!(size_of::<BlockHeader>() == BlockHeader::WORDS * 8);

impl BlockHeader {
    /// Flag: reads and writes are followed by their values.
    pub const VALUES: u8 = 1;
    /// Its length in words.
    pub const WORDS: usize = 9;

    /// A header for a payload that is given to [`BlockHeader::seal`].
    pub const fn new(kind: BlockKind, stream: u32) -> Self {
        BlockHeader {
            magic: BLOCK_MAGIC,
            kind: kind as u8,
            flags: 0,
            reserved: 0,
            stream,
            words: 0,
            ordinal: 0,
            thread: stream,
            pc: 0,
            spare: 0,
            seq_before: 0,
            seq_last: 0,
            payload_sum: 0,
            sum: 0,
        }
    }

    /// Its words for this payload, with length and checksums filled in.
    pub fn seal(mut self, payload: &[u64]) -> [u64; Self::WORDS] {
        self.words = payload.len() as u32;
        self.payload_sum = checksum(payload);
        self.sum = 0;
        // SAFETY: `repr(C)`, no padding (asserted by its size), integers only: every bit pattern
        // is valid on both sides.
        let mut words: [u64; Self::WORDS] = unsafe { core::mem::transmute(self) };
        words[Self::WORDS - 1] = checksum(&words[..Self::WORDS - 1]);
        words
    }

    /// The header in `words`; `None` if they hold none or a damaged one.
    pub fn from_words(words: &[u64; Self::WORDS]) -> Option<Self> {
        // SAFETY: as in `seal`.
        let header: BlockHeader = unsafe { core::mem::transmute(*words) };
        let intact = header.magic == BLOCK_MAGIC
            && header.kind().is_some()
            && header.words as usize * 8 <= MAX_BLOCK_BYTES
            && checksum(&words[..Self::WORDS - 1]) == header.sum;
        intact.then_some(header)
    }

    /// What the block holds; `None` in a damaged header.
    pub const fn kind(&self) -> Option<BlockKind> {
        match self.kind {
            1 => Some(BlockKind::Events),
            2 => Some(BlockKind::Meta),
            3 => Some(BlockKind::End),
            _ => None,
        }
    }

    /// Whether reads and writes are followed by their values.
    pub const fn has_values(&self) -> bool {
        self.flags & Self::VALUES != 0
    }

    /// A checksum of the header, and with it of the payload.
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// Whether `payload` is what was sealed.
    pub fn matches(&self, payload: &[u64]) -> bool {
        payload.len() == self.words as usize && checksum(payload) == self.payload_sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_and_damage_shows() {
        let file = FileHeader::new(FileHeader::SERIAL, 7, 42);
        let words = file.to_words();
        let back = FileHeader::from_words(&words).unwrap();
        assert_eq!((back.version, back.seed, back.process), (VERSION, 7, 42));
        let mut bad = words;
        bad[2] ^= 1;
        assert!(FileHeader::from_words(&bad).is_none());

        let payload = [1, 2, 3];
        let words = BlockHeader::new(BlockKind::Events, 5).seal(&payload);
        let back = BlockHeader::from_words(&words).unwrap();
        assert_eq!((back.stream, back.words), (5, 3));
        assert!(back.matches(&payload) && !back.matches(&[1, 2, 4]) && !back.matches(&[1, 2]));
        for i in 0..BlockHeader::WORDS {
            let mut bad = words;
            bad[i] ^= 1 << 40;
            assert!(BlockHeader::from_words(&bad).is_none(), "word {i}");
        }
    }
}
