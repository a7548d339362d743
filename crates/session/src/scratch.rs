//! Folders for what a command needs only while it runs: schedules, traces of replays, boards.
//!
//! A command has one on disk and one in memory, made when they are first asked for, and removed when
//! it ends, by a signal too. What a killed command has left the next one removes: whoever uses a
//! folder holds a lock on a file in it, so one that can be locked is nobody's.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How their names begin.
const PREFIX: &str = "deadheat-run-";
const LOCK: &str = "lock";

/// A folder that is in use.
struct Scratch {
    path: PathBuf,
    /// For a handler of signals, which may not allocate.
    name: CString,
    _lock: File,
}

static DISK: OnceLock<Option<Scratch>> = OnceLock::new();
static MEMORY: OnceLock<Option<Scratch>> = OnceLock::new();

/// The command's folder for temporary files.
pub fn on_disk() -> PathBuf {
    let made = DISK.get_or_init(|| make(&std::env::temp_dir()).ok());
    made.as_ref()
        .map_or_else(std::env::temp_dir, |scratch| scratch.path.clone())
}

/// The same in memory, where the system has such a place.
pub fn in_memory() -> Option<PathBuf> {
    let made = MEMORY.get_or_init(|| make(Path::new("/dev/shm")).ok());
    made.as_ref().map(|scratch| scratch.path.clone())
}

/// What lies in the one on disk.
pub fn bytes() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Some(Some(scratch)) = DISK.get() else {
        return 0;
    };
    let mut folders = vec![scratch.path.clone()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        for (path, known) in entries.filter_map(|it| Some((it.path(), it.metadata().ok()?))) {
            match known.is_dir() {
                true => folders.push(path),
                false => bytes += known.blocks() * 512,
            }
        }
    }
    bytes
}

/// Removes both; call it when the command ends.
pub fn end() {
    for scratch in in_use() {
        let _ = std::fs::remove_dir_all(&scratch.path);
    }
}

fn in_use() -> impl Iterator<Item = &'static Scratch> {
    let made = [&DISK, &MEMORY];
    made.into_iter().filter_map(|one| one.get()?.as_ref())
}

/// Removes both from a handler of signals, just before the process ends.
pub fn end_in_handler() {
    for scratch in in_use() {
        let arguments = [
            c"rm".as_ptr(),
            c"-rf".as_ptr(),
            c"--".as_ptr(),
            scratch.name.as_ptr(),
            std::ptr::null(),
        ];
        // SAFETY: `fork`, `execv` and `_exit` are async-signal-safe; all strings are constants or
        // live for ever, and nothing is allocated. The child does nothing but become `rm`.
        unsafe {
            if libc::fork() == 0 {
                libc::execv(c"/bin/rm".as_ptr(), arguments.as_ptr());
                libc::_exit(127);
            }
        }
    }
}

fn make(place: &Path) -> io::Result<Scratch> {
    remove_left(place);
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
    // It has its name only once it is locked: others may look at any time.
    let unlocked = folder.path().join("new");
    let lock = File::create(&unlocked)?;
    if !try_lock(&lock) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    std::fs::rename(&unlocked, folder.path().join(LOCK))?;
    let path = folder.keep();
    let name = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    Ok(Scratch {
        path,
        name,
        _lock: lock,
    })
}

/// Removes what killed commands have left. One without a lock's file is about to get it.
fn remove_left(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        if !entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        // A link would lead elsewhere.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder
            && let Ok(lock) = File::open(entry.path().join(LOCK))
            && try_lock(&lock)
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn try_lock(file: &File) -> bool {
    // SAFETY: the descriptor is open as long as `file` lives; no memory is involved.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_made_side_by_side_stay() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let used = make(place.path()).unwrap();
                        assert!(used.path.join(LOCK).is_file());
                    }
                });
            }
        });
    }

    #[test]
    fn what_nobody_uses_is_removed_and_the_rest_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = make(place.path()).unwrap();
        // Dropped at once, and its lock with it.
        let left = make(place.path()).unwrap().path.clone();
        let new = place.path().join(format!("{PREFIX}new"));
        std::fs::create_dir(&new).unwrap();
        let other = place.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join(LOCK), "").unwrap();
        remove_left(place.path());
        assert!(used.path.is_dir(), "it is in use");
        assert!(!left.exists(), "whoever used it is gone");
        assert!(new.is_dir() && other.is_dir());
    }
}
