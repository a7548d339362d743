//! Which reports are meant, and what they say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_report::{Finding, json};
use deadheat_run::store::{Recording, Store, select};
use deadheat_session::error::{Error, Result};

/// A report, read.
pub struct Input {
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub findings: Vec<Finding>,
    /// The recording that it is about, if it lies with one.
    pub recording: Option<Recording>,
}

/// The reports that the user names; the latest that there is without a name.
pub fn read(wishes: &[OsString]) -> Result<Vec<Input>> {
    let store = Store::of_project()?;
    if wishes.is_empty() {
        let recordings = store.recordings().into_iter().rev();
        let mut with_report = recordings.filter(|recording| recording.report().is_file());
        let latest = with_report.next().ok_or_else(|| none(&store))?;
        return Ok(vec![of_recording(latest)?]);
    }
    wishes.iter().map(|wish| one(&store, wish)).collect()
}

fn one(store: &Store, wish: &OsString) -> Result<Input> {
    if let Some(recording) = select::by_number(store, wish)? {
        return of_recording(recording);
    }
    let path = Path::new(wish);
    if !path.exists() {
        let what = format!("no report {}", path.display());
        return Err(Error::usage(what)
            .help("give the number of a recording, or a file that --format json has written"));
    }
    // A folder, or a file in the folder of a recording, is that recording's.
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    };
    let mut recordings = store.recordings().into_iter();
    let recording = recordings.find(|recording| same_file(&recording.folder, folder));
    match (path.is_dir(), recording) {
        (true, Some(recording)) => of_recording(recording),
        (true, None) => Err(Error::usage(format!(
            "{} is a folder, and no recording",
            path.display()
        ))
        .help("`deadheat ls` lists the recordings of this project")),
        (false, recording) => Ok(Input {
            findings: findings(path)?,
            path: path.to_owned(),
            recording,
        }),
    }
}

fn of_recording(recording: Recording) -> Result<Input> {
    let path = recording.report();
    if !path.is_file() {
        let number = recording.number;
        return Err(Error::usage(format!(
            "nobody has looked for findings in recording {number}"
        ))
        .help(format!("look for them: deadheat predict {number}")));
    }
    Ok(Input {
        findings: findings(&path)?,
        path,
        recording: Some(recording),
    })
}

fn same_file(a: &Path, b: &Path) -> bool {
    let b = match b.as_os_str().is_empty() {
        true => Path::new("."),
        false => b,
    };
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn none(store: &Store) -> Error {
    let folder = store.folder().display();
    Error::usage(format!("no recording in {folder} has a report"))
        .help("make one: deadheat check prog.c, or deadheat predict for a recording")
        .help("or name a file that --format json has written")
}

/// What a report's file says.
pub fn findings(path: &Path) -> Result<Vec<Finding>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
    json::findings(&text).map_err(|error| {
        let refused = Error::usage(format!("{shown} is no report that can be read: {error}"));
        match error {
            json::ReadError::Malformed(_) | json::ReadError::NoReport => {
                refused.help("reports are written by --format json, for instance of deadheat check")
            }
            json::ReadError::OtherVersion(_) => {
                refused.help("make the report again, or use the Deadheat that has written it")
            }
        }
    })
}
