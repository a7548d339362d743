//! Things that are done once: `pthread_once` and the guards of function-local statics in C++.
//!
//! Whoever did it sends, everybody who finds it done receives.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use deadheat_wire::{Op, Order};

use super::real;
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event::{self, Sync};
use crate::record::{Mode, mode};
use crate::serial::endings::Kind;
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "pthread_once" => once;
    "__cxa_guard_acquire" => guard_acquire;
    "__cxa_guard_release" => guard_release;
    "__cxa_guard_abort" => guard_abort;
}

/// glibc's control word while somebody runs the routine.
const ONCE_RUNNING: i32 = 1;
/// And when it has run.
const ONCE_DONE: i32 = 2;

pub(super) unsafe extern "C" fn once(control: usize, routine: extern "C" fn()) -> c_int {
    let pc = caller();
    if !threads::visible() {
        // SAFETY: (here and below) the arguments are the program's own, for this very function.
        return unsafe { real::pthread_once(control, routine) };
    }
    if mode() == Mode::Serial {
        // SAFETY: the program's control word.
        let state = || unsafe { (control as *const i32).read_volatile() } & 3;
        match state() {
            ONCE_DONE => serial::point_before(Op::Receive, control, 0, pc),
            _ => serial::point_before_others(Op::Receive, control, pc),
        }
        while state() == ONCE_RUNNING {
            if !serial::is_searched() {
                // A schedule that ends in this wait ends here.
                serial::gate(Op::Take, control, 0, pc);
            }
            let unended = Sync::new(Op::TakeRequest, control, pc);
            serial::wait_telling(control, Kind::Once, Limit::None, unended);
        }
    }
    // SAFETY: the thread's own state. The attempt is known as long as this call: whoever leaves it by an
    // exception passes [`passed`] first. A routine may use `pthread_once` itself, so the outer attempt is put back.
    let result = unsafe {
        let attempt = Attempt {
            routine,
            control,
            outer: (*local()).once,
        };
        (*local()).once = &raw const attempt;
        let result = real::pthread_once(control, run_once);
        (*local()).once = attempt.outer;
        result
    };
    Sync::new(Op::Receive, control, pc).record();
    result
}

/// A call of `pthread_once` that a thread is in.
pub struct Attempt {
    routine: extern "C" fn(),
    control: usize,
    /// The one that it is in because of this one's routine.
    outer: *const Attempt,
}

/// Some attempt was given up: the next one may have something to learn.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// What an attempt does that an exception ends is before the next attempt. Not a word is spent on it in
/// the programs, nearly all, where that never happens.
fn give_up(object: usize, pc: usize) {
    GIVEN_UP.store(true, Ordering::Release);
    event::sync(Op::Send, object, pc);
}

fn try_again(object: usize, pc: usize) {
    if GIVEN_UP.load(Ordering::Acquire) {
        event::sync(Op::Receive, object, pc);
    }
}

// Called by glibc in the thread that is first. An exception passes through it, so it is written out:
// no Rust function may be left that way, and the unwinder tells `passed` when it gets here.
core::arch::global_asm!(
    ".pushsection .text.deadheat_run_once,\"ax\",@progbits",
    ".type deadheat_run_once,@function",
    "deadheat_run_once:",
    ".cfi_startproc",
    // The personality's address: four bytes, relative to where they stand.
    ".cfi_personality 0x1b, {passed}",
    "sub rsp, 8",
    ".cfi_def_cfa_offset 16",
    "call {begin}",
    "call rax",
    "call {end}",
    "add rsp, 8",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    ".size deadheat_run_once, . - deadheat_run_once",
    ".popsection",
    passed = sym passed,
    begin = sym begin_once,
    end = sym end_once,
);
unsafe extern "C" {
    #[link_name = "deadheat_run_once"]
    safe fn run_once();
}

/// The routine to run.
extern "C" fn begin_once() -> extern "C" fn() {
    // SAFETY: `once` of this thread has put it there and waits.
    let attempt = unsafe { &*(*local()).once };
    try_again(attempt.control, attempt.control);
    // Whoever comes first does it: nothing else says that others could have been.
    serial::noticed(Op::Receive, attempt.control, attempt.control);
    attempt.routine
}

/// The routine is done.
extern "C" fn end_once() {
    // SAFETY: as in `begin_once`; inner attempts have been put away, also those that were given up.
    let control = unsafe { (*(*local()).once).control };
    event::sync(Op::Send, control, control);
    serial::wake(control, usize::MAX);
}

/// The unwinder's second time around: it leaves frames now.
const LEAVES: c_int = 2;
/// There is nothing to do here but to go on.
const GO_ON: c_int = 8;

/// What the unwinder calls when an exception passes `run_once`: the attempt is given up. (A thread
/// that is cancelled passes it too.)
extern "C" fn passed(_version: c_int, actions: c_int) -> c_int {
    if actions & LEAVES != 0 {
        // SAFETY: as in `begin_once`; the unwinder has not left the frame of `once` yet.
        unsafe {
            let attempt = &*(*local()).once;
            (*local()).once = attempt.outer;
            give_up(attempt.control, attempt.control);
            serial::wake(attempt.control, usize::MAX);
        }
    }
    GO_ON
}

unsafe extern "C" fn guard_acquire(guard: usize) -> c_int {
    let pc = caller();
    // A wait for another thread's initialisation goes through `syscall`, which is ours too.
    // SAFETY: see `once`.
    let first = unsafe { real::__cxa_guard_acquire(guard) };
    match first {
        0 => event::sync(Op::Receive, guard, pc),
        _ => {
            try_again(guard, pc);
            serial::noticed(Op::Receive, guard, pc);
        }
    }
    first
}

/// The compiler reads the guard's first byte by an instrumented atomic load; the library's
/// store to it is not instrumented, so it is recorded here.
unsafe extern "C" fn guard_release(guard: usize) -> usize {
    let pc = caller();
    if threads::visible() {
        Sync::new(Op::Send, guard, pc).record();
        let store = Sync {
            order: Order::Release,
            ..Sync::new(Op::AtomicWrite, guard, pc)
        };
        match mode() {
            Mode::Serial => serial::sync(&store, [0; 2], [1, 0]),
            _ => store.record(),
        }
    }
    // SAFETY: see `once`.
    unsafe { real::__cxa_guard_release(guard) }
}

unsafe extern "C" fn guard_abort(guard: usize) -> usize {
    give_up(guard, caller());
    // SAFETY: see `once`.
    unsafe { real::__cxa_guard_abort(guard) }
}
