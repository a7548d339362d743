//! Things that are done once: `pthread_once` and the guards of function-local statics in C++.
//!
//! Whoever did it sends, everybody who finds it done receives.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::{Op, Order};

use super::real;
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event::{self, Sync};
use crate::record::{Mode, mode};
use crate::serial::{self, Limit};
use crate::threads;
use crate::watch;

trampoline! {
    "pthread_once" => once;
    "__cxa_guard_acquire" => guard_acquire;
    "__cxa_guard_release" => guard_release;
    "__cxa_guard_abort" => guard_abort;
}

/// glibc's control word while somebody runs the routine.
const ONCE_RUNNING: i32 = 1;

pub(super) unsafe extern "C" fn once(control: usize, routine: extern "C" fn()) -> c_int {
    let pc = caller();
    if !threads::visible() {
        // SAFETY: (here and below) the arguments are the program's own, for this very function.
        return unsafe { real::pthread_once(control, routine) };
    }
    if mode() == Mode::Serial {
        serial::point();
        // SAFETY: the program's control word.
        while unsafe { (control as *const i32).read_volatile() } & 3 == ONCE_RUNNING {
            serial::wait(control, Limit::None);
        }
    }
    // SAFETY: the thread's own state; a routine may use `pthread_once` itself, so the outer
    // call's is put back.
    let result = unsafe {
        let outer = (*local()).once;
        (*local()).once = [routine as usize, control];
        let result = real::pthread_once(control, run_once);
        (*local()).once = outer;
        result
    };
    Sync::new(Op::Receive, control, pc).record();
    result
}

/// The control words whose routine is running, or was left by an exception.
static ATTEMPTS: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// A routine starts. If it was left by an exception before, in some thread, what that thread did in it
/// is past, but nobody could say so when it was left: when watching, all that was done so far is taken
/// as past, which can only hide races.
fn attempt(control: usize) -> Option<&'static AtomicUsize> {
    if mode() != Mode::Watch {
        return None;
    }
    if let Some(before) = ATTEMPTS
        .iter()
        .find(|place| place.load(Ordering::Acquire) == control)
    {
        watch::take_all_as_past();
        return Some(before);
    }
    let free = |place: &&AtomicUsize| {
        let taken = place.compare_exchange(0, control, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    };
    ATTEMPTS.iter().find(free)
}

/// Runs the program's routine, then says that it is done. Called by glibc in the thread that
/// was first.
extern "C" fn run_once() {
    // SAFETY: `once` has put both there, in this thread.
    unsafe {
        let [routine, control] = (*local()).once;
        let routine: extern "C" fn() = core::mem::transmute(routine);
        let place = attempt(control);
        routine();
        if let Some(place) = place {
            place.store(0, Ordering::Relaxed);
        }
        event::sync(Op::Send, control, control);
        serial::wake(control, usize::MAX);
    }
}

unsafe extern "C" fn guard_acquire(guard: usize) -> c_int {
    let pc = caller();
    // A wait for another thread's initialisation goes through `syscall`, which is ours too.
    // SAFETY: see `once`.
    let first = unsafe { real::__cxa_guard_acquire(guard) };
    if first == 0 {
        event::sync(Op::Receive, guard, pc);
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
    // SAFETY: see `once`.
    unsafe { real::__cxa_guard_abort(guard) }
}
