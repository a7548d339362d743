//! Writes recordings from descriptions of what threads do, as the runtime would.
#![allow(dead_code)] // Not every test uses everything.

mod stream;

use std::path::PathBuf;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, Order};
use deadheat_wire::{BlockHeader, BlockKind, FileHeader, meta};
pub use stream::StreamWriter;
use tempfile::TempDir;

/// Where the program's code lies, unless a test says something else.
pub const CODE: std::ops::Range<u64> = 0x40_0000..0x50_0000;

/// What a thread does, and where in the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub pc: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Of 1, 2, 4, 8 or 16 bytes; the second value is that of the upper 8 bytes.
    Access {
        write: bool,
        addr: u64,
        size: u64,
        values: [u64; 2],
    },
    /// Contents stand in blocks with values only, and are optional there.
    Range {
        write: bool,
        addr: u64,
        bytes: u64,
        contents: Option<Vec<u8>>,
    },
    /// `kind` is the kind of object that `Init` and `Destroy` are about.
    Sync {
        op: Op,
        object: u64,
        kind: u64,
        operand: Option<u64>,
    },
    Atomic {
        op: Op,
        addr: u64,
        size: u64,
        order: Order,
        read: [u64; 2],
        written: [u64; 2],
    },
    Fence(Order),
    /// The act's pc is the caller.
    Enter {
        callee: u64,
    },
    Leave,
    Lost(u64),
}

impl What {
    /// Whether it has a place in the order across threads.
    pub fn is_sync(&self) -> bool {
        matches!(
            self,
            What::Sync { .. } | What::Atomic { .. } | What::Fence(_)
        )
    }

    pub fn at(self, pc: u64) -> Act {
        Act { pc, what: self }
    }
}

pub fn sync(op: Op, object: u64) -> What {
    What::Sync {
        op,
        object,
        kind: 0,
        operand: None,
    }
}

pub fn with_operand(op: Op, object: u64, operand: u64) -> What {
    What::Sync {
        op,
        object,
        kind: 0,
        operand: Some(operand),
    }
}

pub fn write(addr: u64, size: u64, value: u64) -> What {
    What::Access {
        write: true,
        addr,
        size,
        values: [value, 0],
    }
}

pub fn read(addr: u64, size: u64, value: u64) -> What {
    What::Access {
        write: false,
        addr,
        size,
        values: [value, 0],
    }
}

/// The acts of all threads in the order in which they happened.
pub type Run = Vec<(u32, Act)>;

/// A recording before it is on disk. Tests may take it apart.
#[derive(Clone, Debug)]
pub struct Recording {
    pub header: FileHeader,
    /// Headers with their payloads.
    pub blocks: Vec<Vec<u64>>,
    /// For each act of the run, stream and ordinal of the block that it stands in.
    pub places: Vec<(u32, u32)>,
}

/// A header and its payload.
pub fn sealed(header: BlockHeader, payload: &[u64]) -> Vec<u64> {
    [&header.seal(payload)[..], payload].concat()
}

/// A meta block of what `fill` writes.
pub fn meta_block(fill: impl FnOnce(&mut meta::Writer)) -> Vec<u64> {
    let mut buffer = [0; 512];
    let mut writer = meta::Writer::new(&mut buffer);
    fill(&mut writer);
    sealed(BlockHeader::new(BlockKind::Meta, 0), writer.words())
}

/// The record of a module without a build id.
pub fn module(writer: &mut meta::Writer, code: std::ops::Range<u64>, path: &str) {
    writer
        .begin(meta::MODULE)
        .u64(code.start)
        .u64(code.end)
        .u64(code.start);
    writer
        .u32(0)
        .u32(path.len() as u32)
        .bytes(path.as_bytes())
        .end();
}

pub fn end_block(reason: &str) -> Vec<u64> {
    let mut buffer = [0; 32];
    let mut writer = meta::Writer::new(&mut buffer);
    writer.begin(meta::NOTE).bytes(reason.as_bytes()).end();
    sealed(BlockHeader::new(BlockKind::End, 0), writer.words())
}

impl Recording {
    /// A recording without any block.
    pub fn empty(serial: bool) -> Self {
        let flags = if serial { FileHeader::SERIAL } else { 0 };
        Recording {
            header: FileHeader::new(flags, 7, 42),
            blocks: Vec::new(),
            places: Vec::new(),
        }
    }

    /// A complete recording of a program at [`CODE`]. `cut` is asked before each act whether a
    /// new block starts there.
    pub fn new(serial: bool, run: &Run, mut cut: impl FnMut() -> bool) -> Self {
        let mut recording = Recording::empty(serial);
        recording
            .blocks
            .push(meta_block(|writer| module(writer, CODE, "/bin/prog")));
        let threads = run.iter().map(|(thread, _)| thread + 1).max().unwrap_or(1);
        for thread in 0..threads {
            let parent = if thread == 0 { meta::NO_THREAD } else { 0 };
            recording.blocks.push(meta_block(|writer| {
                writer
                    .begin(meta::THREAD)
                    .u32(thread)
                    .u32(parent)
                    .u64(CODE.start)
                    .end();
            }));
        }
        let count = if serial { 1 } else { threads };
        let mut streams: Vec<_> = (0..count).map(|n| StreamWriter::new(n, serial)).collect();
        for ((thread, act), seq) in run.iter().zip(1..) {
            let stream = &mut streams[if serial { 0 } else { *thread as usize }];
            if cut() {
                stream.cut();
                recording.blocks.append(&mut stream.blocks);
            }
            if serial {
                stream.switch(*thread);
            }
            stream.act(act, seq);
            recording.places.push(stream.place());
        }
        for mut stream in streams {
            stream.cut();
            recording.blocks.append(&mut stream.blocks);
        }
        recording.blocks.push(end_block("the program ended"));
        recording
    }

    /// The positions of the blocks of events.
    pub fn event_blocks(&self) -> Vec<usize> {
        let is_events = |i: &usize| self.block_header(*i).kind() == Some(BlockKind::Events);
        (0..self.blocks.len()).filter(is_events).collect()
    }

    pub fn block_header(&self, block: usize) -> BlockHeader {
        BlockHeader::from_words(self.blocks[block].first_chunk().unwrap()).unwrap()
    }

    /// Changes a block's header and payload; the checksums stay right.
    pub fn edit(&mut self, block: usize, edit: impl FnOnce(&mut BlockHeader, &mut Vec<u64>)) {
        let mut header = self.block_header(block);
        let mut payload = self.blocks[block].split_off(BlockHeader::WORDS);
        edit(&mut header, &mut payload);
        self.blocks[block] = sealed(header, &payload);
    }

    pub fn bytes(&self) -> Vec<u8> {
        let header = self.header.to_words();
        let words = header.iter().chain(self.blocks.iter().flatten());
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Puts it on disk and opens it.
    pub fn open(&self) -> Opened {
        open(&self.bytes())
    }
}

/// A recording on disk, in a folder of its own.
pub struct Opened {
    pub folder: TempDir,
    pub file: TraceFile,
}

impl std::ops::Deref for Opened {
    type Target = TraceFile;

    fn deref(&self) -> &TraceFile {
        &self.file
    }
}

/// Opens a file with these bytes.
pub fn open(bytes: &[u8]) -> Opened {
    let (folder, path) = on_disk(bytes);
    let file = TraceFile::open(path).unwrap();
    Opened { folder, file }
}

/// A file with these bytes.
pub fn on_disk(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.dht");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}
