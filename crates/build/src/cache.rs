//! Where files are kept that belong to Deadheat and not to a project.
//!
//! `$DEADHEAT_CACHE`, else `$XDG_CACHE_HOME/deadheat`, else `~/.cache/deadheat`. Everything in
//! it can be deleted at any time when no build is running.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use deadheat_session::error::{Error, Result};

/// A folder of this name in the cache; it is made if it is not there.
pub fn folder(name: &str) -> Result<PathBuf> {
    let folder = root()?.join(name);
    std::fs::create_dir_all(&folder).map_err(|error| not_writable(&folder, &error))?;
    Ok(folder)
}

/// The cache itself; it need not exist.
pub fn root() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    choose(set("DEADHEAT_CACHE"), set("XDG_CACHE_HOME"), set("HOME"))
        .and_then(|path| std::path::absolute(&path).map_err(|error| not_writable(&path, &error)))
}

fn choose(own: Option<OsString>, xdg: Option<OsString>, home: Option<OsString>) -> Result<PathBuf> {
    match (own, xdg, home) {
        (Some(own), ..) => Ok(own.into()),
        (None, Some(xdg), _) => Ok(Path::new(&xdg).join("deadheat")),
        (None, None, Some(home)) => Ok(Path::new(&home).join(".cache/deadheat")),
        (None, None, None) => Err(Error::not_started(
            "no place to keep the runtime: neither DEADHEAT_CACHE nor HOME is set",
        )
        .help("set DEADHEAT_CACHE to a folder that can be written to")),
    }
}

/// The failure to write there.
pub fn not_writable(path: &Path, error: &io::Error) -> Error {
    Error::not_started(format!("cannot write {}: {error}", path.display()))
        .help("set DEADHEAT_CACHE to a folder that can be written to")
}

/// A number for a name (FNV-1a): the same in every run and version.
pub fn hash(name: &OsStr) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_wins() {
        let some = |text: &str| Some(OsString::from(text));
        let path = |own, xdg, home| choose(own, xdg, home).unwrap();
        assert_eq!(path(some("/o"), some("/x"), some("/h")), Path::new("/o"));
        assert_eq!(path(None, some("/x"), some("/h")), Path::new("/x/deadheat"));
        assert_eq!(
            path(None, None, some("/h")),
            Path::new("/h/.cache/deadheat")
        );
        assert!(choose(None, None, None).is_err());
    }
}
