//! A recording as a stream of steps.
//!
//! A serial recording is one stream already. In a parallel one each thread has its own; they
//! are merged by the sequence numbers of their synchronisation. A stream is read up to its next
//! synchronisation; there it gives way to the one whose next number is the smallest. So
//! synchronisation is in the order in which it happened, and accesses stand directly behind the
//! synchronisation before them.
//!
//! Where blocks of a stream are missing its next block's header says which number the stream had
//! reached by then: that is where it goes on. A gap is announced at its start; and again at its
//! end, if others have run meanwhile, for they say nothing about what the stream did.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::sync::Arc;

use deadheat_wire::{BlockHeader, word};

use super::blocks::Stream;
use super::context::{Calls, Context};
use super::damage::Damage;
use super::record::{Cursor, Found};
use super::trace_file::TraceFile;
use crate::{Mode, Step, Steps, Tables, ThreadId};

/// Reads a recording from start to end; see [`TraceFile::read`].
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a TraceFile,
    context: Context<'a>,
    /// How far the stream that is being read has been read.
    cursor: Box<Cursor<'a>>,
    /// Which one it is.
    current: usize,
    tracks: Vec<Track<'a>>,
    /// The other streams, by the sequence number at which they go on.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    damage: Vec<Damage>,
    /// The step that was handed out last is not in the file.
    made_up: bool,
}

/// How far a stream has been read.
#[derive(Clone, Debug, Default)]
struct Track<'a> {
    /// `None` before its first block and behind its last one, and while it is the current one.
    cursor: Option<Box<Cursor<'a>>>,
    next_block: usize,
    /// The ordinal that the next block should have.
    next_ordinal: u32,
}

/// What follows in a stream behind the end of a block.
struct Opened<'a> {
    /// The next good block, and the sequence number at its start.
    block: Option<(Cursor<'a>, u64)>,
    /// Whether something is missing before it.
    gap: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a TraceFile) -> Self {
        // Streams are opened when it is their turn: a program may have had many threads, a few at
        // a time.
        let turn = |stream: &Stream| first_seq(file, stream).unwrap_or(0);
        let turns = file.streams.iter().map(turn).zip(0..).map(Reverse);
        let mut reader = Reader {
            file,
            context: Context::new(file),
            cursor: Box::new(Cursor::at_end(ThreadId(0))),
            current: 0,
            tracks: vec![Track::default(); file.streams.len()],
            waiting: turns.collect(),
            damage: Vec::new(),
            made_up: false,
        };
        reader.next_stream();
        reader
    }

    /// Damage that was found while reading; see also [`TraceFile::damage`].
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The next step, of whatever kind.
    #[inline(never)]
    fn next_other(&mut self) -> Option<Step> {
        self.made_up = false;
        loop {
            let malformed = match self.cursor.next(&mut self.context) {
                Found::Step(step) => {
                    self.made_up = self.cursor.is_made_up();
                    return Some(step);
                }
                Found::Sync(seq) => {
                    if self.other_before(seq) {
                        self.give_way(seq);
                        continue;
                    }
                    match self.cursor.sync(&mut self.context) {
                        Some(step) => {
                            self.made_up = self.cursor.is_made_up();
                            return Some(step);
                        }
                        None => true,
                    }
                }
                Found::End => false,
                Found::Malformed => true,
            };
            if malformed {
                self.note_malformed();
            }
            let Opened { block, gap } = self.open_block(self.current);
            let gap = gap || malformed;
            let lost = gap.then(|| self.cursor.lost());
            if gap && let Some(calls) = &mut self.context.calls {
                calls.forget(self.cursor.thread());
            }
            let more = match block {
                Some((cursor, seq)) => {
                    *self.cursor = cursor;
                    if gap && self.other_before(seq) {
                        self.cursor.announce_gap();
                        self.give_way(seq);
                    }
                    true
                }
                None => {
                    *self.cursor = Cursor::at_end(self.cursor.thread());
                    self.next_stream()
                }
            };
            if lost.is_some() || !more {
                return lost;
            }
        }
    }

    /// Whether another stream comes before this sequence number of the current one.
    #[inline]
    fn other_before(&self, seq: u64) -> bool {
        let first = self.waiting.peek();
        first.is_some_and(|Reverse(first)| *first < (seq, self.current))
    }

    /// Goes on with another stream, until it is this one's turn again.
    fn give_way(&mut self, seq: u64) {
        let Some(mut first) = self.waiting.peek_mut() else {
            return;
        };
        let Reverse((_, next)) = std::mem::replace(&mut *first, Reverse((seq, self.current)));
        drop(first);
        let next_cursor = self.take_cursor(next);
        let cursor = std::mem::replace(&mut self.cursor, next_cursor);
        self.tracks[self.current].cursor = Some(cursor);
        self.current = next;
    }

    /// At the end of the current stream: goes on with the next one, if there is one.
    fn next_stream(&mut self) -> bool {
        let Some(Reverse((_, next))) = self.waiting.pop() else {
            return false;
        };
        self.cursor = self.take_cursor(next);
        self.current = next;
        true
    }

    /// How far a stream that waits has been read.
    fn take_cursor(&mut self, number: usize) -> Box<Cursor<'a>> {
        let cursor = self.tracks[number].cursor.take();
        cursor.unwrap_or_else(|| {
            let thread = ThreadId(self.file.streams[number].number);
            self.context.know(thread);
            Box::new(Cursor::at_end(thread))
        })
    }

    /// The next good block of a stream.
    fn open_block(&mut self, number: usize) -> Opened<'a> {
        let file = self.file;
        let mut gap = false;
        let Some(stream) = file.streams.get(number) else {
            return Opened { block: None, gap };
        };
        let track = &mut self.tracks[number];
        let before = track.next_block.checked_sub(1);
        if let Some(block) = before.and_then(|before| stream.blocks.get(before)) {
            file.image.release_block(block.start);
        }
        while let Some(block) = stream.blocks.get(track.next_block) {
            gap |= block.ordinal != track.next_ordinal;
            track.next_block += 1;
            track.next_ordinal = block.ordinal.wrapping_add(1);
            let Some((header, words)) = file.image.block_at(block.start) else {
                gap = true;
                continue;
            };
            if header.matches(words) {
                let cursor = Cursor::new(&header, words);
                self.context.know(cursor.thread());
                let block = Some((cursor, header.seq_before));
                return Opened { block, gap };
            }
            gap = true;
            self.damage.push(Damage::Contents {
                offset: (block.start + BlockHeader::WORDS as u64) * 8,
                bytes: words.len() as u64 * 8,
            });
        }
        Opened { block: None, gap }
    }

    /// Says that the rest of the current block makes no sense.
    fn note_malformed(&mut self) {
        let before = self.tracks[self.current].next_block.saturating_sub(1);
        let block = self.file.streams[self.current].blocks[before];
        let Some((_, words)) = self.file.image.block_at(block.start) else {
            return;
        };
        let left = self.cursor.words_left();
        let read = BlockHeader::WORDS + words.len().saturating_sub(left);
        self.damage.push(Damage::Malformed {
            offset: (block.start + read as u64) * 8,
            bytes: left as u64 * 8,
        });
    }
}

/// The sequence number at which a stream starts. The words that it stands in may be damaged, but
/// not the header, which bounds it: so what follows the first block never comes too late.
fn first_seq(file: &TraceFile, stream: &Stream) -> Option<u64> {
    let (header, words) = file.image.block_at(stream.blocks.first()?.start)?;
    let mut words = words
        .iter()
        .skip_while(|first| word::tag(**first) == word::PC);
    Some(match (words.next(), words.next()) {
        (Some(first), Some(second)) if word::tag(*first) == word::SYNC => {
            word::split_numbered(*second).0.min(header.seq_last)
        }
        _ => header.seq_before,
    })
}

impl Reader<'_> {
    /// How many things it remembers besides the tables; a stream under way is worth many.
    pub(super) fn weight(&self) -> usize {
        let under_way = self.tracks.iter().filter(|track| track.cursor.is_some());
        let streams = self.tracks.len() + 16 * under_way.count();
        let calls = self.context.calls.as_ref().map_or(0, Calls::weight);
        streams + calls + self.context.objects.weight() + self.context.code.weight()
    }

    /// Exchanges the tables. Those of a reader that has come further do as well.
    pub(super) fn swap_tables(&mut self, tables: Arc<Tables>) -> Arc<Tables> {
        std::mem::replace(&mut self.context.tables, tables)
    }
}

impl Steps for Reader<'_> {
    type Error = Infallible;

    #[inline]
    fn next_step(&mut self) -> Result<Option<Step>, Infallible> {
        match self.cursor.next_plain(&self.context.code) {
            Some(step) => {
                self.made_up = false;
                Ok(Some(step))
            }
            None => Ok(self.next_other()),
        }
    }

    fn tables(&self) -> &Tables {
        &self.context.tables
    }

    fn mode(&self) -> Mode {
        self.file.mode()
    }

    fn is_made_up(&self) -> bool {
        self.made_up
    }
}
