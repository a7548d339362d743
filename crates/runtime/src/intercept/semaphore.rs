//! Semaphores. Unlike the other thread functions they answer -1 and set `errno`.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::{Op, TRIED};

use super::{Taking, give, real, refused};
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event::{self, Kind, Sync};
use crate::record::{Mode, mode};
use crate::serial::Limit;
use crate::threads;
use crate::watch::enforce;

trampoline! {
    "sem_init" => sem_init;
    "sem_destroy" => sem_destroy;
    "sem_wait" => sem_wait;
    "sem_trywait" => sem_trywait;
    "sem_timedwait" => sem_timedwait;
    "sem_clockwait" => sem_clockwait;
    "sem_post" => sem_post;
}

fn errno() -> *mut c_int {
    // SAFETY: the C library's own address of the thread's error number.
    unsafe { libc::__errno_location() }
}

/// 0, or the error number that the function left.
fn as_error(result: c_int) -> c_int {
    // SAFETY: the address is valid.
    if result == 0 { 0 } else { unsafe { *errno() } }
}

/// The C library's way to answer an error number.
fn from_error(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    // SAFETY: the address is valid.
    unsafe { *errno() = error };
    -1
}

unsafe extern "C" fn sem_init(semaphore: usize, shared: c_int, value: u32) -> c_int {
    let pc = caller();
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    let result = unsafe { real::sem_init(semaphore, shared, value) };
    if shared != 0 {
        crate::process::memory_is_shared();
    }
    if result == 0 && threads::visible() {
        let made = Sync::life(Op::Init, Kind::Semaphore, semaphore, pc);
        // Of one that is shared with other processes nobody knows what it holds.
        match shared {
            0 => made.with(u64::from(value)).record(),
            _ => made.record(),
        }
    }
    result
}

unsafe extern "C" fn sem_destroy(semaphore: usize) -> c_int {
    let pc = caller();
    crate::serial::gate(Op::Destroy, semaphore, 0, pc);
    event::life(Op::Destroy, Kind::Semaphore, semaphore, pc);
    // SAFETY: see `sem_init`.
    unsafe { real::sem_destroy(semaphore) }
}

/// One attempt; `EBUSY` if the semaphore is at zero.
fn attempt(semaphore: usize) -> c_int {
    // SAFETY: see `sem_init`.
    match as_error(unsafe { real::sem_trywait(semaphore) }) {
        libc::EAGAIN => libc::EBUSY,
        error => error,
    }
}

/// Semaphores that threads have raised which take no part in the recording, libc's own, and from
/// where.
static RAISED: [[AtomicUsize; 2]; 64] = [const { [const { AtomicUsize::new(0) }; 2] }; 64];
static RAISES: AtomicUsize = AtomicUsize::new(0);

/// A thread of libc's own raises a semaphore in a serial recording. Whoever lowers it says so.
fn post_from_outside(semaphore: usize, pc: usize) {
    // SAFETY: the thread's own state.
    let is_known = unsafe { !(*local()).thread.is_null() };
    if mode() != Mode::Serial || is_known {
        return;
    }
    let claim = |slot: &&[AtomicUsize; 2]| {
        slot[0]
            .compare_exchange(0, semaphore, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    };
    if let Some(slot) = RAISED.iter().find(claim) {
        slot[1].store(pc, Ordering::Release);
        RAISES.fetch_add(1, Ordering::Release);
    }
}

/// A semaphore was lowered. If a thread had raised it that takes no part, that is written down now:
/// the count would be wrong without.
pub fn lowered(semaphore: usize) {
    if RAISES.load(Ordering::Acquire) == 0 {
        return;
    }
    let is_it = |slot: &&[AtomicUsize; 2]| slot[0].load(Ordering::Acquire) == semaphore;
    if let Some(slot) = RAISED.iter().find(is_it) {
        let pc = slot[1].load(Ordering::Acquire);
        RAISES.fetch_sub(1, Ordering::Relaxed);
        slot[0].store(0, Ordering::Release);
        Sync::new(Op::Post, semaphore, pc).record();
    }
}

fn take(semaphore: usize, pc: usize, limit: Limit, block: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the address is valid.
    let before = unsafe { *errno() };
    let taking = Taking {
        object: semaphore,
        pc,
        op: Op::Take,
        request: None,
        limit,
    };
    let error = taking.run(|| attempt(semaphore), || as_error(block()));
    if error == 0 {
        // SAFETY: as above.
        unsafe { *errno() = before };
    }
    from_error(error)
}

unsafe extern "C" fn sem_wait(semaphore: usize) -> c_int {
    // SAFETY: see `sem_init`.
    take(semaphore, caller(), Limit::None, || unsafe {
        real::sem_wait(semaphore)
    })
}

unsafe extern "C" fn sem_timedwait(semaphore: usize, time: usize) -> c_int {
    // SAFETY: see `sem_init`.
    let pc = caller();
    // SAFETY: as above.
    let limit = unsafe { Limit::until(libc::CLOCK_REALTIME, time) };
    // SAFETY: as above.
    take(semaphore, pc, limit, || unsafe {
        real::sem_timedwait(semaphore, time)
    })
}

unsafe extern "C" fn sem_clockwait(semaphore: usize, clock: c_int, time: usize) -> c_int {
    // SAFETY: see `sem_init`.
    take(
        semaphore,
        caller(),
        unsafe { Limit::until(clock, time) },
        || unsafe { real::sem_clockwait(semaphore, clock, time) },
    )
}

unsafe extern "C" fn sem_trywait(semaphore: usize) -> c_int {
    let pc = caller();
    let visible = threads::visible();
    if !visible {
        // SAFETY: see `sem_init`.
        return unsafe { real::sem_trywait(semaphore) };
    }
    crate::serial::point_before(Op::Take, semaphore, 0, pc);
    let turn = enforce::turn(Op::Take, semaphore, pc);
    // SAFETY: see `sem_init`.
    let result = unsafe { real::sem_trywait(semaphore) };
    match as_error(result) {
        0 => {
            lowered(semaphore);
            Sync::new(Op::Take, semaphore, pc).with(TRIED).record();
        }
        error => {
            refused(Op::Take, semaphore, pc, error);
            from_error(error);
        }
    }
    turn.done(result == 0);
    result
}

unsafe extern "C" fn sem_post(semaphore: usize) -> c_int {
    let pc = caller();
    let is_visible = threads::visible();
    if is_visible {
        crate::serial::point_before(Op::Post, semaphore, 0, pc);
    } else {
        // Before anybody can lower it.
        post_from_outside(semaphore, pc);
    }
    from_error(give(Op::Post, semaphore, pc, || {
        // SAFETY: see `sem_init`.
        as_error(unsafe { real::sem_post(semaphore) })
    }))
}
