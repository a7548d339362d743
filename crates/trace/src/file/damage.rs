//! What can be wrong with a recording.

use std::path::PathBuf;

use crate::ThreadId;

/// Why a file cannot be read as a recording at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The first bytes are not a recording's.
    #[error(
        "{}: not a Deadheat recording (it does not start with DEADHEAT); \
         text traces are read by `deadheat trace` too, if each line is thread|op|location",
        path.display()
    )]
    NotARecording {
        /// The file.
        path: PathBuf,
    },
    /// The file header is damaged.
    #[error(
        "{}: the header is damaged, so nothing else can be trusted; record again",
        path.display()
    )]
    Header {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "{}: format version {found}, this deadheat reads up to {known}; use a newer deadheat",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
}

/// Something that is missing from a recording. The rest can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// Bytes between two good blocks, or after the last, that are no block. Their events may be
    /// there all the same: what a full disk cut off has been saved from the live file.
    #[error("{bytes} bytes at offset {offset} are no whole block: damaged, or cut off")]
    Unreadable {
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// A block whose contents do not match its checksum.
    #[error("the block at offset {offset} ({bytes} bytes) is damaged: what it held is lost")]
    Contents {
        /// Where its contents start.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Contents that match their checksum and make no sense.
    #[error(
        "{bytes} bytes at offset {offset} are malformed and were passed over, \
         although their checksum is right"
    )]
    Malformed {
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Blocks of a stream that should be there.
    #[error("{blocks} block(s){} are missing before block {ordinal}", of(*thread))]
    Missing {
        /// Whose; `None` in a serial recording, which is one stream.
        thread: Option<ThreadId>,
        /// The block behind the gap.
        ordinal: u32,
        /// How many are missing.
        blocks: u32,
    },
    /// Blocks of a stream that are there more than once.
    #[error("{blocks} block(s){} are there twice; the first ones count", of(*thread))]
    Repeated {
        /// Whose; `None` in a serial recording.
        thread: Option<ThreadId>,
        /// How many are too many.
        blocks: usize,
    },
    /// The recording was not closed.
    #[error(
        "the recording was not closed: the program was killed, or the disk was full; \
         {salvaged} events were saved from its buffers"
    )]
    NotClosed {
        /// Events found in the live file.
        salvaged: u64,
    },
    /// The recording stopped before the program ended.
    #[error(
        "the recording stopped before the program ended: {why}; \
         {salvaged} events were saved from its buffers"
    )]
    Stopped {
        /// Why.
        why: String,
        /// Events found in the live file.
        salvaged: u64,
    },
    /// The live file could not be read to its end.
    #[error("only a part of the program's buffers was read: {reason}")]
    LiveFile {
        /// Why.
        reason: String,
    },
}

fn of(thread: Option<ThreadId>) -> String {
    thread.map_or_else(String::new, |thread| format!(" of thread {thread}"))
}
