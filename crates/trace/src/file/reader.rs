//! A recording as a stream of steps.
//!
//! A serial recording is one stream already. In a parallel one each thread has its own; they
//! are merged by the sequence numbers of their synchronisation: the thread whose next one has
//! the smallest number goes on, up to the one after it. So accesses stand directly behind the
//! synchronisation before them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

use super::blocks::{Block, TraceFile, words_of};
use super::code::CodeMap;
use super::damage::Damage;
use super::objects::Objects;
use super::record::{Context, Cursor, Found};
use crate::{Event, Mode, Op, Pc, Step, Steps, Tables};

/// Reads a recording from start to end; see [`TraceFile::read`].
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a TraceFile,
    context: Context,
    tracks: Vec<Track>,
    /// The track that is being read.
    current: Option<usize>,
    /// The others, by the sequence number of their next synchronisation.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    damage: Vec<Damage>,
}

/// A stream and how far it has been read.
#[derive(Clone, Debug)]
struct Track {
    stream: usize,
    next_block: usize,
    cursor: Cursor,
    /// A gap must be announced before the next step.
    gap: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a TraceFile) -> Self {
        let context = Context {
            code: CodeMap::new(&file.tables.modules),
            objects: Objects::default(),
            tables: file.tables.clone(),
        };
        let tracks = (0..file.streams.len())
            .map(|stream| Track { stream, next_block: 0, cursor: Cursor::default(), gap: false })
            .collect();
        let mut reader = Reader {
            file,
            context,
            tracks,
            current: None,
            waiting: BinaryHeap::new(),
            damage: Vec::new(),
        };
        for track in 0..reader.tracks.len() {
            reader.enqueue(track);
        }
        reader
    }

    /// Damage that was found while reading; see also [`TraceFile::damage`].
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Puts a track where its next step can be found.
    fn enqueue(&mut self, track: usize) {
        if !self.fill(track) {
            return;
        }
        // Without a number the track stands in the middle of a segment (a gap, or the start of
        // a damaged recording): it goes on at once.
        let seq = self.tracks[track].cursor.next_seq().unwrap_or(0);
        self.waiting.push(Reverse((seq, track)));
    }

    /// Opens the next good block of a track if it has come to the end of one; false at its end.
    fn fill(&mut self, number: usize) -> bool {
        let track = &mut self.tracks[number];
        let blocks = &self.file.streams[track.stream].blocks;
        while track.cursor.is_done() {
            let Some(block) = blocks.get(track.next_block) else { return track.gap };
            let expected =
                track.next_block.checked_sub(1).map_or(0, |before| blocks[before].ordinal + 1);
            track.next_block += 1;
            track.gap |= block.ordinal != expected;
            match load(self.file, block) {
                Some(words) => track.cursor = Cursor::new(block, words),
                None => {
                    track.gap = true;
                    let (offset, bytes) = (block.payload, u64::from(block.words) * 8);
                    self.damage.push(Damage::Contents { offset, bytes });
                }
            }
        }
        true
    }

    fn lost(&mut self, number: usize) -> Step {
        let track = &mut self.tracks[number];
        track.gap = false;
        let thread = match self.file.mode() {
            Mode::Serial => track.cursor.thread(),
            Mode::Parallel => {
                crate::ThreadId(self.file.streams[track.stream].number.min(Event::MAX_THREAD))
            }
        };
        Step::new(Event::new(thread, Op::Lost, 0, Pc::UNKNOWN))
    }

    #[inline]
    fn step(&mut self) -> Option<Step> {
        loop {
            let number = match self.current {
                Some(number) => number,
                None => {
                    let Reverse((_, number)) = self.waiting.pop()?;
                    self.current = Some(number);
                    number
                }
            };
            let track = &mut self.tracks[number];
            if track.gap {
                return Some(self.lost(number));
            }
            match track.cursor.next(&mut self.context) {
                Found::Step(step) => {
                    if self.tracks.len() > 1 && self.tracks[number].cursor.next_seq().is_some() {
                        self.current = None;
                        self.enqueue(number);
                    }
                    return Some(step);
                }
                Found::End => self.next_block(number),
                Found::Nonsense => {
                    track.cursor = Cursor::default();
                    track.gap = true;
                    let block = &self.file.streams[track.stream].blocks[track.next_block - 1];
                    let (offset, bytes) = (block.payload, u64::from(block.words) * 8);
                    self.damage.push(Damage::Contents { offset, bytes });
                }
            }
        }
    }

    /// At the end of a block: goes on with the next one, in its turn.
    fn next_block(&mut self, number: usize) {
        self.current = None;
        if !self.fill(number) {
            return;
        }
        match self.tracks[number].cursor.next_seq() {
            Some(seq) => self.waiting.push(Reverse((seq, number))),
            None => self.current = Some(number),
        }
    }
}

/// The words of a block, if they are what was written.
fn load(file: &TraceFile, block: &Block) -> Option<Vec<u64>> {
    let words = words_of(file.at(block.payload, block.words as usize * 8)?);
    block.header.matches(&words).then_some(words)
}

impl Steps for Reader<'_> {
    type Error = Infallible;

    #[inline]
    fn next_step(&mut self) -> Result<Option<Step>, Infallible> {
        Ok(self.step())
    }

    fn tables(&self) -> &Tables {
        &self.context.tables
    }

    fn mode(&self) -> Mode {
        self.file.mode()
    }
}
