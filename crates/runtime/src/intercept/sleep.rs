//! Sleeping and yielding. In a serial recording nobody sleeps: a sleeper is a thread that lets
//! all others go first.

use core::ffi::c_int;

use super::descriptor::blocking;
use super::real;
use crate::inputs;
use crate::serial;
use crate::threads;

const SECOND: u64 = 1_000_000_000;

/// How many nanoseconds were left when a handler ended a sleep that a serial recording has taken
/// care of; 0 if none did.
fn skipped(nanoseconds: u64) -> Option<u64> {
    match threads::visible() {
        true => serial::sleep(nanoseconds),
        false => None,
    }
}

fn interrupted() -> c_int {
    // SAFETY: the C library's own address of the thread's error number.
    unsafe { *libc::__errno_location() = libc::EINTR };
    -1
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sleep(seconds: u32) -> u32 {
    match skipped(u64::from(seconds) * SECOND) {
        Some(left) => (left / SECOND) as u32,
        // SAFETY: (here and below) the arguments are the program's own, for this very function.
        None => blocking(|| unsafe { real::sleep(seconds) }),
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn usleep(microseconds: u32) -> c_int {
    match skipped(u64::from(microseconds) * 1000) {
        Some(0) => 0,
        Some(_) => interrupted(),
        // SAFETY: see `sleep`.
        None => blocking(|| unsafe { real::usleep(microseconds) }),
    }
}

/// Says how much was left of a sleep, if the program wants to know.
unsafe fn tell_rest(rest: usize, left: u64) {
    if rest != 0 {
        let left = libc::timespec {
            tv_sec: (left / SECOND) as i64,
            tv_nsec: (left % SECOND) as i64,
        };
        // SAFETY: the program's own place, as the caller says.
        unsafe { (rest as *mut libc::timespec).write_unaligned(left) };
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn nanosleep(time: usize, rest: usize) -> c_int {
    // SAFETY: see `sleep`.
    unsafe {
        match skipped(serial::nanoseconds(time)) {
            Some(0) => 0,
            Some(left) => {
                tell_rest(rest, left);
                interrupted()
            }
            None => blocking(|| real::nanosleep(time, rest)),
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
        match skipped(wanted.saturating_sub(now)) {
            Some(0) => 0,
            Some(left) => {
                if !absolute {
                    tell_rest(rest, left);
                }
                libc::EINTR
            }
            None => blocking(|| real::clock_nanosleep(clock, flags, time, rest)),
        }
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

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn thrd_sleep(time: usize, rest: usize) -> c_int {
    // SAFETY: see `sleep`. It answers -1 as well when a handler ends it.
    unsafe { nanosleep(time, rest) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn thrd_yield() {
    // SAFETY: see `sleep`.
    unsafe { sched_yield() };
}
