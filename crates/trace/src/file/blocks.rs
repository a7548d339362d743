//! Where the blocks of each stream lie.

use deadheat_wire::{BLOCK_MAGIC, BlockHeader, BlockKind, FileHeader, meta};

use super::damage::Damage;
use super::facts::{self, Facts};
use super::image::Image;
use crate::hash::FastMap;
use crate::{Mode, ThreadId};

/// So many words of a file are let go of at a time.
const RELEASED: u64 = 1 << 19;

/// What is found between the start and the end of a recording.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub streams: Vec<Stream>,
    /// Where a stream stands in `streams`, by its number.
    known: FastMap<u32, usize>,
    pub facts: Facts,
    /// Why the recording ended, if it was closed.
    pub closed: Option<String>,
    pub damage: Vec<Damage>,
}

/// The blocks of one stream, in order.
#[derive(Debug)]
pub(super) struct Stream {
    pub number: u32,
    pub blocks: Vec<Block>,
    /// The largest ordinal.
    last: u32,
}

/// A block of events: there is one for every 64 KiB of the file, so it is kept small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The word that its header starts at.
    pub start: u64,
    pub ordinal: u32,
}

const _: () = assert!(size_of::<Block>() == 16);

impl Blocks {
    /// Finds all blocks of a file, past damage.
    pub fn find(image: &Image) -> Self {
        let mut blocks = Blocks {
            facts: Facts::new(image.bytes().len() as u64),
            ..Blocks::default()
        };
        let length = image.bytes().len() as u64;
        let mut start = FileHeader::WORDS as u64;
        let mut released = 0;
        while start * 8 < length {
            if start - released > RELEASED {
                image.release(released, start);
                released = start;
            }
            match image.block_at(start) {
                Some((header, payload)) => {
                    blocks.take(header, start, payload);
                    start += (BlockHeader::WORDS + payload.len()) as u64;
                }
                None => {
                    let next = next_block(image, start + 1).map_or(length, |next| next * 8);
                    let (offset, bytes) = (start * 8, next - start * 8);
                    blocks.damage.push(Damage::Unreadable { offset, bytes });
                    start = next.div_ceil(8);
                }
            }
        }
        image.release(released, start);
        blocks
    }

    fn take(&mut self, header: BlockHeader, start: u64, payload: &[u64]) {
        let bytes = payload.len() as u64 * 8;
        let offset = (start + BlockHeader::WORDS as u64) * 8;
        match header.kind() {
            Some(BlockKind::Events) => {
                // A program that went on after the end, for it could not execute another. What a thread writes that was cut off
                // by another end changes nothing about that.
                self.closed.take_if(|note| note == meta::EXECUTED);
                self.add(&header, start);
            }
            Some(BlockKind::Meta | BlockKind::End) if !header.matches(payload) => {
                self.damage.push(Damage::Contents { offset, bytes });
            }
            Some(BlockKind::Meta) => {
                let good = self.facts.read(payload);
                let malformed = (!good).then_some(Damage::Malformed { offset, bytes });
                self.damage.extend(malformed);
            }
            Some(BlockKind::End) => self.closed = Some(facts::closing_note(payload)),
            None => {}
        }
    }

    /// Adds a block of events.
    pub fn add(&mut self, header: &BlockHeader, start: u64) {
        if !self.facts.may_be_thread(header.stream) || !self.facts.may_be_thread(header.thread) {
            let (offset, bytes) = (start * 8, u64::from(header.words) * 8);
            self.damage.push(Damage::Malformed { offset, bytes });
            return;
        }
        let next = self.streams.len();
        let index = *self.known.entry(header.stream).or_insert(next);
        if index == next {
            self.streams.push(Stream {
                number: header.stream,
                blocks: Vec::new(),
                last: 0,
            });
        }
        let ordinal = header.ordinal;
        let stream = &mut self.streams[index];
        stream.blocks.push(Block { start, ordinal });
        stream.last = stream.last.max(ordinal);
    }

    /// Whether a stream has a block of this number, or a later one.
    pub fn reach(&self, stream: u32, ordinal: u32) -> bool {
        let index = self.known.get(&stream);
        index.is_some_and(|index| ordinal <= self.streams[*index].last)
    }

    /// Puts everything in order and says which blocks are missing.
    pub fn sort(&mut self, mode: Mode) {
        self.streams.sort_by_key(|stream| stream.number);
        self.known.clear();
        for stream in &mut self.streams {
            let thread = (mode == Mode::Parallel).then_some(ThreadId(stream.number));
            let all = stream.blocks.len();
            stream.blocks.sort_by_key(|block| block.ordinal);
            stream.blocks.dedup_by_key(|block| block.ordinal);
            if stream.blocks.len() < all {
                let blocks = all - stream.blocks.len();
                self.damage.push(Damage::Repeated { thread, blocks });
            }
            let mut expected = 0;
            for block in &stream.blocks {
                if block.ordinal != expected {
                    self.damage.push(Damage::Missing {
                        thread,
                        ordinal: block.ordinal,
                        blocks: block.ordinal - expected,
                    });
                }
                expected = block.ordinal.saturating_add(1);
            }
        }
    }
}

/// The first word at or behind `from` at which a whole block lies.
fn next_block(image: &Image, from: u64) -> Option<u64> {
    let magic = u64::from(u32::from_le_bytes(BLOCK_MAGIC));
    let words = image.file_words().get(usize::try_from(from).ok()?..)?;
    let candidates = (from..)
        .zip(words)
        .filter(|(_, word)| **word & 0xFFFF_FFFF == magic);
    candidates
        .map(|(start, _)| start)
        .find(|start| image.block_at(*start).is_some())
}
