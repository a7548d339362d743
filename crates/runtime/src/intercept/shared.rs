//! Objects that other processes may use as well: from then on, somebody outside may end a wait.

use core::ffi::c_int;

use super::real;
use crate::hooks::trampoline;
use crate::process;

trampoline! {
    "pthread_mutexattr_setpshared" => mutex;
    "pthread_rwlockattr_setpshared" => rwlock;
    "pthread_condattr_setpshared" => condition;
    "pthread_barrierattr_setpshared" => barrier;
    "sem_open" => sem_open;
}

fn note(shared: c_int) {
    if shared != libc::PTHREAD_PROCESS_PRIVATE {
        process::memory_is_shared();
    }
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn mutex(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_mutexattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn rwlock(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_rwlockattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn condition(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_condattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn barrier(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_barrierattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn sem_open(name: usize, flags: c_int, mode: u32, value: u32) -> usize {
    process::memory_is_shared();
    unsafe { real::sem_open(name, flags, mode, value) }
}
