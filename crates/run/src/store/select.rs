//! Which trace the user means: `latest`, a number, a folder or a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use deadheat_session::error::{Error, Result};

use super::{Recording, Store};

/// The trace that `wish` names; without one, the latest.
pub fn trace(store: &Store, wish: Option<&OsStr>) -> Result<PathBuf> {
    let wish = wish.unwrap_or(OsStr::new("latest"));
    if let Some(recording) = by_number(store, wish)? {
        return first_trace(&recording.folder, &recording.trace());
    }
    let path = Path::new(wish);
    if path.is_dir() {
        return first_trace(path, &path.join(super::TRACE));
    }
    if path.exists() {
        return Ok(path.to_owned());
    }
    Err(Error::usage(format!("no trace {}", path.display()))
        .help("give a number from `deadheat ls`, `latest`, or the path of a trace"))
}

/// The recording that `wish` names by number or as `latest`; `None` if it is a path.
pub fn by_number(store: &Store, wish: &OsStr) -> Result<Option<Recording>> {
    let recordings = store.recordings();
    if wish == "latest" {
        return recordings
            .last()
            .cloned()
            .map(Some)
            .ok_or_else(|| none(store));
    }
    let Some(number) = wish.to_str().and_then(|text| text.parse::<u32>().ok()) else {
        return Ok(None);
    };
    match recordings
        .iter()
        .find(|recording| recording.number == number)
    {
        Some(recording) => Ok(Some(recording.clone())),
        None if recordings.is_empty() => Err(none(store)),
        None => Err(Error::usage(format!(
            "no recording {number} in {}",
            store.folder().display()
        ))
        .help(
            "`deadheat ls` lists those that there are; a file of that name is ./{number}"
                .replace("{number}", &number.to_string()),
        )),
    }
}

fn none(store: &Store) -> Error {
    Error::usage(format!("no recordings in {}", store.folder().display()))
        .help("make one: deadheat record -- ./prog")
        .help("or name a trace by its path")
}

fn first_trace(folder: &Path, own: &Path) -> Result<PathBuf> {
    super::traces_beside(own).into_iter().next().ok_or_else(|| {
        Error::usage(format!("there is no trace in {}", folder.display()))
            .help("the program may have ended before it recorded anything: record it again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(top: &Path) -> Store {
        Store::choose(Some(top.into()), top)
    }

    #[test]
    fn numbers_latest_folders_and_files() {
        let top = tempfile::tempdir().unwrap();
        let store = store(top.path());
        for _ in 0..3 {
            std::fs::write(store.add().unwrap().trace(), "").unwrap();
        }
        let chosen = |wish: &str| trace(&store, Some(OsStr::new(wish))).unwrap();
        assert!(trace(&store, None).unwrap().ends_with("000003/trace.dht"));
        assert!(chosen("latest").ends_with("000003/trace.dht"));
        assert!(chosen("2").ends_with("000002/trace.dht"));
        assert!(chosen("000002").ends_with("000002/trace.dht"));
        let folder = store.recordings()[0].folder.clone();
        assert_eq!(chosen(folder.to_str().unwrap()), folder.join("trace.dht"));
        let file = folder.join("trace.dht");
        assert_eq!(chosen(file.to_str().unwrap()), file);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let top = tempfile::tempdir().unwrap();
        let store = store(top.path());
        let refused = |wish: &str| {
            trace(&store, Some(OsStr::new(wish)))
                .unwrap_err()
                .to_string()
        };
        assert!(refused("latest").starts_with("no recordings in"));
        assert!(refused("7").starts_with("no recordings in"));
        assert!(refused("nonsense").starts_with("no trace nonsense"));
        store.add().unwrap();
        assert!(refused("7").starts_with("no recording 7 in"));
        assert!(refused("1").starts_with("there is no trace in"));
    }
}
