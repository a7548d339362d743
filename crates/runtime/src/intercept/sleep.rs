//! Sleeping and yielding. In a serial recording nobody sleeps: a sleeper is a thread that lets
//! all others go first.

use core::ffi::c_int;

use super::real;
use crate::inputs;
use crate::serial;
use crate::threads;

/// Whether a serial recording has taken care of it.
fn skipped(nanoseconds: u64) -> bool {
    threads::visible() && serial::sleep(nanoseconds)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sleep(seconds: u32) -> u32 {
    if skipped(u64::from(seconds) * 1_000_000_000) {
        0
    } else {
        // SAFETY: (here and below) the arguments are the program's own, for this very function.
        unsafe { real::sleep(seconds) }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn usleep(microseconds: u32) -> c_int {
    if skipped(u64::from(microseconds) * 1000) {
        0
    } else {
        // SAFETY: see `sleep`.
        unsafe { real::usleep(microseconds) }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn nanosleep(time: usize, rest: usize) -> c_int {
    // SAFETY: see `sleep`.
    unsafe {
        if skipped(serial::nanoseconds(time)) {
            0
        } else {
            real::nanosleep(time, rest)
        }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: usize,
    rest: usize,
) -> c_int {
    // SAFETY: see `sleep`.
    unsafe {
        let wanted = serial::nanoseconds(time);
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let now = if absolute {
            serial::now(clock).map_or(0, inputs::as_seen)
        } else {
            0
        };
        if skipped(wanted.saturating_sub(now)) {
            return 0;
        }
        real::clock_nanosleep(clock, flags, time, rest)
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sched_yield() -> c_int {
    if threads::visible() && serial::yield_turn() {
        return 0;
    }
    // SAFETY: see `sleep`.
    unsafe { real::sched_yield() }
}
