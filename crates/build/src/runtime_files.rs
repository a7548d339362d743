//! The runtime that programs are linked with: carried inside this executable and unpacked into
//! the cache when it is first needed.
//!
//! The folder's name has the contents' hash in it, so versions live side by side and a finished
//! folder never changes. It appears in one step, by renaming.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_session::error::{Error, Result};

use crate::cache;

const OBJECT: &[u8] = include_bytes!(env!("DEADHEAT_RUNTIME_OBJECT"));
const SHARED: &[u8] = include_bytes!(env!("DEADHEAT_RUNTIME_SHARED"));
const EXPORTS: &[u8] = include_bytes!(env!("DEADHEAT_RUNTIME_EXPORTS"));

/// A name for the runtime that is carried: of what it holds.
pub const HASH: &str = env!("DEADHEAT_RUNTIME_HASH");

const OBJECT_NAME: &str = "deadheat_runtime.o";
const SHARED_NAME: &str = "libdeadheat_runtime.so";
const EXPORTS_NAME: &str = "exports.list";

/// The names under which gcc's runtime is loaded by programs that were linked with it.
const TSAN_NAMES: [&str; 3] = ["libtsan.so.0", "libtsan.so.1", "libtsan.so.2"];

/// Whether the runtime stands in for the function of this name, or has it for compilers to call.
pub fn is_stand_in(name: &str) -> bool {
    let exported = str::from_utf8(EXPORTS).unwrap_or_default().lines();
    let mut names = exported.map(|line| line.trim().trim_end_matches(';'));
    names.any(|exported| exported == name)
}

/// The unpacked runtime.
#[derive(Clone, Debug)]
pub struct RuntimeFiles {
    folder: PathBuf,
}

impl RuntimeFiles {
    /// Unpacks the runtime, unless it is there already.
    pub fn extract() -> Result<Self> {
        Self::extract_into(&cache::root()?)
    }

    fn extract_into(cache: &Path) -> Result<Self> {
        let name = concat!("runtime-", env!("DEADHEAT_RUNTIME_HASH"));
        let folder = cache.join(name);
        if !folder.is_dir() {
            let fresh = cache.join(format!("{name}.{}", unique()));
            let made = fill(&fresh).and_then(|()| match std::fs::rename(&fresh, &folder) {
                Err(_) if folder.is_dir() => std::fs::remove_dir_all(&fresh), // someone was faster
                outcome => outcome,
            });
            if let Err(error) = made {
                let _ = std::fs::remove_dir_all(&fresh);
                return Err(cache::not_writable(&folder, &error));
            }
        }
        let files = RuntimeFiles { folder };
        files.complete()?;
        Ok(files)
    }

    /// The object that executables are linked with.
    pub fn object(&self) -> PathBuf {
        self.folder.join(OBJECT_NAME)
    }

    /// The list of symbols that executables export.
    pub fn exports(&self) -> PathBuf {
        self.folder.join(EXPORTS_NAME)
    }

    /// A folder with the shared library under the names of gcc's own runtime.
    pub fn libraries(&self) -> &Path {
        &self.folder
    }

    fn complete(&self) -> Result<()> {
        let expected = [
            (OBJECT_NAME, OBJECT),
            (SHARED_NAME, SHARED),
            (EXPORTS_NAME, EXPORTS),
        ];
        for (name, contents) in expected {
            let path = self.folder.join(name);
            let size = path.metadata().map(|data| data.len());
            if !size.is_ok_and(|size| size == contents.len() as u64) {
                return Err(Error::not_started(format!(
                    "the runtime is damaged: {}",
                    path.display()
                ))
                .help(format!("delete {} and try again", self.folder.display())));
            }
        }
        Ok(())
    }
}

/// A name that no other thread of any process uses now.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{count}", std::process::id())
}

fn fill(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(OBJECT_NAME), OBJECT)?;
    std::fs::write(folder.join(SHARED_NAME), SHARED)?;
    std::fs::write(folder.join(EXPORTS_NAME), EXPORTS)?;
    for name in TSAN_NAMES {
        symlink(SHARED_NAME, folder.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_unpacked_once_and_damage_is_found() {
        let cache = tempfile::tempdir().unwrap();
        let files = RuntimeFiles::extract_into(cache.path()).unwrap();
        assert_eq!(std::fs::read(files.object()).unwrap(), OBJECT);
        assert!(files.libraries().join("libtsan.so.2").exists());
        let before = files.object().metadata().unwrap().modified().unwrap();
        RuntimeFiles::extract_into(cache.path()).unwrap();
        let after = files.object().metadata().unwrap().modified().unwrap();
        assert_eq!(before, after);

        std::fs::write(files.exports(), "x").unwrap();
        let error = RuntimeFiles::extract_into(cache.path()).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }

    /// Deadheat looks at this test itself (`tests/itself.rs`).
    #[test]
    fn many_side_by_side_agree() {
        let cache = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| RuntimeFiles::extract_into(cache.path()).unwrap());
            }
        });
    }
}
