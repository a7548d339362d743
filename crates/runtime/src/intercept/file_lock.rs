//! Locks on files: `flock`, and those of `fcntl`.
//!
//! `flock` and the locks of open file descriptions (`F_OFD_SETLK`) belong to the *open file*: two that were opened
//! on their own exclude each other, two numbers of one do not. So whoever takes the lock comes after
//! all who gave it back through another open file. A shared lock comes after exclusive ones only.
//!
//! The older locks (`F_SETLK`, `lockf`) belong to the process. Its threads never exclude each other, so they order
//! nothing here; but another process may hold one, and who waits for that leaves the turn.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use deadheat_wire::Op;

use super::channel::{self, Behind, Other};
use super::descriptor::trying;
use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::{self, Limit};
use crate::{sys, threads};

trampoline! {
    "flock" => flock;
    "lockf" => lockf;
    "lockf64" => lockf;
}

/// An open file through which a lock was taken. All zero: none.
struct Opened {
    /// Which file's lock: its identity, and of which kind the locks are.
    file: AtomicU64,
    /// A number that it has, or -1 if that was closed.
    fd: AtomicI32,
    /// How it is held.
    held: AtomicU8,
    /// Several have had this place: what was given back through it may have been another's.
    is_shared: AtomicU8,
}

const FREE: u8 = 0;
const SHARED: u8 = 1;
const EXCLUSIVE: u8 = 2;

const MOST: usize = 512;
/// How many open files of one file are told apart.
const APART: usize = 8;

static OPENED: [Opened; MOST] = [const {
    Opened {
        file: AtomicU64::new(0),
        fd: AtomicI32::new(-1),
        held: AtomicU8::new(FREE),
        is_shared: AtomicU8::new(0),
    }
}; MOST];

/// Whose locks these are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flock = 0,
    Description = 1,
}

/// What a lock is known by: the file, and the kind of locks.
fn lock_of(behind: Behind, kind: Kind) -> u64 {
    behind.identity() << 1 | kind as u64
}

/// Whether two numbers are of one open file.
fn is_same_open_file(one: c_int, other: c_int) -> bool {
    const KCMP_FILE: usize = 0;
    let process = sys::getpid() as usize;
    let args = [process, process, KCMP_FILE, one as usize, other as usize, 0];
    one == other || sys::call(libc::SYS_kcmp, args) == 0
}

/// The place of an open file, and its number among those of its file. Without room: that of another.
fn place(lock: u64, fd: c_int) -> (usize, &'static Opened) {
    let mine = |opened: &Opened| opened.file.load(Ordering::Acquire) == lock;
    let mut number = 0;
    let mut given_up = None;
    let mut last = None;
    for opened in &OPENED {
        if mine(opened) {
            let known = opened.fd.load(Ordering::Acquire);
            if known >= 0 && is_same_open_file(known, fd) {
                return (number, opened);
            }
            if known < 0 {
                given_up = Some((number, opened));
            }
            last = Some((number, opened));
            number += 1;
        } else if number < APART
            && opened
                .file
                .compare_exchange(0, lock, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
        {
            opened.fd.store(fd, Ordering::Release);
            return (number, opened);
        }
    }
    let (number, opened) = given_up.or(last).unwrap_or((0, &OPENED[0]));
    opened.is_shared.store(1, Ordering::Release);
    opened.fd.store(fd, Ordering::Release);
    (number, opened)
}

/// The channel of those who gave a lock back through an open file of a file.
fn channel_of(lock: u64, number: usize, held: u8) -> usize {
    // Which file it is matters most; two that are taken for one are ordered too much.
    let number = (number as u64) << 1 | u64::from(held == EXCLUSIVE);
    channel::of_other(
        Other::FileLock,
        lock.wrapping_mul(2 * APART as u64) + number,
    )
}

/// The channel of those who wait for a file's lock.
fn waiting(lock: u64) -> usize {
    channel_of(lock, 0, EXCLUSIVE)
}

/// The lock is about to be given back.
fn give_back(lock: u64, fd: c_int, pc: usize) {
    let (number, opened) = place(lock, fd);
    let held = opened.held.swap(FREE, Ordering::AcqRel);
    if held != FREE {
        channel::send(channel_of(lock, number, held), pc);
    }
}

/// The lock was taken: after all who gave it back through other open files.
fn took(lock: u64, fd: c_int, how: u8, pc: usize) {
    let (number, opened) = place(lock, fd);
    opened.held.store(how, Ordering::Release);
    let is_shared = opened.is_shared.load(Ordering::Acquire) != 0;
    let known = OPENED
        .iter()
        .filter(|opened| opened.file.load(Ordering::Acquire) == lock);
    for other in 0..known.count() {
        if other == number && !is_shared {
            continue;
        }
        event::sync(Op::Receive, channel_of(lock, other, EXCLUSIVE), pc);
        if how == EXCLUSIVE {
            event::sync(Op::Receive, channel_of(lock, other, SHARED), pc);
        }
    }
}

/// Takes or gives back a lock of an open file. `how` it is to be held; `tried` never waits.
fn locking(
    fd: c_int,
    kind: Kind,
    how: u8,
    waits: bool,
    pc: usize,
    tried: impl Fn() -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(behind) = Behind::number(fd).filter(|_| threads::visible()) else {
        return real();
    };
    let lock = lock_of(behind, kind);
    let is_serial = mode() == Mode::Serial;
    if how == FREE {
        serial::point_before(Op::Send, waiting(lock), 0, pc);
        give_back(lock, fd, pc);
        let result = real();
        channel::wake(waiting(lock));
        return result;
    }
    serial::point_before(Op::Receive, waiting(lock), 0, pc);
    // What is held already is given back first.
    give_back(lock, fd, pc);
    let result = match is_serial && waits {
        true => {
            let would_wait = |error| error == libc::EWOULDBLOCK || error == libc::EACCES;
            let attempt = || {
                let result = tried();
                let error = unsafe { *libc::__errno_location() };
                (result == 0 || !would_wait(error)).then_some(result)
            };
            trying(waiting(lock), Limit::None, attempt, real)
        }
        false => real(),
    };
    if result == 0 {
        took(lock, fd, how, pc);
    }
    channel::wake(waiting(lock));
    result
}

/// A number is about to be closed. With the last of an open file its locks are given back.
pub fn closing(fd: c_int, behind: Behind, pc: usize) {
    for kind in [Kind::Flock, Kind::Description] {
        let lock = lock_of(behind, kind);
        let is_it = |opened: &&Opened| {
            opened.file.load(Ordering::Acquire) == lock && opened.fd.load(Ordering::Acquire) == fd
        };
        if let Some(opened) = OPENED.iter().find(is_it) {
            give_back(lock, fd, pc);
            opened.fd.store(-1, Ordering::Release);
            channel::wake(waiting(lock));
        }
    }
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    let pc = caller();
    let how = match operation & !libc::LOCK_NB {
        libc::LOCK_SH => SHARED,
        libc::LOCK_EX => EXCLUSIVE,
        _ => FREE,
    };
    let waits = operation & libc::LOCK_NB == 0;
    let lock = |operation| unsafe { real::flock(fd, operation) };
    locking(
        fd,
        Kind::Flock,
        how,
        waits,
        pc,
        || lock(operation | libc::LOCK_NB),
        || lock(operation),
    )
}

/// `fcntl` with whatever command: `real` makes the call with the same arguments.
///
/// # Safety
/// The program's own arguments.
pub unsafe fn through_fcntl(
    fd: c_int,
    command: c_int,
    argument: usize,
    pc: usize,
    real: impl Fn(c_int) -> c_int,
) -> c_int {
    match command {
        libc::F_OFD_SETLK | libc::F_OFD_SETLKW if argument != 0 => {
            let wanted = unsafe { (*(argument as *const libc::flock)).l_type };
            let how = match c_int::from(wanted) {
                libc::F_RDLCK => SHARED,
                libc::F_WRLCK => EXCLUSIVE,
                _ => FREE,
            };
            let waits = command == libc::F_OFD_SETLKW;
            let tried = || real(libc::F_OFD_SETLK);
            locking(fd, Kind::Description, how, waits, pc, tried, || {
                real(command)
            })
        }
        libc::F_SETLKW if threads::visible() && mode() == Mode::Serial => {
            unless_held_outside(|| real(libc::F_SETLK), || real(command))
        }
        _ => real(command),
    }
}

/// A lock that only another process can have.
fn unless_held_outside(tried: impl Fn() -> c_int, real: impl FnOnce() -> c_int) -> c_int {
    let result = tried();
    match unsafe { *libc::__errno_location() } {
        libc::EAGAIN | libc::EACCES if result != 0 => serial::away(real),
        _ => result,
    }
}

unsafe extern "C" fn lockf(fd: c_int, command: c_int, length: libc::off_t) -> c_int {
    let lock = |command| unsafe { real::lockf(fd, command, length) };
    if command == libc::F_LOCK && threads::visible() && mode() == Mode::Serial {
        return unless_held_outside(|| lock(libc::F_TLOCK), || lock(command));
    }
    lock(command)
}
