//! The trace on disk: blocks are appended whole, by the thread whose buffer is full.
//!
//! No writer thread: a buffer of 64 KiB is still in the cache when it is copied to the page
//! cache, which costs less than handing it to another core, and there is nothing to restart
//! after `fork` or to wait for at exit. `O_APPEND` makes each block land in one piece.
//!
//! Buffers are mapped from the live file (see `deadheat_wire::LiveHeader`), in space that was
//! reserved before, so that a full disk is an error here and not a fault in the program.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use deadheat_wire::{BlockHeader, BlockKind, FileHeader, SLOT_BYTES, meta};

use super::{Stop, room};
use crate::message;
use crate::options::{self, MAX_PATH};
use crate::serial::shared;
use crate::sys::{self, Spin};

static TRACE: AtomicI32 = AtomicI32::new(-1);
static LIVE: AtomicI32 = AtomicI32::new(-1);
static SLOTS: AtomicUsize = AtomicUsize::new(0);

/// The trace's path with a closing zero, written by the one thread that starts the recording.
struct Path(UnsafeCell<[u8; MAX_PATH]>);
// SAFETY: written only in `create` and `create_for_child`, when no other thread records.
unsafe impl Sync for Path {}
static PATH: Path = Path(UnsafeCell::new([0; MAX_PATH]));
static PATH_LEN: AtomicUsize = AtomicUsize::new(0);
static SERIAL: AtomicI32 = AtomicI32::new(0);

/// Creates the trace at `path`, or beside it under a name with the process's number if there is
/// one already (a program that executes itself or its helpers).
pub fn create(path: &[u8], serial: bool) -> bool {
    SERIAL.store(i32::from(serial), Ordering::Relaxed);
    set_path(path, None);
    match open_new() {
        fd if fd == -(libc::EEXIST as isize) => create_beside(path, sys::getpid()),
        fd => finish_create(fd),
    }
}

/// Whether the trace is the one at `path`, not another beside it.
pub fn is_at(path: &[u8]) -> bool {
    PATH_LEN.load(Ordering::Relaxed) == path.len()
}

/// Creates the trace of a process that was forked: beside its parent's.
pub fn create_for_child(process: u32) -> bool {
    for fd in [
        TRACE.swap(-1, Ordering::Relaxed),
        LIVE.swap(-1, Ordering::Relaxed),
    ] {
        if fd >= 0 {
            sys::close(fd);
        }
    }
    FREE.0.store(0, Ordering::Relaxed);
    SLOTS.store(0, Ordering::Relaxed);
    let mut parent = [0; MAX_PATH];
    let len = PATH_LEN.load(Ordering::Relaxed);
    // SAFETY: a forked process has one thread, and this is it.
    parent[..len].copy_from_slice(unsafe { &(&*PATH.0.get())[..len] });
    create_beside(&parent[..len], process)
}

fn create_beside(path: &[u8], process: u32) -> bool {
    shared::forget();
    set_path(path, Some(process));
    finish_create(open_new())
}

fn set_path(path: &[u8], process: Option<u32>) {
    // SAFETY: see `Path`.
    let bytes = unsafe { &mut *PATH.0.get() };
    bytes.fill(0);
    let mut len = path.len().min(MAX_PATH - 16);
    bytes[..len].copy_from_slice(&path[..len]);
    if let Some(process) = process {
        bytes[len] = b'.';
        len += 1;
        let mut digits = [0; 10];
        let mut count = 0;
        let mut rest = process;
        while rest > 0 || count == 0 {
            digits[count] = b'0' + (rest % 10) as u8;
            rest /= 10;
            count += 1;
        }
        for digit in digits[..count].iter().rev() {
            bytes[len] = *digit;
            len += 1;
        }
    }
    PATH_LEN.store(len, Ordering::Relaxed);
}

fn with_path<R>(suffix: &[u8], action: impl FnOnce(&[u8]) -> R) -> R {
    let mut full = [0; MAX_PATH];
    let len = PATH_LEN.load(Ordering::Relaxed);
    // SAFETY: see `Path`; no one writes while a recording runs.
    full[..len].copy_from_slice(unsafe { &(&*PATH.0.get())[..len] });
    full[len..len + suffix.len()].copy_from_slice(suffix);
    action(&full[..len + suffix.len() + 1])
}

fn open_new() -> isize {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
    with_path(b"", |path| sys::high(sys::open(path, flags, 0o644)))
}

fn finish_create(fd: isize) -> bool {
    if fd < 0 {
        with_path(b"", |path| {
            message::say(format_args!(
                "cannot create the trace {} (error {}); the program runs without recording",
                core::str::from_utf8(&path[..path.len() - 1]).unwrap_or("(path is not text)"),
                -fd
            ));
        });
        return false;
    }
    let flags = match SERIAL.load(Ordering::Relaxed) {
        0 => 0,
        _ if shared::leaves_out() => FileHeader::SERIAL | FileHeader::SHARED,
        _ => FileHeader::SERIAL,
    };
    let header = FileHeader::new(flags, options::SEED.get(), sys::getpid()).to_words();
    let wrote = sys::writev(fd as i32, &header, &[]); // 56 bytes: no limit is that small
    if wrote != size_of_val(&header) as isize {
        super::fail(Stop::cut_off(wrote));
        sys::close(fd as i32);
        return false;
    }
    room::begin(size_of_val(&header) as u64);
    TRACE.store(fd as i32, Ordering::Release);
    let flags = libc::O_CREAT | libc::O_TRUNC | libc::O_RDWR | libc::O_CLOEXEC;
    let live = with_path(b".live", |path| sys::high(sys::open(path, flags, 0o644)));
    LIVE.store(live as i32, Ordering::Release);
    if live < 0 {
        super::fail(Stop::Refused(live));
    }
    live >= 0
}

/// Whether there is a trace to write to.
pub fn is_written() -> bool {
    TRACE.load(Ordering::Acquire) >= 0
}

/// Appends a block; false if it could not be written, and then recording stops.
pub fn append(header: &[u64; BlockHeader::WORDS], payload: &[u64]) -> bool {
    let fd = TRACE.load(Ordering::Acquire);
    if fd < 0 {
        return false;
    }
    let wanted = size_of_val(header) + size_of_val(payload);
    if let Err(why) = room::take_block(fd, wanted as u64) {
        stop(why);
        return false;
    }
    loop {
        match sys::writev(fd, header, payload) {
            wrote if wrote == wanted as isize => return true,
            wrote if wrote == -(libc::EINTR as isize) => continue,
            wrote => {
                stop(Stop::cut_off(wrote));
                return false;
            }
        }
    }
}

/// Ends the recording before the program does. If there is still room, the trace says why.
pub fn stop(why: Stop) {
    if why != Stop::Length {
        super::fail(why);
    }
    let fd = TRACE.swap(-1, Ordering::AcqRel);
    if fd < 0 || matches!(why, Stop::Refused(_)) {
        return;
    }
    let mut buffer = [0; room::LAST_BYTES as usize / 8 - BlockHeader::WORDS];
    let mut writer = meta::Writer::new(&mut buffer);
    writer
        .begin(meta::STOPPED)
        .bytes(why.told().as_bytes())
        .end();
    let payload = writer.words();
    // If it cannot be written, readers only see that the recording was not closed.
    sys::writev(
        fd,
        &BlockHeader::new(BlockKind::Meta, 0).seal(payload),
        payload,
    );
}

/// From here on nothing is written, in this process and copies of it.
pub fn forget() {
    TRACE.store(-1, Ordering::Release);
}

/// Appends the block that says that the recording is complete; `for_good` also closes the file.
pub fn end(reason: &str, for_good: bool) {
    let mut buffer = [0; 32];
    let mut writer = meta::Writer::new(&mut buffer);
    writer.begin(meta::NOTE).bytes(reason.as_bytes()).end();
    let payload = writer.words();
    let complete = append(&BlockHeader::new(BlockKind::End, 0).seal(payload), payload);
    if for_good && complete {
        with_path(b".live", sys::unlink);
    }
}

/// Free slots, as a list through their first words, and the lock that guards it.
struct Free(AtomicUsize, Spin);
static FREE: Free = Free(AtomicUsize::new(0), Spin::new());

/// A zeroed slot for a stream's buffer, from the live file. If there is no room for it on the
/// disk, null, and recording stops: words in plain memory would be lost with the next block that
/// cannot be written, and what other threads did after them would be left without its cause.
pub fn take_slot() -> *mut u8 {
    FREE.1.lock();
    let head = FREE.0.load(Ordering::Relaxed) as *mut usize;
    if !head.is_null() {
        // SAFETY: a free slot's first word is the next free slot; the lock makes it ours.
        unsafe {
            FREE.0.store(*head, Ordering::Relaxed);
            *head = 0;
        }
    }
    FREE.1.unlock();
    if head.is_null() {
        new_slot()
    } else {
        head.cast()
    }
}

fn new_slot() -> *mut u8 {
    let live = LIVE.load(Ordering::Acquire);
    let offset = SLOTS.fetch_add(1, Ordering::Relaxed) * SLOT_BYTES;
    let end = (offset + SLOT_BYTES) as u64;
    if let Err(why) = room::take_slot(live, SLOT_BYTES as u64, end) {
        stop(why);
        return core::ptr::null_mut();
    }
    let reserved = reserve(live, offset);
    if reserved < 0 {
        super::fail(Stop::Refused(reserved));
        return core::ptr::null_mut();
    }
    let slot = sys::map(SLOT_BYTES, live, offset);
    if slot.is_null() {
        super::fail(Stop::Refused(-(libc::ENOMEM as isize)));
    }
    slot
}

/// Reserves a slot's space on the disk; by writing it where the file system has no other way.
fn reserve(live: i32, offset: usize) -> isize {
    let live = live as usize;
    let reserved = sys::call(libc::SYS_fallocate, [live, 0, offset, SLOT_BYTES, 0, 0]);
    if reserved != -(libc::EOPNOTSUPP as isize) {
        return reserved;
    }
    let zeros = [0u8; 4096];
    for page in 0..SLOT_BYTES / zeros.len() {
        let (place, at) = (zeros.as_ptr() as usize, offset + page * zeros.len());
        match sys::call(libc::SYS_pwrite64, [live, place, zeros.len(), at, 0, 0]) {
            4096 => {}
            error if error < 0 => return error,
            _ => return -(libc::ENOSPC as isize),
        }
    }
    0
}

/// Gives back a slot whose buffer is all zero.
pub fn return_slot(slot: *mut u8) {
    FREE.1.lock();
    // SAFETY: the caller owned the slot; its first word (the magic) becomes the list's link,
    // which no reader takes for a slot in use.
    unsafe { *slot.cast::<usize>() = FREE.0.load(Ordering::Relaxed) };
    FREE.0.store(slot as usize, Ordering::Relaxed);
    FREE.1.unlock();
}
