//! The copy of a program's standard input that is kept with its recording.

use std::fs::File;
use std::io::Write;

use crate::disk::Disk;

/// A copy that is being made.
pub struct Copy {
    file: File,
    keep_free: Option<u64>,
    is_whole: bool,
}

impl Copy {
    /// An empty one. So much stays free on its disk: the option `--keep-free`.
    pub fn new(file: File, keep_free: Option<u64>) -> Self {
        Copy {
            file,
            keep_free,
            is_whole: true,
        }
    }

    /// Adds what was read. If there is no room for it, the copy is given up and takes none: with a gap it is of no use.
    pub fn add(&mut self, chunk: &[u8]) {
        if self.is_whole && !(self.has_room(chunk) && self.file.write_all(chunk).is_ok()) {
            self.is_whole = false;
            // At worst it stays until the recording is deleted.
            let _ = self.file.set_len(0);
        }
    }

    /// Whether nothing is missing from it.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn has_room(&self, chunk: &[u8]) -> bool {
        let disk = Disk::of(&self.file);
        disk.is_none_or(|disk| disk.spare(self.keep_free) >= chunk.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_without_room_is_given_up() {
        let file = tempfile::tempfile().unwrap();
        let mut copy = Copy::new(file.try_clone().unwrap(), Some(0));
        copy.add(b"some");
        assert!(copy.is_whole());
        assert_eq!(file.metadata().unwrap().len(), 4);
        copy.keep_free = Some(u64::MAX);
        copy.add(b"more");
        assert!(!copy.is_whole());
        assert_eq!(file.metadata().unwrap().len(), 0);
        copy.keep_free = Some(0);
        copy.add(b"the rest");
        assert!(!copy.is_whole(), "what follows a gap does not mend it");
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
