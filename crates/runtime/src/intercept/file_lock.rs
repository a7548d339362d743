//! Locks on files: `flock`, and those of `fcntl`.
//!
//! `flock` and the locks of open file descriptions (`F_OFD_SETLK`) belong to the *open file*: whoever takes one
//! comes after all who gave it back. A shared lock comes after exclusive ones only. Two numbers of one open file
//! do not exclude each other, and neither do locks on different parts of a file: both are ordered all the same, which
//! is more than there is and never too little.
//!
//! The older locks (`F_SETLK`, `lockf`) belong to the process. Its threads never exclude each other, so they order
//! nothing here; but another process may hold one, and who waits for that leaves the turn.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use deadheat_wire::Op;

use super::channel::{self, Behind, Other};
use super::descriptor::trying;
use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::explore::server;
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "flock" => flock;
    "lockf" => lockf;
    "lockf64" => lockf;
}

const FREE: u8 = 0;
const SHARED: u8 = 1;
const EXCLUSIVE: u8 = 2;

/// How locks are held through numbers of descriptors, for each kind of locks.
const MOST: usize = 1024;
static HELD: [[AtomicU8; MOST]; 2] = [const { [const { AtomicU8::new(FREE) }; MOST] }; 2];

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

/// The channel of those who gave back a lock that was held like this.
fn channel_of(lock: u64, held: u8) -> usize {
    channel::of_other(Other::FileLock, lock << 1 | u64::from(held == EXCLUSIVE))
}

/// The channel of those who wait for a file's lock.
fn waiting(lock: u64) -> usize {
    channel_of(lock, EXCLUSIVE)
}

fn held(fd: c_int, kind: Kind) -> Option<&'static AtomicU8> {
    HELD[kind as usize].get(fd as usize)
}

/// The lock is about to be given back. Through a number that it was not taken through: however it was held.
fn give_back(lock: u64, fd: c_int, kind: Kind, pc: usize) {
    let held = held(fd, kind).map_or(FREE, |held| held.swap(FREE, Ordering::AcqRel));
    if held != SHARED {
        channel::send(channel_of(lock, EXCLUSIVE), pc);
    }
    if held != EXCLUSIVE {
        channel::send(channel_of(lock, SHARED), pc);
    }
}

/// The lock was taken.
fn took(lock: u64, fd: c_int, kind: Kind, how: u8, pc: usize) {
    if let Some(held) = held(fd, kind) {
        held.store(how, Ordering::Release);
    }
    event::sync(Op::Receive, channel_of(lock, EXCLUSIVE), pc);
    if how == EXCLUSIVE {
        event::sync(Op::Receive, channel_of(lock, SHARED), pc);
    }
}

fn is_held(fd: c_int, kind: Kind) -> bool {
    held(fd, kind).is_some_and(|held| held.load(Ordering::Acquire) != FREE)
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
    server::has_in_common();
    let lock = lock_of(behind, kind);
    let is_serial = mode() == Mode::Serial;
    if how == FREE {
        serial::point_before(Op::Send, waiting(lock), 0, pc);
        give_back(lock, fd, kind, pc);
        let result = real();
        channel::wake(waiting(lock));
        return result;
    }
    serial::point_before(Op::Receive, waiting(lock), 0, pc);
    if is_held(fd, kind) {
        give_back(lock, fd, kind, pc); // It is held in another way from now on.
    }
    let result = match is_serial && waits {
        true => {
            let would_wait = |error| error == libc::EWOULDBLOCK || error == libc::EACCES;
            let attempt = || {
                let result = tried();
                let error = unsafe { *libc::__errno_location() };
                (result == 0 || !would_wait(error)).then_some(result)
            };
            trying(waiting(lock), Limit::None, true, attempt, |_| real())
        }
        false => real(),
    };
    if result == 0 {
        took(lock, fd, kind, how, pc);
    }
    channel::wake(waiting(lock));
    result
}

/// A number is about to be closed. With the last of an open file its locks are given back.
pub fn closing(fd: c_int, behind: Behind, pc: usize) {
    for kind in [Kind::Flock, Kind::Description] {
        if is_held(fd, kind) {
            let lock = lock_of(behind, kind);
            give_back(lock, fd, kind, pc);
            CLOSING.store(true, Ordering::Release);
        }
    }
}

/// Whether somebody is about to close a file with a lock on it.
static CLOSING: AtomicBool = AtomicBool::new(false);

/// A number was closed: whoever waits for a lock tries again.
pub fn closed(behind: Behind) {
    if CLOSING.swap(false, Ordering::AcqRel) {
        for kind in [Kind::Flock, Kind::Description] {
            channel::wake(waiting(lock_of(behind, kind)));
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
        libc::EAGAIN | libc::EACCES if result != 0 => serial::away_for_outside(real),
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
