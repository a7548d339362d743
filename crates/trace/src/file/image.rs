//! The words of a recording: those of the file, mapped, and behind them those that were salvaged.

use std::fs::File;
use std::io;
use std::path::Path;

use deadheat_wire::BlockHeader;
use memmap2::{Mmap, UncheckedAdvice};

#[cfg(target_endian = "big")]
compile_error!("recordings are read in place, as little-endian words");

/// Bytes of a page.
const PAGE: u64 = 4096;
/// The system maps no more words before one that is touched.
const AROUND: u64 = 1 << 14;

/// All words there are. Every block starts at a word: headers and payloads are whole ones.
#[derive(Debug)]
pub(super) struct Image {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    /// What the live file still had, as blocks.
    salvaged: Vec<u64>,
}

impl Image {
    /// Maps a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Asked before it is opened: opening a pipe waits for its other end.
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let file = File::open(path)?;
        let map = if file.metadata()?.len() == 0 {
            None
        } else {
            // SAFETY: a recording is only ever appended to, and what is looked at lies below its
            // length at this time, so the mapped bytes do not change. Should somebody cut the
            // file meanwhile the process gets SIGBUS, as with any mapped file.
            Some(unsafe { Mmap::map(&file) }?)
        };
        let salvaged = Vec::new();
        Ok(Image { map, salvaged })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The whole words of the file.
    pub fn file_words(&self) -> &[u64] {
        // SAFETY: every bit pattern is a `u64`. A map starts at a page, so nothing is cut off at
        // the front.
        unsafe { self.bytes().align_to().1 }
    }

    /// Adds blocks that are not in the file; where they start.
    pub fn append(&mut self, blocks: Vec<u64>) -> u64 {
        self.salvaged = blocks;
        self.file_words().len() as u64
    }

    /// What lies between these words of the file is not looked at for now, and need not be in memory.
    pub fn release(&self, from: u64, to: u64) {
        let page = |word: u64| (word.saturating_mul(8) / PAGE * PAGE) as usize;
        let (from, to) = (page(from), page(to));
        let Some(map) = self.map.as_ref().filter(|map| to > from && to <= map.len()) else {
            return;
        };
        // SAFETY: the map is of a file, and read only: what is dropped is read from the file when it is looked at again,
        // and is the same as before, as the file is only ever appended to (see `open`).
        let advised =
            unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to - from) };
        // If not, it stays in memory.
        drop(advised);
    }

    /// The same of a block that was read, and of a little before: whoever touched its first page may have brought back what is around it.
    pub fn release_block(&self, start: u64) {
        if let Some((_, payload)) = self.block_at(start) {
            let end = start + (BlockHeader::WORDS + payload.len()) as u64;
            self.release(start.saturating_sub(AROUND), end);
        }
    }

    /// The words from `start` on, up to the end of the file or of what was salvaged.
    fn words_from(&self, start: u64) -> Option<&[u64]> {
        let start = usize::try_from(start).ok()?;
        let file = self.file_words();
        if start < file.len() {
            return file.get(start..);
        }
        self.salvaged.get(start - file.len()..)
    }

    /// The block that lies here whole: its header and its payload, whose checksum is not looked
    /// at.
    pub fn block_at(&self, start: u64) -> Option<(BlockHeader, &[u64])> {
        let (header, rest) = self.words_from(start)?.split_first_chunk()?;
        let header = BlockHeader::from_words(header)?;
        Some((header, rest.get(..header.words as usize)?))
    }
}
