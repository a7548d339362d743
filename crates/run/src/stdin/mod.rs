//! A program's standard input: kept with its recording, and given to it again.
//!
//! What is there decides what is done:
//!
//! | it is | while recording | when run again |
//! |---|---|---|
//! | a file | copied from where it stands | the copy |
//! | a pipe | passed through another one, and copied on the way | the copy, through a pipe |
//! | `/dev/null` | nothing | `/dev/null` |
//! | a terminal, or anything else | left alone | whatever is there then |
//!
//! A pipe is read ahead of the program by what a pipe holds and 64 KiB more: that much may be missing for
//! whoever reads the same pipe after it.

mod copy;
mod pump;

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use copy::Copy;
use pump::{CHUNK, Feeding, Pump};

/// What a program's standard input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `/dev/null`.
    Nothing,
    /// A regular file; a copy is kept.
    File,
    /// A pipe; a copy is kept of what came through it.
    Pipe,
    /// A terminal: nothing is kept.
    Terminal,
    /// Something else, or it could not be copied: nothing is kept.
    #[default]
    Other,
}

impl Kind {
    /// All of them with their names.
    const NAMES: [(Kind, &str); 5] = [
        (Kind::Nothing, "nothing"),
        (Kind::File, "file"),
        (Kind::Pipe, "pipe"),
        (Kind::Terminal, "terminal"),
        (Kind::Other, "other"),
    ];

    /// What this process has.
    pub fn own() -> Self {
        own_file().map_or(Kind::Other, |file| Self::of(&file))
    }

    fn of(file: &File) -> Self {
        let null = libc::makedev(1, 3);
        match file.metadata() {
            _ if file.is_terminal() => Kind::Terminal,
            Ok(data) if data.is_file() => Kind::File,
            Ok(data) if data.file_type().is_fifo() => Kind::Pipe,
            Ok(data) if data.file_type().is_char_device() && data.rdev() == null => Kind::Nothing,
            _ => Kind::Other,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(kind, _)| *kind == self);
        named.map_or("other", |(_, name)| name)
    }

    /// The inverse of [`Kind::name`]; what is not known is something else.
    pub fn named(name: &[u8]) -> Self {
        let named = Self::NAMES
            .iter()
            .find(|(_, known)| known.as_bytes() == name);
        named.map_or(Kind::Other, |(kind, _)| *kind)
    }
}

/// Where a program's standard input comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It is this process's own.
    Own,
    /// The same, and a copy goes into a file, if it is a file or a pipe.
    Kept {
        /// The copy.
        copy: PathBuf,
        /// What stays free on its disk: the option `--keep-free`.
        keep_free: Option<u64>,
    },
    /// What was kept of an earlier run, which was of this kind.
    Again(Kind, PathBuf),
}

/// What is done about a program's standard input while it runs.
pub struct Running {
    feeding: Option<Feeding>,
    kept: bool,
}

impl Source {
    /// What to start the program with. Nobody else here may have it once the program runs.
    pub fn begin(&self) -> io::Result<(Stdio, Running)> {
        let nothing_to_do = |kept| Running {
            feeding: None,
            kept,
        };
        let inherited = |kept| (Stdio::inherit(), nothing_to_do(kept));
        Ok(match self {
            Source::Own => inherited(true),
            Source::Kept { copy, keep_free } => {
                let begun = || create(copy).map(|file| Copy::new(file, *keep_free));
                match Kind::own() {
                    Kind::File => {
                        let from = own_file()?;
                        inherited(begun().and_then(|copy| copy_file(&from, copy)).is_ok())
                    }
                    Kind::Pipe => match begun() {
                        Ok(copy) => {
                            let (reader, pump) = Pump::new(own_file()?, Some(copy))?;
                            (reader.into(), pump.start()?.into())
                        }
                        Err(_) => inherited(false),
                    },
                    _ => inherited(true),
                }
            }
            Source::Again(kind, from) => match kind {
                Kind::Nothing => (Stdio::null(), nothing_to_do(true)),
                Kind::File => (File::open(from)?.into(), nothing_to_do(true)),
                Kind::Pipe => {
                    let (reader, mut pump) = Pump::new(File::open(from)?, None)?;
                    pump.fill()?;
                    (reader.into(), pump.start()?.into())
                }
                Kind::Terminal | Kind::Other => inherited(true),
            },
        })
    }
}

impl From<Feeding> for Running {
    fn from(feeding: Feeding) -> Self {
        Running {
            feeding: Some(feeding),
            kept: true,
        }
    }
}

impl Running {
    /// The program has ended; whether a copy that was wanted is complete.
    pub fn finish(self) -> bool {
        self.feeding.is_none_or(Feeding::stop) && self.kept
    }
}

/// This process's standard input, unbuffered.
fn own_file() -> io::Result<File> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// A new file that only its owner may read.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Copies what a reader of the file would still see; where it stands does not change.
fn copy_file(mut from: &File, mut copy: Copy) -> io::Result<()> {
    let mut at = from.stream_position()?;
    let mut buffer = vec![0; CHUNK];
    while copy.is_whole() {
        match from.read_at(&mut buffer, at) {
            Ok(0) => return Ok(()),
            Ok(got) => {
                copy.add(&buffer[..got]);
                at += got as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::BorrowedFd;

    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let (reader, writer) = io::pipe().unwrap();
        let file = |fd: BorrowedFd<'_>| File::from(fd.try_clone_to_owned().unwrap());
        assert_eq!(Kind::of(&file(reader.as_fd())), Kind::Pipe);
        assert_eq!(Kind::of(&file(writer.as_fd())), Kind::Pipe);
        assert_eq!(Kind::of(&tempfile::tempfile().unwrap()), Kind::File);
        assert_eq!(Kind::of(&File::open("/dev/null").unwrap()), Kind::Nothing);
        assert_eq!(Kind::of(&File::open("/dev/zero").unwrap()), Kind::Other);
        for (kind, name) in Kind::NAMES {
            assert_eq!((kind.name(), Kind::named(name.as_bytes())), (name, kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{name:?}"));
        }
    }

    #[test]
    fn a_file_is_copied_from_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before, after").unwrap();
        file.seek(io::SeekFrom::Start(8)).unwrap();
        let to = folder.path().join("copy");
        copy_file(&file, Copy::new(create(&to).unwrap(), None)).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"after");
        assert_eq!(file.stream_position().unwrap(), 8);
        assert_eq!(to.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(create(&to).is_err(), "nothing is overwritten");
        let no_room = Copy::new(
            create(&folder.path().join("other")).unwrap(),
            Some(u64::MAX),
        );
        assert!(copy_file(&file, no_room).is_err());
    }
}
