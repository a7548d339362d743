//! A recording, opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadheat_wire::{FILE_MAGIC, FileHeader, VERSION};

use super::blocks::{Blocks, Stream};
use super::code::CodeMap;
use super::damage::{Damage, OpenError};
use super::image::Image;
use super::{Reader, salvage};
use crate::{Mode, Roles, Tables};

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
    header: FileHeader,
    pub(super) image: Image,
    pub(super) streams: Vec<Stream>,
    pub(super) code: CodeMap,
    /// Modules, threads, notes.
    pub(super) tables: Arc<Tables>,
    /// The largest number that a thread can have.
    pub(super) last_thread: u32,
    damage: Vec<Damage>,
    closed: Option<String>,
    pub(super) roles: Option<Roles>,
}

impl TraceFile {
    /// Opens a recording and finds its blocks. If it was not closed in good order, what the live
    /// file beside it holds is part of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_path_buf();
        let mut image = match Image::open(&path) {
            Ok(image) => image,
            Err(source) => return Err(OpenError::Io { path, source }),
        };
        let header = read_header(&path, &image)?;
        let mut blocks = Blocks::find(&image);
        if blocks.closed.is_none() {
            salvage::from_live_file(&path, &mut image, &mut blocks);
        }
        blocks.sort(mode(&header));
        let (mut tables, code, last_thread) = blocks.facts.finish();
        if header.flags & FileHeader::SHARED != 0 {
            // How many is not known of one that was cut off.
            tables.left_out.get_or_insert(0);
        }
        Ok(TraceFile {
            path,
            header,
            image,
            streams: blocks.streams,
            code,
            tables: Arc::new(tables),
            last_thread,
            damage: blocks.damage,
            closed: blocks.closed,
            roles: None,
        })
    }

    /// Reads it from the start.
    pub fn read(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// From now on, readers put the taking and giving of locks beside the atomic accesses that
    /// do it. Positions in the trace change with it.
    pub fn set_roles(&mut self, roles: Roles) {
        self.roles = Some(roles);
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was recorded.
    pub fn mode(&self) -> Mode {
        mode(&self.header)
    }

    /// The seed of a serial recording's schedule.
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.image.bytes().len() as u64
    }

    /// A checksum of its events, made of those of their blocks: recordings that have the same are the same.
    pub fn sum(&self) -> u64 {
        let blocks = self.streams.iter().flat_map(|stream| &stream.blocks);
        let sum = |start: u64| {
            let sum = self.image.block_at(start).map(|(header, _)| header.sum());
            self.image.release_block(start);
            sum
        };
        let sums: Vec<u64> = blocks.filter_map(|block| sum(block.start)).collect();
        deadheat_wire::checksum(&sums)
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
}

fn mode(header: &FileHeader) -> Mode {
    if header.flags & FileHeader::SERIAL != 0 {
        Mode::Serial
    } else {
        Mode::Parallel
    }
}

fn read_header(path: &Path, image: &Image) -> Result<FileHeader, OpenError> {
    let path = path.to_path_buf();
    if !image.bytes().starts_with(&FILE_MAGIC) {
        return Err(OpenError::NotARecording { path });
    }
    let words = image.file_words().first_chunk();
    match words.and_then(FileHeader::from_words) {
        Some(header) if header.version > VERSION => Err(OpenError::Newer {
            path,
            found: header.version,
            known: VERSION,
        }),
        Some(header) if header.version >= 1 => Ok(header),
        _ => Err(OpenError::Header { path }),
    }
}
