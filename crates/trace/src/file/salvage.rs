//! What a killed program had in its buffers: the live file beside the recording.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use deadheat_wire::{
    BLOCK_BYTES, BlockHeader, BlockKind, LIVE_BUFFER, LiveHeader, SLOT_BYTES, word,
};

use super::blocks::Blocks;
use super::damage::Damage;
use super::image::Image;

/// How many words are kept at the most: the full buffers of four thousand threads.
const MOST_WORDS: usize = 4096 * BLOCK_BYTES / 8;

/// Blocks made from the buffers.
#[derive(Default)]
struct Salvaged {
    /// Headers and payloads, one behind the other.
    words: Vec<u64>,
    /// The headers once more, and where they stand.
    blocks: Vec<(BlockHeader, u64)>,
    events: u64,
}

/// Adds what the live file of the recording at `path` holds, and says that the recording was not
/// closed.
pub(super) fn from_live_file(path: &Path, image: &mut Image, blocks: &mut Blocks) {
    let mut name = path.as_os_str().to_owned();
    name.push(".live");
    let mut salvaged = Salvaged::default();
    let read = salvaged.read(Path::new(&name), blocks);
    let events = salvaged.events;
    blocks.damage.push(match blocks.facts.stopped.take() {
        Some(why) => Damage::Stopped {
            why,
            salvaged: events,
        },
        None => Damage::NotClosed { salvaged: events },
    });
    match read {
        Ok(()) => {}
        // Programs that end at once, and those whose disk is full, have none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => blocks.damage.push(Damage::LiveFile {
            reason: error.to_string(),
        }),
    }
    let start = image.append(salvaged.words);
    for (header, at) in salvaged.blocks {
        blocks.add(&header, start + at);
    }
}

impl Salvaged {
    /// Reads all slots, one at a time.
    fn read(&mut self, path: &Path, blocks: &Blocks) -> io::Result<()> {
        // A pipe of that name would keep us waiting.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("the live file is not a regular file"));
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = [0; LiveHeader::WORDS * 8];
        let mut buffer = vec![0; BLOCK_BYTES];
        for slot in 0..length / SLOT_BYTES as u64 {
            let offset = slot * SLOT_BYTES as u64;
            file.read_exact_at(&mut head, offset)?;
            let Some(header) = live_header(&head) else {
                continue;
            };
            // A left-over: its words were written to the recording.
            if blocks.reach(header.stream, header.ordinal) {
                continue;
            }
            file.read_exact_at(&mut buffer, offset + LIVE_BUFFER as u64)?;
            let words: Vec<u64> = buffer
                .as_chunks()
                .0
                .iter()
                .map(|word| u64::from_le_bytes(*word))
                .collect();
            self.take(&header, &words);
            if self.words.len() > MOST_WORDS {
                return Err(io::Error::other("the live file is too large"));
            }
        }
        if length.is_multiple_of(SLOT_BYTES as u64) {
            Ok(())
        } else {
            Err(io::Error::other("the end of the live file is cut off"))
        }
    }

    /// Takes the whole records at the start of a buffer.
    fn take(&mut self, live: &LiveHeader, words: &[u64]) {
        let flags = live.flags as u8;
        let written = Written::of(words, flags & BlockHeader::VALUES != 0);
        if written.words == 0 {
            return;
        }
        let mut header = BlockHeader::new(BlockKind::Events, live.stream);
        header.flags = flags;
        header.ordinal = live.ordinal;
        header.thread = live.thread;
        header.pc = live.pc;
        header.seq_before = live.seq_before;
        header.seq_last = written.seq_last.unwrap_or(live.seq_before);
        let payload = &words[..written.words];
        header.words = payload.len() as u32;
        self.blocks.push((header, self.words.len() as u64));
        self.words.extend(header.seal(payload));
        self.words.extend(payload);
        self.events += written.events;
    }
}

/// What a buffer holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Written {
    words: usize,
    events: u64,
    seq_last: Option<u64>,
}

impl Written {
    /// The records in a buffer. A zero word is where the program stopped writing; so a record
    /// that ends with one, behind which there is nothing, may lack its last words: it is left out.
    fn of(buffer: &[u64], values: bool) -> Self {
        let mut written = Written::default();
        let mut rest = buffer;
        while let Some(&first) = rest.first() {
            let second = rest.get(1).copied().unwrap_or(0);
            let length = word::record_len(first, second, values);
            let Some((record, behind)) = length.and_then(|n| rest.split_at_checked(n)) else {
                break;
            };
            if record.last() == Some(&0) && behind.first().is_none_or(|word| *word == 0) {
                break;
            }
            if word::tag(first) == word::SYNC {
                written.seq_last = Some(word::split_numbered(second).0);
            }
            written.words += record.len();
            written.events += events(first);
            rest = behind;
        }
        written
    }
}

/// How many events a record is: two if it is a pair, none if it only speaks of those that follow.
fn events(first: u64) -> u64 {
    match (word::tag(first), word::detail(first) & 0xFF) {
        (0, _) => 1 + u64::from(first >> word::HALF_BITS != 0),
        (word::PC, _) | (word::EXT, word::ext::SWITCH) => 0,
        (word::EXT, word::ext::REPEAT) => 2 * word::split_repeat(first).1,
        _ => 1,
    }
}

fn live_header(bytes: &[u8; LiveHeader::WORDS * 8]) -> Option<LiveHeader> {
    let mut words = [0; LiveHeader::WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    LiveHeader::from_words(&words)
}
