//! The file beside a recording that is being made: `<trace>.live`.
//!
//! The runtime's buffers are mapped from it, so what they hold outlives the program however it
//! dies. It consists of slots: a page that starts with a [`LiveHeader`], then the buffer. A slot
//! whose `ordinal` is a block that the recording already has, is a left-over and holds nothing.
//! The file is removed when the recording is closed in good order.

use crate::BLOCK_BYTES;

/// The first word of a slot in use.
pub const LIVE_MAGIC: u64 = u64::from_le_bytes(*b"DHLIVE01");
/// Where in a slot its buffer starts.
pub const LIVE_BUFFER: usize = 4096;
/// The size of a slot.
pub const SLOT_BYTES: usize = LIVE_BUFFER + BLOCK_BYTES;

/// The head of a slot: what the block's header will say.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveHeader {
    /// [`LIVE_MAGIC`], or zero for a slot that is not in use.
    pub magic: u64,
    /// As in the block's header.
    pub stream: u32,
    /// As in the block's header.
    pub ordinal: u32,
    /// As in the block's header.
    pub thread: u32,
    /// As in the block's header.
    pub flags: u32,
    /// As in the block's header.
    pub pc: u64,
    /// As in the block's header.
    pub seq_before: u64,
}

const _: () = assert!(size_of::<LiveHeader>() == LiveHeader::WORDS * 8);

impl LiveHeader {
    /// Its length in words.
    pub const WORDS: usize = 5;

    /// The header in `words`, if the slot is in use.
    pub fn from_words(words: &[u64; Self::WORDS]) -> Option<Self> {
        // SAFETY: `repr(C)`, no padding (asserted by its size), integers only.
        let header: LiveHeader = unsafe { core::mem::transmute(*words) };
        (header.magic == LIVE_MAGIC).then_some(header)
    }
}
