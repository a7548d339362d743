//! Numbers that the system gives to processes, kernel threads and processors. What a thread was told is
//! an input of its, in serial recordings; who is meant by a number is looked up.

use core::ffi::c_int;

use deadheat_wire::inputs::kind;

use super::real;
use crate::inputs::{self, pids};
use crate::{serial, sys, threads};

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn getpid() -> c_int {
    pids::tell(kind::PROCESS, sys::getpid() as c_int)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn getppid() -> c_int {
    parent()
}

/// The number of the process's parent.
pub fn parent() -> c_int {
    pids::tell(kind::PARENT, sys::call(libc::SYS_getppid, [0; 6]) as c_int)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn gettid() -> c_int {
    kernel_thread()
}

/// The number of the kernel thread that the program believes to be on.
pub fn kernel_thread() -> c_int {
    let real = match threads::visible() {
        // SAFETY: the thread is known.
        true => unsafe { serial::home_tid() },
        false => sys::gettid(),
    };
    pids::tell(kind::KERNEL_THREAD, real)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sched_getcpu() -> c_int {
    // SAFETY: (here and below) the arguments are the program's own, for this very function, but for whom
    // a number means.
    inputs::take(kind::PROCESSOR, || unsafe { real::sched_getcpu() } as u64) as c_int
}
