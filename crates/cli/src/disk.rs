//! How much room there is on a disk.

use std::fs::File;
use std::os::fd::AsRawFd;

use deadheat_wire::options::left_free;

/// The disk that a file is on.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    bytes: u64,
    /// What may still be written there.
    pub free: u64,
}

impl Disk {
    /// That of this file, if the system knows.
    pub fn of(file: &File) -> Option<Self> {
        // SAFETY: all zeros is a value of this plain structure of numbers.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the file is open, and the structure is ours.
        let done = unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut found) };
        (done == 0 && found.f_blocks > 0).then(|| Disk {
            bytes: found.f_blocks.saturating_mul(found.f_frsize),
            free: found.f_bavail.saturating_mul(found.f_frsize),
        })
    }

    /// What a recording may have of it, with this as the option `--keep-free`.
    pub fn spare(self, keep_free: Option<u64>) -> u64 {
        self.free.saturating_sub(left_free(keep_free, self.bytes))
    }
}
