//! Places at which a serial run lets other threads go first: what the tool writes and the runtime follows if the
//! policy is `points`.
//!
//! ```text
//! file := MAGIC u64*
//! ```
//!
//! Everything is little-endian, so that the file can be mapped and used as it is. The numbers are addresses in the program's
//! file, in rising order: what an event says of where it is.

/// The variable that names the file.
pub const POINTS: &str = "DEADHEAT_POINTS";
/// The first eight bytes of the file.
pub const MAGIC: [u8; 8] = *b"DHPOINT1";
