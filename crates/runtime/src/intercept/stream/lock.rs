//! A stream's lock, which every function takes and `flockfile` keeps. It is one that its owner may take
//! again.
//!
//! That two threads print orders nothing that either could rely on, so a function's own use of the lock is
//! recorded only where it can matter: once the program has locked
//! a stream itself, and where functions of the program's own are behind it (`fopencookie`), which the lock
//! protects. Recorded always, it would hide
//! races from detectors that go by the order of one run, and every line that two threads print would double
//! the orders of a search. The price: a deadlock with a function that
//! prints is only seen if the program has locked a stream before.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use deadheat_wire::Op;

use super::super::lock::attempt;
use super::super::{Taking, give, real};
use super::Stream;
use crate::hooks::{caller, trampoline};
use crate::record::{Mode, mode};
use crate::serial::endings::Kind;
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "flockfile" => flockfile;
    "_IO_flockfile" => flockfile;
    "ftrylockfile" => ftrylockfile;
    "_IO_ftrylockfile" => ftrylockfile;
    "funlockfile" => funlockfile;
    "_IO_funlockfile" => funlockfile;
}

/// Whether the program locks streams itself.
static IS_USED: AtomicBool = AtomicBool::new(false);

// SAFETY of all calls below: a stream of the program's, for these very functions.

fn take(stream: Stream, pc: usize) {
    let taking = Taking {
        object: stream.0,
        pc,
        op: Op::Acquire,
        request: Some(Op::Request),
        limit: Limit::None,
    };
    let attempt = || match unsafe { real::ftrylockfile(stream.0) } {
        0 => 0,
        _ => libc::EBUSY,
    };
    taking.run(attempt, || {
        unsafe { real::flockfile(stream.0) };
        0
    });
}

fn give_back(stream: Stream, pc: usize) {
    give(Op::Release, stream.0, pc, || {
        unsafe { real::funlockfile(stream.0) };
        0
    });
}

/// Does what a function of the C library does that takes the lock.
pub fn holding<R>(stream: Stream, pc: usize, call: impl FnOnce() -> R) -> R {
    if !threads::visible() {
        return call();
    }
    if IS_USED.load(Ordering::Relaxed) || stream.fd() < 0 {
        take(stream, pc);
        let result = call();
        give_back(stream, pc);
        return result;
    }
    if mode() == Mode::Serial {
        // Somebody may be in a call without the turn, in the C library, and have it.
        while unsafe { real::ftrylockfile(stream.0) } != 0 {
            serial::wait_to_retry(stream.0, Kind::Lock, Limit::None, None);
        }
        unsafe { real::funlockfile(stream.0) };
    }
    call()
}

/// A call is over in which the thread may have had the lock without the turn.
pub fn let_others_look(stream: Stream) {
    serial::wake(stream.0, usize::MAX);
}

unsafe extern "C" fn flockfile(stream: usize) {
    IS_USED.store(true, Ordering::Relaxed);
    take(Stream(stream), caller());
}

unsafe extern "C" fn ftrylockfile(stream: usize) -> c_int {
    let pc = caller();
    IS_USED.store(true, Ordering::Relaxed);
    attempt(Op::Acquire, stream, pc, || {
        match unsafe { real::ftrylockfile(stream) } {
            0 => 0,
            _ => libc::EBUSY,
        }
    })
}

unsafe extern "C" fn funlockfile(stream: usize) {
    give_back(Stream(stream), caller());
}
