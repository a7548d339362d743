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

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

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
    /// The same, and a copy goes into this file, if it is a file or a pipe.
    Kept(PathBuf),
    /// What was kept of an earlier run, which was of this kind.
    Again(Kind, PathBuf),
}

/// What is done about a program's standard input while it runs.
pub struct Running {
    feeding: Option<Feeding>,
    kept: bool,
}

/// The thread that passes input on, and what it is stopped with.
struct Feeding {
    thread: JoinHandle<bool>,
    stop: PipeWriter,
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
            Source::Kept(to) => match Kind::own() {
                Kind::File => inherited(copy_file(&own_file()?, to).is_ok()),
                Kind::Pipe => match create(to) {
                    Ok(copy) => {
                        let (reader, pump) = Pump::new(own_file()?, Some(copy))?;
                        (reader.into(), pump.start()?.into())
                    }
                    Err(_) => inherited(false),
                },
                _ => inherited(true),
            },
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
        let Some(Feeding { thread, stop }) = self.feeding else {
            return self.kept;
        };
        drop(stop);
        thread.join().unwrap_or(false) && self.kept
    }
}

/// Passes input on to a program.
struct Pump {
    from: File,
    to: PipeWriter,
    copy: Option<File>,
    /// Whether nothing is missing from the copy.
    kept: bool,
}

/// The most that is read at once.
const CHUNK: usize = 64 * 1024;

impl Pump {
    /// A pump and the end for the program.
    fn new(from: File, copy: Option<File>) -> io::Result<(PipeReader, Self)> {
        let (reader, to) = io::pipe()?;
        // SAFETY: no pointers; the flag belongs to the writing end alone, which is ours alone.
        if unsafe { libc::fcntl(to.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let pump = Pump {
            from,
            to,
            copy,
            kept: true,
        };
        Ok((reader, pump))
    }

    /// Passes on from a file what fits, before the program starts: what it reads first does not depend
    /// on luck.
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let got = self.from.read(&mut buffer)?;
            let sent = match self.to.write(&buffer[..got]) {
                Err(error) if is_passing(&error) => 0,
                sent => sent?,
            };
            if sent < got {
                self.from.seek_relative(sent as i64 - got as i64)?;
            }
            if got == 0 || sent < got {
                return Ok(());
            }
        }
    }

    fn start(self) -> io::Result<Feeding> {
        let (stopped, stop) = io::pipe()?;
        let thread = std::thread::Builder::new().spawn(move || self.run(&stopped))?;
        Ok(Feeding { thread, stop })
    }

    /// Passes everything on, until there is no more, nobody reads it, or the program has ended.
    fn run(mut self, stopped: &PipeReader) -> bool {
        block_signals();
        let mut buffer = vec![0; CHUNK];
        // Room first: so no more is read than the program might want.
        while self.has_room(stopped) && self.has_more(stopped) {
            let got = match self.from.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) if is_passing(&error) => continue,
                Err(_) => break,
            };
            let chunk = &buffer[..got];
            if let Some(copy) = &mut self.copy {
                self.kept &= copy.write_all(chunk).is_ok();
            }
            if !self.pass(chunk, stopped) {
                break;
            }
        }
        self.kept
    }

    fn pass(&mut self, mut chunk: &[u8], stopped: &PipeReader) -> bool {
        while !chunk.is_empty() {
            if !self.has_room(stopped) {
                return false;
            }
            match self.to.write(chunk) {
                Ok(wrote) => chunk = &chunk[wrote..],
                Err(error) if is_passing(&error) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Waits until something can be written; false if there is no point in it.
    fn has_room(&self, stopped: &PipeReader) -> bool {
        let [to, stop] = wait([(self.to.as_fd(), libc::POLLOUT), (stopped.as_fd(), 0)]);
        stop == 0 && to & (libc::POLLERR | libc::POLLNVAL) == 0
    }

    /// Waits until something can be read, if only the end; false if there is no point in it.
    fn has_more(&self, stopped: &PipeReader) -> bool {
        let from = (self.from.as_fd(), libc::POLLIN);
        let [_, to, stop] = wait([from, (self.to.as_fd(), 0), (stopped.as_fd(), 0)]);
        stop == 0 && to == 0
    }
}

/// Whether the same may go well at the next attempt.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Waits until one of these is ready; what each is.
fn wait<const N: usize>(files: [(BorrowedFd<'_>, i16); N]) -> [i16; N] {
    let mut polled = files.map(|(file, events)| libc::pollfd {
        fd: file.as_raw_fd(),
        events,
        revents: 0,
    });
    loop {
        // SAFETY: the array is there for the call, with this length, and its files are open.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, -1) };
        if ready >= 0 {
            return polled.map(|one| one.revents);
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return [libc::POLLNVAL; N];
        }
    }
}

/// Signals are for the thread that waits for the program; and a program that does not read on
/// is no reason to end.
fn block_signals() {
    // SAFETY: the set is filled in before it is used, and lives through the calls; only this thread's
    // mask changes.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
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
fn copy_file(mut from: &File, to: &Path) -> io::Result<()> {
    let mut at = from.stream_position()?;
    let mut copy = create(to)?;
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read_at(&mut buffer, at) {
            Ok(0) => return Ok(()),
            Ok(got) => {
                copy.write_all(&buffer[..got])?;
                at += got as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
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
        copy_file(&file, &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"after");
        assert_eq!(file.stream_position().unwrap(), 8);
        assert_eq!(to.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(copy_file(&file, &to).is_err(), "nothing is overwritten");
    }

    /// A pump from a pipe, the ends that a producer and a program would have, and the copy.
    fn pump() -> (PipeWriter, PipeReader, Feeding, File) {
        let (from, producer) = io::pipe().unwrap();
        let from = File::from(from.as_fd().try_clone_to_owned().unwrap());
        let copy = tempfile::tempfile().unwrap();
        let (program, pump) = Pump::new(from, Some(copy.try_clone().unwrap())).unwrap();
        (producer, program, pump.start().unwrap(), copy)
    }

    #[test]
    fn everything_passes_to_its_end_and_is_copied() {
        let (mut producer, mut program, feeding, mut copy) = pump();
        let sent: Vec<u8> = (0..1_000_000u32).flat_map(u32::to_le_bytes).collect();
        let got = std::thread::scope(|scope| {
            scope.spawn(|| {
                producer.write_all(&sent).unwrap();
                drop(producer);
            });
            let mut got = Vec::new();
            program.read_to_end(&mut got).unwrap();
            got
        });
        assert!(got == sent);
        assert!(feeding.thread.join().unwrap());
        let mut kept = Vec::new();
        copy.rewind().unwrap();
        copy.read_to_end(&mut kept).unwrap();
        assert!(kept == sent);
    }

    #[test]
    fn what_was_kept_is_there_from_the_start() {
        let sent: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        let mut from = tempfile::tempfile().unwrap();
        from.write_all(&sent).unwrap();
        from.rewind().unwrap();
        let (mut program, mut pump) = Pump::new(from, None).unwrap();
        pump.fill().unwrap();
        let mut got = vec![0; 50_000];
        let first = program.read(&mut got).unwrap();
        assert_eq!(first, got.len(), "as much as is asked for is there");
        let feeding = pump.start().unwrap();
        program.read_to_end(&mut got).unwrap();
        assert!(got == sent);
        assert!(feeding.thread.join().unwrap());
    }

    #[test]
    fn it_ends_with_the_program_whatever_it_waits_for() {
        // For input that never comes.
        let (producer, program, feeding, _copy) = pump();
        drop(feeding.stop);
        assert!(feeding.thread.join().unwrap());
        drop((producer, program));

        // For a reader that has gone.
        let (mut producer, program, feeding, _copy) = pump();
        drop(program);
        producer.write_all(b"nobody reads this").unwrap();
        assert!(feeding.thread.join().unwrap());
        drop(feeding.stop);

        // For a reader that never reads.
        let (mut producer, program, feeding, _copy) = pump();
        let filling = std::thread::spawn(move || {
            // Fails when the pump has gone.
            let _ = producer.write_all(&vec![0; 1 << 20]);
        });
        drop(feeding.stop);
        assert!(feeding.thread.join().unwrap());
        filling.join().unwrap();
        drop(program);
    }
}
