//! What a killed program had in its buffers: the live file beside the recording.

use std::path::Path;

use deadheat_wire::{
    BLOCK_BYTES, BlockHeader, BlockKind, LIVE_BUFFER, LiveHeader, SLOT_BYTES, word,
};

use super::blocks::words_of;

/// Blocks made from the buffers.
#[derive(Default)]
pub(super) struct Salvaged {
    /// Their payloads, one behind the other.
    pub bytes: Vec<u8>,
    /// Their headers, and where their payloads start.
    pub blocks: Vec<(BlockHeader, u64)>,
    pub records: u64,
}

/// Reads the live file of the recording at `path`, if there is one. `written` has the last
/// block of each stream that is in the recording itself.
pub(super) fn from_live_file(path: &Path, written: &[(u32, u32)]) -> Salvaged {
    let mut name = path.as_os_str().to_owned();
    name.push(".live");
    let mut salvaged = Salvaged::default();
    for slot in std::fs::read(name).unwrap_or_default().chunks_exact(SLOT_BYTES) {
        if let Some(header) = live_header(slot)
            && !written.contains(&(header.stream, header.ordinal))
        {
            take(header, &slot[LIVE_BUFFER..LIVE_BUFFER + BLOCK_BYTES], &mut salvaged);
        }
    }
    salvaged
}

fn live_header(slot: &[u8]) -> Option<LiveHeader> {
    let words = words_of(slot.get(..LiveHeader::WORDS * 8)?);
    LiveHeader::from_words(words.as_slice().try_into().ok()?)
}

fn take(live: LiveHeader, buffer: &[u8], salvaged: &mut Salvaged) {
    let words = words_of(buffer);
    let values = live.flags as u8 & BlockHeader::VALUES != 0;
    let mut seq_last = live.seq_before;
    let mut end = 0;
    let mut records = 0;
    while let Some(&first) = words.get(end) {
        let second = words.get(end + 1).copied().unwrap_or(0);
        let Some(length) = word::record_len(first, second, values) else { break };
        if end + length > words.len() {
            break;
        }
        if word::tag(first) == word::SYNC {
            if second == 0 {
                break; // Its second word was not written any more.
            }
            seq_last = second >> 24;
        }
        end += length;
        records += 1;
    }
    if end == 0 {
        return;
    }
    let mut header = BlockHeader::new(BlockKind::Events, live.stream);
    header.flags = live.flags as u8;
    header.ordinal = live.ordinal;
    header.thread = live.thread;
    header.pc = live.pc;
    header.seq_before = live.seq_before;
    header.seq_last = seq_last;
    let sealed = header.seal(&words[..end]);
    if let Some(header) = BlockHeader::from_words(&sealed) {
        salvaged.blocks.push((header, salvaged.bytes.len() as u64));
        salvaged.bytes.extend_from_slice(&buffer[..end * 8]);
        salvaged.records += records;
    }
}
