//! How a program ends itself: by `exit` and its like, and by dying.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::handlers;
use crate::hooks::{caller, trampoline};
use crate::intercept::real;
use crate::local::Inside;
use crate::record::{self, Mode, event, mode};
use crate::sys;

trampoline! {
    "exit" => exit;
    "_exit" => exit_now;
    "_Exit" => exit_now;
    "quick_exit" => quick_exit;
    "__cxa_at_quick_exit" => at_quick_exit;
    "abort" => abort;
    "__assert_fail" => assert_fail;
    "__assert_perror_fail" => assert_perror_fail;
}

// SAFETY of all calls of real functions below: the arguments are the program's own.

/// Where `exit` was called; what it runs before the end is recorded as well.
static EXIT_PLACE: AtomicUsize = AtomicUsize::new(0);

/// Where the program was when it ended itself; 0 if `main` has returned.
fn exit_place() -> usize {
    EXIT_PLACE.load(Ordering::Relaxed)
}

/// The C library has come to the end of the process in the running thread. It calls this once: what comes after is called for whoever
/// else wants to end the process while this thread stands before that step.
pub fn ends() {
    if record::has_ended() {
        return;
    }
    if mode() == Mode::Serial {
        let _inside = Inside::enter();
        // SAFETY: a function of the right type, which needs neither argument nor library.
        unsafe { real::__cxa_atexit(ends_again as *const () as usize, 0, 0) };
    }
    record::end_of_program(exit_place());
}

extern "C" fn ends_again() {
    // It is called in the thread that has ended the recording, too.
    if mode() == Mode::Serial {
        ends();
    }
}

unsafe extern "C" fn exit(code: c_int) -> usize {
    EXIT_PLACE.store(caller(), Ordering::Relaxed);
    unsafe { real::exit(code) }
}

pub(super) unsafe extern "C" fn exit_now(code: c_int) -> usize {
    record::end_of_program(caller());
    sys::exit_group(code)
}

/// What `at_quick_exit` registers is the program's own code, and recorded: the end is behind it.
unsafe extern "C" fn quick_exit(code: c_int) -> usize {
    let pc = caller();
    if !HAS_QUICK.load(Ordering::Acquire) {
        record::end_of_program(pc);
    } else {
        EXIT_PLACE.store(pc, Ordering::Relaxed);
        event::sync(Op::Receive, (&raw const HAS_QUICK) as usize, pc);
    }
    unsafe { real::quick_exit(code) }
}

/// Whether something is to run at `quick_exit`; its address is the object that registrations are sent on.
static HAS_QUICK: AtomicBool = AtomicBool::new(false);

/// What `at_quick_exit` becomes. What was registered first runs last: the end of the recording.
unsafe extern "C" fn at_quick_exit(function: usize, library: usize) -> c_int {
    let pc = caller();
    if mode() != Mode::Off && !HAS_QUICK.swap(true, Ordering::AcqRel) {
        let last = end_quickly as *const () as usize;
        unsafe { real::__cxa_at_quick_exit(last, library) };
    }
    event::sync(Op::Send, (&raw const HAS_QUICK) as usize, pc);
    unsafe { real::__cxa_at_quick_exit(function, library) }
}

extern "C" fn end_quickly() {
    record::end_of_program(exit_place());
}

/// The program is about to die in the running thread, unless it handles that. What it does from
/// here on is the C library's, and no step. The recording is left open: how the program died is
/// part of it.
fn before_death(pc: usize) {
    if handlers::handles_death() {
        return;
    }
    record::before_end(pc);
    if mode() == Mode::Serial {
        core::mem::forget(Inside::enter());
    }
}

unsafe extern "C" fn abort() -> usize {
    before_death(caller());
    unsafe { real::abort() }
}

/// The C library calls its own `abort`, which nobody stands in for.
unsafe extern "C" fn assert_fail(text: usize, file: usize, line: u32, function: usize) -> usize {
    before_death(caller());
    unsafe { real::__assert_fail(text, file, line, function) }
}

unsafe extern "C" fn assert_perror_fail(
    error: c_int,
    file: usize,
    line: u32,
    function: usize,
) -> usize {
    before_death(caller());
    unsafe { real::__assert_perror_fail(error, file, line, function) }
}
