//! The memory that is shared with the program: see [`deadheat_wire::explore`].

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use deadheat_wire::explore::{
    BYTES, Board, CALLS_AT, Call, MAGIC, MOST_CALLS, MOST_NOTED, MOST_THREADS, MOST_TURNS,
    NOTED_AT, Noted, OUTPUT, PLACES_AT, Place, TURNS_AT, Turn, VERSION, state,
};
use memmap2::{MmapOptions, MmapRaw};

/// A board.
pub struct Shared {
    map: MmapRaw,
    /// What runs print into.
    outputs: [File; 2],
    /// The file.
    pub path: PathBuf,
}

impl Shared {
    /// Makes one.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path)?;
        reserve(&file)?;
        let outputs = [0, 1].map(|which| {
            let mut name = path.as_os_str().to_owned();
            name.push(OUTPUT[which]);
            options.open(name)
        });
        let [output, errors] = outputs;
        let map = MmapOptions::new().map_raw(&file)?;
        let shared = Shared {
            map,
            outputs: [output?, errors?],
            path: path.to_path_buf(),
        };
        shared.set(Board {
            magic: MAGIC,
            version: VERSION,
            ..Board::default()
        });
        Ok(shared)
    }

    /// The head, as it is now.
    pub fn board(&self) -> Board {
        // SAFETY: mapped, aligned like a page, plain numbers.
        unsafe { self.map.as_ptr().cast::<Board>().read_volatile() }
    }

    /// Changes the head; nothing may run.
    pub fn set(&self, board: Board) {
        // SAFETY: as above; the map can be written.
        unsafe { self.map.as_mut_ptr().cast::<Board>().write_volatile(board) };
    }

    /// The word that says whose move it is.
    fn state(&self) -> &AtomicU32 {
        // SAFETY: within the mapping, aligned, and it lives as long as `self`.
        unsafe {
            let board: *mut Board = self.map.as_mut_ptr().cast();
            AtomicU32::from_ptr(&raw mut (*board).state)
        }
    }

    /// Whose move it is.
    pub fn now(&self) -> u32 {
        self.state().load(Ordering::Acquire)
    }

    /// Makes a move.
    pub fn go(&self, to: u32) {
        self.state().store(to, Ordering::Release);
        // SAFETY: wakes whoever sleeps at a word of ours.
        unsafe {
            let all = i32::MAX;
            libc::syscall(
                libc::SYS_futex,
                self.state().as_ptr(),
                libc::FUTEX_WAKE,
                all,
            )
        };
    }

    /// Waits until the state is another than `known`, or for so long.
    pub fn wait(&self, known: u32, most: Duration) {
        let limit = libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(most.subsec_nanos()),
        };
        // SAFETY: sleeps at a word of ours, with a time of ours.
        unsafe {
            let wait = libc::FUTEX_WAIT;
            libc::syscall(
                libc::SYS_futex,
                self.state().as_ptr(),
                wait,
                known,
                &raw const limit,
            )
        };
    }

    /// Asks for turns; how many of them there is room for.
    pub fn wish(&self, turns: impl ExactSizeIterator<Item = Turn>) -> usize {
        let count = turns.len().min(MOST_TURNS);
        for (index, turn) in turns.take(count).enumerate() {
            // SAFETY: within the mapping.
            unsafe { self.part::<Turn>(TURNS_AT).add(index).write(turn) };
        }
        count
    }

    fn part<T>(&self, at: usize) -> *mut T {
        // SAFETY: callers name parts of the mapping.
        unsafe { self.map.as_mut_ptr().add(at).cast() }
    }

    /// What was noted.
    pub fn noted(&self) -> impl Iterator<Item = Noted> {
        let count = (self.board().noted as usize).min(MOST_NOTED);
        let first = self.part::<Noted>(NOTED_AT);
        // SAFETY: within the mapping; any bytes are a valid value.
        (0..count).map(move |index| unsafe { first.add(index).read() })
    }

    /// A call of a function; nothing if the number is none of a call.
    pub fn call(&self, number: u32) -> Call {
        let first = self.part::<Call>(CALLS_AT);
        // SAFETY: as above.
        unsafe { first.add(number as usize % MOST_CALLS).read() }
    }

    /// Where the threads are.
    pub fn places(&self) -> Vec<Place> {
        let count = (self.board().threads as usize).min(MOST_THREADS);
        let first = self.part::<Place>(PLACES_AT);
        // SAFETY: as above.
        (0..count)
            .map(|index| unsafe { first.add(index).read() })
            .collect()
    }

    /// The threads' places, to be put back.
    pub fn put_places(&self, places: &[Place]) {
        for index in 0..MOST_THREADS.min(self.board().threads as usize) {
            let place = places.get(index).copied().unwrap_or_default();
            // SAFETY: as above.
            unsafe { self.part::<Place>(PLACES_AT).add(index).write(place) };
        }
    }

    /// What was printed since the last time: output and errors.
    pub fn take_printed(&self) -> [Vec<u8>; 2] {
        [0, 1].map(|which| take(&self.outputs[which]).unwrap_or_default())
    }
}

/// Takes everything out of a file.
fn take(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; file.metadata()?.len() as usize];
    if !bytes.is_empty() {
        file.read_exact_at(&mut bytes, 0)?;
        file.set_len(0)?;
    }
    Ok(bytes)
}

/// Makes the file as long as it has to be, and makes sure that there is room for all of it: writing to memory cannot fail in a way that can be
/// answered.
fn reserve(file: &File) -> io::Result<()> {
    // SAFETY: a file of ours.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, BYTES as libc::off_t) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Whether the program waits for a request or has answered one.
pub fn is_idle(state: u32) -> bool {
    matches!(state, state::READY | state::DONE)
}
