//! Accesses that a serial recording leaves out: what the tool writes and the runtime follows.
//!
//! ```text
//! file := MAGIC u64*
//! ```
//!
//! Everything is little-endian, so that the file can be mapped and used as it is. The numbers are addresses in the program's file, in rising order: where calls
//! of hooks return to. What such a call announces is not recorded, and nothing is scheduled there.

/// The variable that names the file.
pub const LEAVE_OUT: &str = "DEADHEAT_LEAVE_OUT";
/// The first eight bytes of the file.
pub const MAGIC: [u8; 8] = *b"DHLEAVE1";
