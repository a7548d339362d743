//! How much a recording may still take: what the user allows, what the system allows, and what others on the
//! disk need.
//!
//! Nothing of this is on a hook's path: it is asked once for each block, and once for each buffer. The disk
//! itself is looked at less often: seldom while there is much room, for every block when there is little.

use core::sync::atomic::{AtomicU64, Ordering};

use deadheat_wire::options::left_free;

use super::Stop;
use crate::options;
use crate::sys;

/// What may be written between two looks at the disk, at the most: others write to it, too.
const MOST_UNSEEN: u64 = 64 << 20;
/// Kept for the block that says why the recording stopped.
pub const LAST_BYTES: u64 = 512;

/// How large files may be in this process (`ulimit -f`), less the last bytes: a write beyond would not
/// just fail, its signal would end the program.
static LARGEST_FILE: AtomicU64 = AtomicU64::new(u64::MAX);
/// How much the trace and its live file may take together.
static ALLOWED: AtomicU64 = AtomicU64::new(u64::MAX);
/// How much the trace takes.
static WRITTEN: AtomicU64 = AtomicU64::new(0);
/// How much the trace and its live file take together.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// How much they take when the disk is looked at again.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);

/// A trace begins, with so many bytes.
pub fn begin(bytes: u64) {
    let allowed = match options::MAX_SIZE.get() {
        0 => u64::MAX,
        bytes => bytes.saturating_sub(LAST_BYTES),
    };
    ALLOWED.store(allowed, Ordering::Relaxed);
    let largest_file = largest_file().saturating_sub(LAST_BYTES);
    LARGEST_FILE.store(largest_file, Ordering::Relaxed);
    WRITTEN.store(bytes, Ordering::Relaxed);
    TAKEN.store(bytes, Ordering::Relaxed);
    let next_look = match options::KEEP_FREE.given() {
        Some(0) => u64::MAX, // Writing will tell.
        _ => 0,
    };
    NEXT_LOOK.store(next_look, Ordering::Relaxed);
}

/// Takes the room for a block of this size at the end of the trace.
pub fn take_block(trace: i32, bytes: u64) -> Result<(), Stop> {
    let end = WRITTEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if end > LARGEST_FILE.load(Ordering::Relaxed) {
        return Err(Stop::Refused(-(libc::EFBIG as isize)));
    }
    take(trace, bytes)
}

/// Takes the room for a slot of this size that ends there in the live file.
pub fn take_slot(live: i32, bytes: u64, end: u64) -> Result<(), Stop> {
    if end > LARGEST_FILE.load(Ordering::Relaxed) {
        return Err(Stop::Refused(-(libc::EFBIG as isize)));
    }
    take(live, bytes)
}

fn take(file: i32, bytes: u64) -> Result<(), Stop> {
    let taken = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if taken > ALLOWED.load(Ordering::Relaxed) {
        return Err(Stop::Size);
    }
    if taken <= NEXT_LOOK.load(Ordering::Relaxed) {
        return Ok(());
    }
    let spare = match disk(file) {
        Some(disk) => disk.spare().checked_sub(bytes).ok_or(Stop::Space)?,
        None => u64::MAX,
    };
    let next_look = taken + (spare / 2).min(MOST_UNSEEN);
    NEXT_LOOK.store(next_look, Ordering::Relaxed);
    Ok(())
}

/// A file system.
#[derive(Clone, Copy, Debug)]
struct Disk {
    /// How large it is.
    bytes: u64,
    /// How much of it is free.
    free: u64,
}

impl Disk {
    /// How much of it a recording may have.
    fn spare(self) -> u64 {
        let left_free = left_free(options::KEEP_FREE.given(), self.bytes);
        self.free.saturating_sub(left_free)
    }
}

/// The file system that a file is on; nothing if it does not know its own size.
fn disk(file: i32) -> Option<Disk> {
    // SAFETY: a plain structure of numbers, for which zeros are fine.
    let mut about: libc::statfs = unsafe { core::mem::zeroed() };
    let place = &raw mut about as usize;
    let known = sys::call(libc::SYS_fstatfs, [file as usize, place, 0, 0, 0, 0]);
    let block = match about.f_frsize {
        0 => about.f_bsize as u64,
        size => size as u64,
    };
    (known == 0 && about.f_blocks > 0).then(|| Disk {
        bytes: about.f_blocks.saturating_mul(block),
        free: about.f_bavail.saturating_mul(block),
    })
}

fn largest_file() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let place = &raw mut limit as usize;
    let known = sys::call(
        libc::SYS_getrlimit,
        [libc::RLIMIT_FSIZE as usize, place, 0, 0, 0, 0],
    );
    if known == 0 { limit.rlim_cur } else { u64::MAX }
}
