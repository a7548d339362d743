//! Where a project's recordings are kept: `.deadheat` in the project's folder.
//!
//! ```text
//! .deadheat/.gitignore                      keeps all of it out of version control
//! .deadheat/recordings/000001/trace.dht             the trace
//! .deadheat/recordings/000001/trace.dht.77          that of another process that the program started
//! .deadheat/recordings/000001/trace.dht.invocation  how the program was started
//! .deadheat/recordings/000001/trace.dht.stdin       its standard input
//! .deadheat/recordings/000001/trace.dht.inputs      what its threads got from the system, once it was run again
//! .deadheat/recordings/000001/info.json             how it came about
//! .deadheat/recordings/000001/witness-1a2b3c4d.json a schedule that leads to a finding
//! .deadheat/recordings/000001/report.json           what was found in it last, warnings included, as `--format json` prints it
//! ```
//!
//! Recordings are numbered in the order of their making, with a fixed width: a path of another
//! length would move the stack of the program that gets it as a variable.

pub mod info;
pub mod invocation;
pub mod moment;
pub mod select;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use deadheat_session::error::{Error, Result};

use info::Info;

const FOLDER: &str = ".deadheat";
const RECORDINGS: &str = "recordings";
const TRACE: &str = "trace.dht";
const INFO: &str = "info.json";
const REPORT: &str = "report.json";

/// What the top folder of a project has in it.
const MARKS: [&str; 11] = [
    FOLDER,
    ".git",
    ".hg",
    "Cargo.toml",
    "CMakeLists.txt",
    "GNUmakefile",
    "Makefile",
    "makefile",
    "configure",
    "meson.build",
    "build.ninja",
];

/// The recordings of a project.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Its number.
    pub number: u32,
    /// Its folder.
    pub folder: PathBuf,
}

impl Store {
    /// That of the project in which the user stands: `$DEADHEAT_STORE`, or `.deadheat` in the
    /// nearest folder above that looks like a project's, or else in this one.
    pub fn of_project() -> Result<Self> {
        let here = std::env::current_dir()
            .map_err(|error| Error::usage(format!("the current folder cannot be read: {error}")))?;
        Ok(Self::choose(std::env::var_os("DEADHEAT_STORE"), &here))
    }

    /// That of the project in this folder: `$DEADHEAT_STORE`, or `.deadheat` in it.
    pub fn of_folder(project: &Path) -> Result<Self> {
        match std::env::var_os("DEADHEAT_STORE").filter(|set| !set.is_empty()) {
            Some(_) => Self::of_project(),
            None => Ok(Store {
                folder: project.join(FOLDER),
            }),
        }
    }

    fn choose(set: Option<OsString>, here: &Path) -> Self {
        if let Some(set) = set.filter(|set| !set.is_empty()) {
            return Store {
                folder: here.join(set),
            };
        }
        let is_project = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
        let project = here.ancestors().find(is_project).unwrap_or(here);
        Store {
            folder: project.join(FOLDER),
        }
    }

    /// A new, empty recording.
    pub fn add(&self) -> Result<Recording> {
        let recordings = self.folder.join(RECORDINGS);
        let refused = |error: io::Error| {
            Error::not_started(format!(
                "cannot keep recordings in {}: {error}",
                self.folder.display()
            ))
            .help("set DEADHEAT_STORE to a folder that can be written to")
        };
        std::fs::create_dir_all(&recordings).map_err(refused)?;
        let ignore = self.folder.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(refused)?;
        }
        let mut number = self.recordings().last().map_or(0, |last| last.number);
        loop {
            number += 1;
            let folder = recordings.join(format!("{number:06}"));
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(Recording { number, folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {} // someone else's
                Err(error) => return Err(refused(error)),
            }
        }
    }

    /// All recordings, by their numbers.
    pub fn recordings(&self) -> Vec<Recording> {
        let entries = self.folder.join(RECORDINGS).read_dir();
        let mut all: Vec<Recording> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let number = entry.file_name().to_str()?.parse().ok()?;
                let folder = entry.path();
                Some(Recording { number, folder })
            })
            .collect();
        all.sort_by_key(|recording| recording.number);
        all
    }

    /// The folder, for messages.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Recording {
    /// The recording of a store that a trace belongs to, if it does.
    pub fn of_trace(trace: &Path) -> Option<Self> {
        let folder = trace.parent()?;
        let number = folder.file_name()?.to_str()?.parse().ok()?;
        let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|file| file == name);
        let is_stored = is_named(trace, TRACE) && is_named(folder.parent()?, RECORDINGS);
        is_stored.then(|| Recording {
            number,
            folder: folder.to_owned(),
        })
    }

    /// Where the last report on it is, or will be.
    pub fn report(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// Keeps a report on it; the user is told if that is not possible.
    pub fn keep_report(&self, text: &str, remarks: &mut Vec<String>) {
        let path = self.report();
        if let Err(error) = std::fs::write(&path, text) {
            remarks.push(format!(
                "the report cannot be kept: {}: {error}",
                path.display()
            ));
        }
    }

    /// Where the program's own trace is, or will be.
    pub fn trace(&self) -> PathBuf {
        self.folder.join(TRACE)
    }

    /// The traces that are there: the program's own first, then those of other processes.
    pub fn traces(&self) -> Vec<PathBuf> {
        traces_beside(&self.trace())
    }

    /// How it came about, if that was written down.
    pub fn info(&self) -> Option<Info> {
        let text = std::fs::read_to_string(self.folder.join(INFO)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes down how it came about.
    pub fn describe(&self, info: &Info) -> Result<()> {
        let path = self.folder.join(INFO);
        let text = serde_json::to_string_pretty(info).expect("plain data has a JSON form");
        std::fs::write(&path, text + "\n").map_err(|error| {
            Error::not_started(format!("cannot write {}: {error}", path.display()))
        })
    }

    /// Deletes it.
    pub fn remove(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.folder).map_err(|error| {
            Error::usage(format!("cannot delete {}: {error}", self.folder.display()))
        })
    }
}

/// The trace at this path, if there is one, and those of other processes (`path.PID`).
pub fn traces_beside(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new("."));
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let other = entry.file_name();
        let process = other.to_str().and_then(|other| other.strip_prefix(&*name));
        if process.is_some_and(is_process_suffix) {
            found.push(entry.path());
        }
    }
    found.sort();
    found.splice(0..0, path.exists().then(|| path.to_owned()));
    found
}

fn is_process_suffix(text: &str) -> bool {
    text.strip_prefix('.')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_has_the_store() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        let deep = top.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(top.join("Makefile"), "").unwrap();
        assert_eq!(Store::choose(None, &deep).folder, top.join(".deadheat"));
        std::fs::write(top.join("a/CMakeLists.txt"), "").unwrap();
        assert_eq!(Store::choose(None, &deep).folder, top.join("a/.deadheat"));
        std::fs::create_dir(deep.join(".deadheat")).unwrap();
        assert_eq!(Store::choose(None, &deep).folder, deep.join(".deadheat"));
        let set = Store::choose(Some("elsewhere".into()), &deep);
        assert_eq!(set.folder, deep.join("elsewhere"));
    }

    #[test]
    fn recordings_are_numbered_and_gaps_are_not_filled() {
        let top = tempfile::tempdir().unwrap();
        let store = Store::choose(Some(top.path().join("s").into()), top.path());
        assert!(store.recordings().is_empty());
        let first = store.add().unwrap();
        let second = store.add().unwrap();
        assert_eq!((first.number, second.number), (1, 2));
        assert!(second.folder.ends_with("recordings/000002"));
        first.remove().unwrap();
        assert_eq!(store.add().unwrap().number, 3);
        assert_eq!(
            std::fs::read_to_string(store.folder().join(".gitignore")).unwrap(),
            "*\n"
        );
    }

    #[test]
    fn traces_of_other_processes_come_after() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("trace.dht");
        for name in [
            "trace.dht.90",
            "trace.dht",
            "trace.dht.100",
            "trace.dht.txt",
            "info.json",
        ] {
            std::fs::write(top.path().join(name), "").unwrap();
        }
        let names: Vec<_> = traces_beside(&path)
            .iter()
            .map(|path| path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["trace.dht", "trace.dht.100", "trace.dht.90"]);
    }

    /// Deadheat looks at this test itself (`tests/itself.rs`).
    #[test]
    fn many_side_by_side_get_different_numbers() {
        let top = tempfile::tempdir().unwrap();
        let store = Store::choose(Some(top.path().into()), top.path());
        let add = || store.add().unwrap().number;
        let mut numbers: Vec<u32> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(add)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_store_that_cannot_be_written_is_said() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("file"), "").unwrap();
        let store = Store::choose(Some(top.path().join("file").into()), top.path());
        let error = store.add().unwrap_err().to_string();
        assert!(error.contains("DEADHEAT_STORE"), "{error}");
    }
}
