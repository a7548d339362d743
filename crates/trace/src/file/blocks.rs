//! The blocks of a recording: where each one lies and what its header says.

use std::fs::File;
use std::path::{Path, PathBuf};

use deadheat_wire::{BLOCK_MAGIC, BlockHeader, BlockKind, FILE_MAGIC, FileHeader, VERSION};
use memmap2::Mmap;

use super::damage::{Damage, OpenError};
use super::{Reader, facts, salvage};
use crate::{Mode, Tables};

/// A recording on disk.
///
/// ```no_run
/// use deadheat_trace::{Steps, file::TraceFile};
///
/// let file = TraceFile::open("trace.dht")?;
/// let mut reader = file.read();
/// while let Ok(Some(step)) = reader.next_step() {
///     println!("{step:?}");
/// }
/// # Ok::<(), deadheat_trace::file::OpenError>(())
/// ```
#[derive(Debug)]
pub struct TraceFile {
    path: PathBuf,
    bytes: Bytes,
    /// What the live file still had, as blocks behind the file's own.
    salvaged: Vec<u8>,
    header: FileHeader,
    pub(super) streams: Vec<Stream>,
    /// Modules, threads, notes.
    pub(super) tables: Tables,
    damage: Vec<Damage>,
    closed: Option<String>,
    skipped: u64,
}

/// The bytes of a file; an empty one cannot be mapped.
#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Empty,
}

/// The blocks of one stream, in order.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub number: u32,
    pub blocks: Vec<Block>,
}

/// A block of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Where its payload starts: in the file, or behind it in what was salvaged.
    pub payload: u64,
    pub words: u32,
    pub ordinal: u32,
    /// The thread that runs at its start.
    pub thread: u32,
    pub values: bool,
    pub pc: u64,
    pub header: BlockHeader,
}

impl TraceFile {
    /// Opens a recording and finds its blocks.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_path_buf();
        let io = |source| OpenError::Io { path: path.clone(), source };
        let file = File::open(&path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let bytes = if length == 0 {
            Bytes::Empty
        } else {
            // SAFETY: a recording is only ever appended to, and what is looked at lies below the
            // length at the time of opening. Should somebody cut the file meanwhile the process
            // gets SIGBUS, as with any mapped file; no memory is harmed.
            Bytes::Mapped(unsafe { Mmap::map(&file) }.map_err(io)?)
        };
        let header = read_header(&path, bytes.get())?;
        let mut trace = TraceFile {
            path,
            bytes,
            salvaged: Vec::new(),
            header,
            streams: Vec::new(),
            tables: Tables::default(),
            damage: Vec::new(),
            closed: None,
            skipped: 0,
        };
        trace.find_blocks();
        if trace.closed.is_none() {
            trace.salvage();
        }
        trace.sort_streams();
        Ok(trace)
    }

    /// Reads it from the start.
    pub fn read(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was recorded.
    pub fn mode(&self) -> Mode {
        if self.header.flags & FileHeader::SERIAL != 0 { Mode::Serial } else { Mode::Parallel }
    }

    /// The seed of a serial recording's schedule.
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.get().len() as u64
    }

    /// Modules, threads and notes. (Locks and other objects are found by reading.)
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What is missing, as far as headers tell. A reader finds damaged contents, too.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Why the recording ended, if it was closed.
    pub fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// How many accesses the recorder left out because the same one stands earlier in its
    /// segment (parallel recordings).
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The bytes at `offset`; those that were salvaged follow the file's own.
    pub(super) fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let bytes = self.bytes.get();
        let offset = usize::try_from(offset).ok()?;
        if offset < bytes.len() {
            return bytes.get(offset..offset.checked_add(length)?);
        }
        let offset = offset - bytes.len();
        self.salvaged.get(offset..offset.checked_add(length)?)
    }

    fn find_blocks(&mut self) {
        let length = self.bytes.get().len() as u64;
        let mut offset = (FileHeader::WORDS * 8) as u64;
        while offset < length {
            match self.header_at(offset) {
                Some(header) => {
                    let payload = offset + (BlockHeader::WORDS * 8) as u64;
                    self.take_block(header, payload);
                    offset = payload + u64::from(header.words) * 8;
                }
                None => {
                    let next = self.next_block(offset + 1).unwrap_or(length);
                    self.damage.push(Damage::Unreadable { offset, bytes: next - offset });
                    offset = next;
                }
            }
        }
    }

    /// The header of a block that lies here whole.
    fn header_at(&self, offset: u64) -> Option<BlockHeader> {
        let words = words_of(self.at(offset, BlockHeader::WORDS * 8)?);
        let header = BlockHeader::from_words(words.as_slice().try_into().ok()?)?;
        let payload = offset + (BlockHeader::WORDS * 8) as u64;
        self.at(payload, header.words as usize * 8).map(|_| header)
    }

    /// The first whole block at or behind `from`.
    fn next_block(&self, from: u64) -> Option<u64> {
        let bytes = self.bytes.get();
        let mut offset = from as usize;
        while offset + BLOCK_MAGIC.len() <= bytes.len() {
            let found =
                bytes[offset..].windows(BLOCK_MAGIC.len()).position(|w| w == BLOCK_MAGIC)?;
            offset += found;
            if self.header_at(offset as u64).is_some() {
                return Some(offset as u64);
            }
            offset += 1;
        }
        None
    }

    fn take_block(&mut self, header: BlockHeader, payload: u64) {
        let bytes = self.at(payload, header.words as usize * 8).unwrap_or(&[]).to_vec();
        match header.kind() {
            Some(BlockKind::Events) => {
                self.skipped += header.skipped;
                self.add_events(header, payload);
            }
            Some(BlockKind::Meta | BlockKind::End) if !header.matches(&words_of(&bytes)) => {
                let bytes = bytes.len() as u64;
                self.damage.push(Damage::Contents { offset: payload, bytes });
            }
            Some(BlockKind::Meta) => facts::read(&bytes, &mut self.tables),
            Some(BlockKind::End) => self.closed = Some(facts::closing_note(&bytes)),
            None => {}
        }
    }

    fn add_events(&mut self, header: BlockHeader, payload: u64) {
        let block = Block {
            payload,
            words: header.words,
            ordinal: header.ordinal,
            thread: header.thread,
            values: header.has_values(),
            pc: header.pc,
            header,
        };
        match self.streams.iter_mut().find(|stream| stream.number == header.stream) {
            Some(stream) => stream.blocks.push(block),
            None => self.streams.push(Stream { number: header.stream, blocks: vec![block] }),
        }
    }

    /// Adds what the live file beside the recording still has.
    fn salvage(&mut self) {
        let ordinals: Vec<(u32, u32)> = self
            .streams
            .iter()
            .filter_map(|stream| Some((stream.number, stream.blocks.last()?.ordinal)))
            .collect();
        let found = salvage::from_live_file(&self.path, &ordinals);
        let base = self.bytes.get().len() as u64;
        self.salvaged = found.bytes;
        for (header, offset) in found.blocks {
            self.add_events(header, base + offset);
        }
        self.damage.push(Damage::NotClosed { salvaged: found.records });
    }

    fn sort_streams(&mut self) {
        self.streams.sort_by_key(|stream| stream.number);
        for stream in &mut self.streams {
            stream.blocks.sort_by_key(|block| block.ordinal);
            stream.blocks.dedup_by_key(|block| block.ordinal);
            let mut expected = 0;
            for block in &stream.blocks {
                if block.ordinal != expected {
                    self.damage.push(Damage::Missing {
                        stream: stream.number,
                        ordinal: block.ordinal,
                        blocks: block.ordinal - expected,
                    });
                }
                expected = block.ordinal.saturating_add(1);
            }
        }
    }
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Empty => &[],
        }
    }
}

fn read_header(path: &Path, bytes: &[u8]) -> Result<FileHeader, OpenError> {
    let path = path.to_path_buf();
    if !bytes.starts_with(&FILE_MAGIC) {
        return Err(OpenError::NotARecording { path });
    }
    let header = bytes
        .get(..FileHeader::WORDS * 8)
        .and_then(|head| words_of(head).try_into().ok())
        .and_then(|words| FileHeader::from_words(&words));
    match header {
        None => Err(OpenError::Header { path }),
        Some(header) if header.version > VERSION => {
            Err(OpenError::Newer { path, found: header.version, known: VERSION })
        }
        Some(header) => Ok(header),
    }
}

/// Bytes as little-endian words.
pub(super) fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default()))
        .collect()
}
