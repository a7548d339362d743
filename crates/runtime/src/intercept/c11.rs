//! C11's threads. glibc implements them on the same objects as the POSIX ones, but calls its
//! own internals; so each is expressed by the POSIX function that we stand in for.

use core::ffi::{c_int, c_void};

use super::{condition, lock, once, thread};
use crate::hooks::{caller, trampoline};
use crate::record::event;

trampoline! {
    "thrd_create" => thrd_create;
    "thrd_join" => thrd_join;
    "thrd_detach" => thrd_detach;
    "thrd_exit" => thrd_exit;
    "mtx_destroy" => mtx_destroy;
    "mtx_lock" => mtx_lock;
    "mtx_timedlock" => mtx_timedlock;
    "mtx_trylock" => mtx_trylock;
    "mtx_unlock" => mtx_unlock;
    "cnd_destroy" => cnd_destroy;
    "cnd_wait" => cnd_wait;
    "cnd_timedwait" => cnd_timedwait;
    "cnd_signal" => cnd_signal;
    "cnd_broadcast" => cnd_broadcast;
    "call_once" => call_once;
}

/// C11's answers for POSIX's.
fn answer(error: c_int) -> c_int {
    const SUCCESS: c_int = 0;
    const BUSY: c_int = 1;
    const ERROR: c_int = 2;
    const NO_MEMORY: c_int = 3;
    const TIMED_OUT: c_int = 4;
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

type Function = extern "C" fn(*mut c_void) -> c_int;

// SAFETY of all calls below: the arguments are the program's own; the objects have the layout of
// their POSIX counterparts in glibc.

/// A C11 thread's function returns an `int`; the register's upper half does not matter to
/// `thrd_join`, which takes the lower one.
unsafe extern "C" fn thrd_create(
    handle: *mut libc::pthread_t,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    let function: thread::Function = unsafe { core::mem::transmute(function) };
    answer(unsafe { thread::create(handle, core::ptr::null(), function, argument) })
}

unsafe extern "C" fn thrd_join(handle: libc::pthread_t, result: *mut c_int) -> c_int {
    let pc = caller();
    let mut value = core::ptr::null_mut();
    let error = unsafe { thread::join(handle, &mut value) };
    if error == 0 && !result.is_null() {
        unsafe { *result = value as usize as c_int };
        event::range(true, result as usize, size_of::<c_int>(), pc);
    }
    answer(error)
}

unsafe extern "C" fn thrd_detach(handle: libc::pthread_t) -> c_int {
    answer(unsafe { thread::detach(handle) })
}

unsafe extern "C" fn thrd_exit(result: c_int) -> usize {
    unsafe { thread::exit(result as isize as *mut c_void) }
}

unsafe extern "C" fn mtx_destroy(lock: usize) {
    unsafe { lock::mutex_destroy(lock) };
}

unsafe extern "C" fn mtx_lock(lock: usize) -> c_int {
    answer(unsafe { lock::mutex_lock(lock) })
}

unsafe extern "C" fn mtx_timedlock(lock: usize, time: usize) -> c_int {
    answer(unsafe { lock::mutex_timedlock(lock, time) })
}

unsafe extern "C" fn mtx_trylock(lock: usize) -> c_int {
    answer(unsafe { lock::mutex_trylock(lock) })
}

unsafe extern "C" fn mtx_unlock(lock: usize) -> c_int {
    answer(unsafe { lock::mutex_unlock(lock) })
}

unsafe extern "C" fn cnd_destroy(condition: usize) {
    unsafe { condition::cond_destroy(condition) };
}

unsafe extern "C" fn cnd_wait(condition: usize, lock: usize) -> c_int {
    answer(unsafe { condition::cond_wait(condition, lock) })
}

unsafe extern "C" fn cnd_timedwait(condition: usize, lock: usize, time: usize) -> c_int {
    answer(unsafe { condition::cond_timedwait(condition, lock, time) })
}

unsafe extern "C" fn cnd_signal(condition: usize) -> c_int {
    answer(unsafe { condition::cond_signal(condition) })
}

unsafe extern "C" fn cnd_broadcast(condition: usize) -> c_int {
    answer(unsafe { condition::cond_broadcast(condition) })
}

unsafe extern "C" fn call_once(control: usize, routine: extern "C" fn()) {
    unsafe { once::once(control, routine) };
}
