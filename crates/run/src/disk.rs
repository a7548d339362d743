//! How much room there is on a disk, and how much of it a command may have in all.
//!
//! Every run that a command starts may write a trace. Together with its temporary files they have one
//! limit (`--max-size`): each run is told how much of that is left.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deadheat_session::scratch;
use deadheat_wire::options::{MAX_SIZE, left_free};

use crate::launch;

/// Where this command's runs have written, or are about to: their traces.
static TRACES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// So much is left to every run: a trace that has less says nothing.
const LEAST: u64 = 1 << 16;

/// How much a command may write with these options of the runtime's; `None`: as much as there is room for.
fn limit(options: &str) -> Option<u64> {
    let given = launch::option(options, MAX_SIZE.name).and_then(|bytes| bytes.parse().ok());
    Some(given.unwrap_or(MAX_SIZE.default)).filter(|bytes| *bytes != 0)
}

/// What a command has written so far, and not removed.
fn used(traces: &[PathBuf]) -> u64 {
    let beside = traces.iter().map(|trace| {
        let (folder, name) = (trace.parent(), trace.file_name().unwrap_or_default());
        let entries = folder.and_then(|folder| folder.read_dir().ok());
        let entries = entries.into_iter().flatten().flatten();
        let name = name.to_string_lossy().into_owned();
        let of_trace = entries.filter(move |entry| {
            let other = entry.file_name();
            other.to_string_lossy().starts_with(&name)
        });
        of_trace.map(|entry| size_of(&entry.path())).sum::<u64>()
    });
    beside.sum()
}

fn size_of(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).map_or(0, |it| it.blocks() * 512)
}

/// A run is about to write a trace: its options, with what is left of what the command may have.
pub fn share(trace: &Path, options: &str) -> Option<String> {
    let limit = limit(options)?;
    let mut traces = TRACES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if !traces.iter().any(|known| known == trace) {
        traces.retain(|known| known.exists());
        traces.push(trace.to_owned());
    }
    // What a trace replaces is no more.
    let others: Vec<PathBuf> = traces.iter().filter(|one| *one != trace).cloned().collect();
    let used = used(&others) + scratch::bytes();
    let left = limit.saturating_sub(used).max(LEAST);
    (left < limit).then(|| format!("{options}:{}={left}", MAX_SIZE.name))
}

/// Whether a command has written all that it may, as far as another run would show nothing.
pub fn is_full(options: &str) -> bool {
    let traces = TRACES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    limit(options).is_some_and(|limit| used(&traces) + scratch::bytes() + LEAST >= limit)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_a_trace_counts_and_other_traces_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace.dht");
        for (name, bytes) in [
            ("trace.dht", 10_000),
            ("trace.dht.live", 5000),
            ("other", 70_000),
        ] {
            std::fs::write(folder.path().join(name), vec![1; bytes]).unwrap();
        }
        let used = used(&[trace, folder.path().join("none/trace.dht")]);
        assert!((15_000..40_000).contains(&used), "{used}");
    }

    #[test]
    fn the_last_limit_that_was_given_counts() {
        assert_eq!(limit("mode=serial"), Some(2 << 30));
        assert_eq!(limit("max_size=7:max_size=9"), Some(9));
        assert_eq!(limit("max_size=0"), None);
    }

    #[test]
    fn every_run_gets_what_others_have_left() {
        let folder = tempfile::tempdir().unwrap();
        let trace = |name: &str| folder.path().join(name).join("trace.dht");
        for name in ["one", "other"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let options = "max_size=100000000000";
        let left = |name| {
            let shared = share(&trace(name), options);
            let text = shared.unwrap_or(options.to_owned());
            launch::option(&text, "max_size")
                .unwrap()
                .parse::<u64>()
                .unwrap()
        };
        let before = left("one");
        std::fs::write(trace("one"), vec![1; 1 << 20]).unwrap();
        assert!(left("other") + (1 << 20) <= before);
        assert!(left("one") > before - (1 << 20), "it is replaced");
    }
}
