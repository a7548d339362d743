//! The bytes of a recording, as the runtime writes them and the reader reads them.
//!
//! This crate holds layouts only: no I/O, no allocation, no dependency, `no_std`. It is the one
//! piece of Deadheat that both the library inside the program under test and the tool outside
//! of it must agree on, which is why it stands alone.
//!
//! ```text
//! file   := FileHeader block*
//! block  := BlockHeader payload            (payload: a whole number of 8-byte words)
//! ```
//!
//! * An *events* block holds [`word`]s: in a parallel recording those of one thread, in a serial
//!   recording those of the whole program in the order in which they happened.
//! * A *meta* block holds [`meta`] records: modules, threads, names, notes.
//! * An *end* block says that the recording was closed in good order. Where it is missing the
//!   program was killed, or the disk was full.
//!
//! Everything is little-endian. Header and payload carry a checksum of their own, so that a
//! reader finds the next good block after damage. Any change of a layout raises [`VERSION`].
#![cfg_attr(not(test), no_std)]

mod block;
mod checksum;
pub mod explore;
pub mod inputs;
pub mod leave_out;
mod live;
pub mod meta;
mod op;
pub mod options;
pub mod plan;
pub mod points;
pub mod shared;
pub mod watch;
pub mod word;

pub use block::{BlockHeader, BlockKind, FileHeader};
pub use checksum::checksum;
pub use live::{LIVE_BUFFER, LIVE_MAGIC, LiveHeader, SLOT_BYTES};
pub use op::{Op, Order, TRIED};

/// The format's version: a reader refuses a file with a larger one. The second one has the operations
/// of attempts that were refused, the third one what threads got from the system, the sixth one can lack
/// accesses to memory that threads do not share.
pub const VERSION: u32 = 6;

/// The first eight bytes of every recording.
pub const FILE_MAGIC: [u8; 8] = *b"DEADHEAT";

/// The first four bytes of every block.
pub const BLOCK_MAGIC: [u8; 4] = *b"DHB1";

/// Payload size at which the runtime closes an events block.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// The largest payload that a reader accepts; larger ones are damage.
pub const MAX_BLOCK_BYTES: usize = 16 * 1024 * 1024;

/// In a serial recording, ranges (`memcpy` and the like) up to this many bytes carry their
/// contents; larger ones are recorded without.
pub const MAX_RANGE_VALUES: usize = 4096;

/// Why a recording was closed: every thread waits, or goes round in a loop that nothing will end.
pub const HANGS: &str = "all threads wait in loops";

/// Why a recording was closed: every thread waits, and only something outside could end that.
pub const OUTSIDE: &str = "waits for something outside";
/// Why a recording was closed: for long, threads have done nothing but wait in loops.
pub const ROUNDS: &str = "threads only wait in loops";

/// The remark in a recording of a program that takes a mutex that was destroyed.
pub const DESTROYED: &str =
    "a mutex was taken after it had been destroyed: that fails with EINVAL, and keeps nobody out";

/// What a search is told of how many wait at a barrier where nobody counts them.
pub const UNCOUNTED: u64 = u64::MAX;

/// The channel of all system calls that a program makes by itself and that may order threads or have
/// them wait, though it is not known how.
pub const UNSEEN_CALLS: usize = 4;
/// What a recording's remark on such a call begins with; the call's name follows.
pub const MAKES_UNSEEN_CALL: &str = "the program makes the system call ";

/// Channels in the kernel are objects with numbers below this, in the page that nothing lies in. They
/// are numbered as they are first used, which depends on the schedule.
pub const CHANNELS_END: usize = 4096;
/// The channels of signals, whose numbers are the same in every run.
pub const SIGNAL_CHANNELS: core::ops::Range<usize> = 28672..32768;
