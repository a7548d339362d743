//! What can be wrong with a recording.

use std::path::PathBuf;

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
    /// Bytes between two good blocks, or after the last, that are no block.
    #[error("{bytes} bytes at offset {offset} are damaged or cut off; their events are lost")]
    Unreadable {
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// A block whose contents do not match its checksum.
    #[error("the block at offset {offset} ({bytes} bytes) is damaged; its events are lost")]
    Contents {
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Blocks of a stream that should be there.
    #[error("{blocks} block(s) of thread T{stream} are missing before its block {ordinal}")]
    Missing {
        /// The stream.
        stream: u32,
        /// The block behind the gap.
        ordinal: u32,
        /// How many are missing.
        blocks: u32,
    },
    /// The recording was not closed.
    #[error(
        "the recording was not closed: the program was killed, or the disk was full; \
         {salvaged} events were saved from its buffers"
    )]
    NotClosed {
        /// Records found in the live file.
        salvaged: u64,
    },
}
