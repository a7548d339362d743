//! Which processors a thread may run on: a copy of the program that stays on one of them (see `serial::explore::processor`) is told where it could run.

use core::ffi::c_int;

use super::real;
use crate::serial::explore::processor::{self, BYTES};

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sched_getaffinity(process: c_int, size: usize, set: *mut u8) -> c_int {
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    unsafe { corrected(real::sched_getaffinity(process, size, set), size, set) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pthread_getaffinity_np(
    thread: libc::pthread_t,
    size: usize,
    set: *mut u8,
) -> c_int {
    // SAFETY: see `sched_getaffinity`.
    unsafe { corrected(real::pthread_getaffinity_np(thread, size, set), size, set) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sched_setaffinity(process: c_int, size: usize, set: *const u8) -> c_int {
    processor::leave_to_program();
    // SAFETY: see `sched_getaffinity`.
    unsafe { real::sched_setaffinity(process, size, set) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pthread_setaffinity_np(
    thread: libc::pthread_t,
    size: usize,
    set: *const u8,
) -> c_int {
    processor::leave_to_program();
    // SAFETY: see `sched_getaffinity`.
    unsafe { real::pthread_setaffinity_np(thread, size, set) }
}

/// The same answer with another set, if there is one to be told.
///
/// # Safety
/// If it says that there is an answer, `set` has room for so many bytes.
unsafe fn corrected(result: c_int, size: usize, set: *mut u8) -> c_int {
    if result == 0
        && let Some(allowed) = processor::allowed()
    {
        // SAFETY: as the caller says.
        unsafe { core::ptr::copy_nonoverlapping(allowed.as_ptr().cast(), set, size.min(BYTES)) };
    }
    result
}
