//! Passes a program's standard input on to it through a pipe.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::thread::JoinHandle;

use super::copy::Copy;

/// The thread that passes input on, and what it is stopped with.
pub struct Feeding {
    thread: JoinHandle<bool>,
    stop: PipeWriter,
}

impl Feeding {
    /// Stops it, for the program has ended; whether a copy that was wanted is complete.
    pub fn stop(self) -> bool {
        drop(self.stop);
        self.thread.join().unwrap_or(false)
    }
}

/// Passes input on to a program.
pub struct Pump {
    from: File,
    to: PipeWriter,
    copy: Option<Copy>,
}

/// The most that is read at once.
pub const CHUNK: usize = 64 * 1024;

impl Pump {
    /// A pump and the end for the program.
    pub fn new(from: File, copy: Option<Copy>) -> io::Result<(PipeReader, Self)> {
        let (reader, to) = io::pipe()?;
        // SAFETY: no pointers; the flag belongs to the writing end alone, which is ours alone.
        if unsafe { libc::fcntl(to.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((reader, Pump { from, to, copy }))
    }

    /// Passes on from a file what fits, before the program starts: what it reads first does not depend
    /// on luck.
    pub fn fill(&mut self) -> io::Result<()> {
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

    /// Starts to pass on.
    pub fn start(self) -> io::Result<Feeding> {
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
                copy.add(chunk);
            }
            if !self.pass(chunk, stopped) {
                break;
            }
        }
        self.copy.is_none_or(|copy| copy.is_whole())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A pump from a pipe, the ends that a producer and a program would have, and the copy.
    fn pump() -> (PipeWriter, PipeReader, Feeding, File) {
        let (from, producer) = io::pipe().unwrap();
        let from = File::from(from.as_fd().try_clone_to_owned().unwrap());
        let copy = tempfile::tempfile().unwrap();
        let (program, pump) =
            Pump::new(from, Some(Copy::new(copy.try_clone().unwrap(), None))).unwrap();
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

    /// Deadheat looks at this test itself (`tests/itself.rs`), so it is small.
    #[test]
    fn it_works_side_by_side_with_both_ends() {
        let (mut producer, mut program, feeding, mut copy) = pump();
        let sent = [b"a".repeat(CHUNK), b"b".repeat(CHUNK), b"c".repeat(CHUNK)].concat();
        let got = std::thread::scope(|scope| {
            scope.spawn(|| {
                for part in sent.chunks(CHUNK / 2) {
                    producer.write_all(part).unwrap();
                }
            });
            let mut got = vec![0; sent.len()];
            program.read_exact(&mut got).unwrap();
            got
        });
        assert!(got == sent);
        assert!(feeding.stop(), "nothing is missing from the copy");
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
