//! The report file: opened by each process for itself, appended to in whole records.

use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

use deadheat_wire::watch::{ANSWERS, Record};

use crate::local::Inside;
use crate::options::{self, MAX_PATH};
use crate::sys::{self, Spin};

const ROOM: usize = 256 * 1024;

/// A record that is being made; what does not fit is cut at the end of a line.
pub struct Buffer {
    bytes: [u8; ROOM],
    len: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Two bytes are kept for the record's end.
        let room = ROOM - 2 - self.len;
        if text.len() > room {
            return Err(fmt::Error);
        }
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

struct Shared(UnsafeCell<Buffer>);
// SAFETY: only touched under `LOCK`.
unsafe impl Sync for Shared {}
static LOCK: Spin = Spin::new();
static BUFFER: Shared = Shared(UnsafeCell::new(Buffer {
    bytes: [0; ROOM],
    len: 0,
}));
static FILE: AtomicI32 = AtomicI32::new(-1);
static PID: AtomicU32 = AtomicU32::new(0);

/// The report's path with a closing zero, set before there is a second thread.
struct Path(UnsafeCell<[u8; MAX_PATH]>);
// SAFETY: written once, in `open`, before other threads exist.
unsafe impl Sync for Path {}
static PATH: Path = Path(UnsafeCell::new([0; MAX_PATH]));

fn with_path<R>(suffix: &str, action: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: see `Path`.
    let path = unsafe { &*PATH.0.get() };
    let len = path.iter().position(|byte| *byte == 0).unwrap_or(0);
    let mut full = [0; MAX_PATH];
    full[..len].copy_from_slice(&path[..len]);
    full[len..len + suffix.len()].copy_from_slice(suffix.as_bytes());
    action(&full[..=len + suffix.len()])
}

/// Opens the report at `path`; the error number if that fails.
pub fn open(path: &[u8]) -> Result<(), isize> {
    // SAFETY: see `Path`.
    let place = unsafe { &mut *PATH.0.get() };
    place[..path.len()].copy_from_slice(path);
    reopen()
}

/// Opens it in this process: again after a fork.
pub fn reopen() -> Result<(), isize> {
    LOCK.unlock();
    PID.store(sys::getpid(), Ordering::Relaxed);
    let before = FILE.swap(-1, Ordering::Relaxed);
    if before >= 0 {
        sys::close(before);
    }
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
    let fd = sys::high(with_path("", |path| sys::open(path, flags, 0o644)));
    if fd < 0 {
        return Err(-fd);
    }
    FILE.store(fd as i32, Ordering::Relaxed);
    Ok(())
}

/// The process that writes.
pub fn pid() -> u32 {
    PID.load(Ordering::Relaxed)
}

/// Writes the record that `fill` makes. One that is cut off ends where the room did.
pub fn write(fill: impl FnOnce(&mut Record<Buffer>) -> fmt::Result) {
    let _inside = Inside::enter(); // Copying text is not the program's doing.
    LOCK.lock();
    // SAFETY: the lock.
    let buffer = unsafe { &mut *BUFFER.0.get() };
    buffer.len = 0;
    let whole = fill(&mut Record(buffer)).is_ok();
    if !whole {
        // Back to the last whole line.
        let line = buffer.bytes[..buffer.len].iter().rposition(|b| *b == b'\n');
        buffer.len = line.map_or(0, |at| at + 1);
    }
    if buffer.len > 0 {
        buffer.bytes[buffer.len] = b'\n';
        append(&buffer.bytes[..buffer.len + 1]);
    }
    LOCK.unlock();
}

fn append(mut bytes: &[u8]) {
    let fd = FILE.load(Ordering::Relaxed);
    while fd >= 0 && !bytes.is_empty() {
        match sys::write(fd, bytes) {
            written if written > 0 => bytes = &bytes[written as usize..],
            error if error == -(libc::EINTR as isize) => {}
            _ => return, // The disk is full: the tool sees that the record was cut.
        }
    }
}

/// This process's part of the file of answers.
static ANSWERED: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());
static QUESTIONS: AtomicU32 = AtomicU32::new(0);
const ANSWER_BYTES: usize = 64 * 1024;

/// Makes the file of answers ready; the next offset in it, if there is one left.
pub fn question() -> Option<u64> {
    let map = ANSWERED.load(Ordering::Acquire);
    let map = if map.is_null() { open_answers()? } else { map };
    let number = QUESTIONS.fetch_add(1, Ordering::Relaxed) as usize * 4;
    (number < ANSWER_BYTES).then_some(())?;
    // SAFETY: within the page.
    unsafe { (*map.byte_add(number)).store(0, Ordering::Relaxed) };
    Some(ANSWER_START.load(Ordering::Relaxed) + number as u64)
}

static ANSWER_START: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

fn open_answers() -> Option<*mut AtomicU32> {
    LOCK.lock();
    let known = ANSWERED.load(Ordering::Acquire);
    let map = if known.is_null() {
        map_answers()
    } else {
        known
    };
    ANSWERED.store(map, Ordering::Release);
    LOCK.unlock();
    (!map.is_null()).then_some(map)
}

static ZERO: u8 = 0;

fn map_answers() -> *mut AtomicU32 {
    let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
    let fd = sys::high(with_path(ANSWERS, |path| sys::open(path, flags, 0o644)));
    if fd < 0 {
        return core::ptr::null_mut();
    }
    // A part of its own for each process, by its number: parts may be shared after many forks, but
    // not by two that live at the same time.
    let start = u64::from(pid()) * ANSWER_BYTES as u64;
    let last = start as usize + ANSWER_BYTES - 1;
    let zero = &raw const ZERO as usize;
    sys::call(libc::SYS_pwrite64, [fd as usize, zero, 1, last, 0, 0]);
    let map = sys::map(ANSWER_BYTES, fd as i32, start as usize);
    sys::close(fd as i32);
    ANSWER_START.store(start, Ordering::Relaxed);
    map.cast()
}

/// In a forked process: its questions are its own.
pub fn forget_questions() {
    ANSWERED.store(core::ptr::null_mut(), Ordering::Relaxed);
    QUESTIONS.store(0, Ordering::Relaxed);
}

/// Waits until the tool has answered the question at `offset`, or is gone.
pub fn wait_for_answer(offset: u64) {
    let map = ANSWERED.load(Ordering::Acquire);
    let at = (offset - ANSWER_START.load(Ordering::Relaxed)) as usize;
    // SAFETY: `question` gave the offset.
    let word = unsafe { &*map.byte_add(at) };
    let tool = options::TOOL.get() as usize;
    while word.load(Ordering::Acquire) == 0 {
        // The tool writes to the file, which wakes nobody: so look again from time to time.
        sys::futex_wait(word, 0, 20);
        let gone = -(libc::ESRCH as isize);
        if tool != 0 && sys::call(libc::SYS_kill, [tool, 0, 0, 0, 0, 0]) == gone {
            return;
        }
    }
}
