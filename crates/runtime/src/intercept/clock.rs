//! The time of day. In a serial recording it is the scheduler's: the same in every run.

use core::ffi::c_int;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::serial;

trampoline! {
    "clock_gettime" => clock_gettime;
    "gettimeofday" => gettimeofday;
    "time" => time;
    "timespec_get" => timespec_get;
}

const SECOND: u64 = 1_000_000_000;

// SAFETY of all calls below: the arguments are the program's own, for this very function.

/// Stores the scheduler's time, if it is to be shown; false if not.
unsafe fn store(clock: c_int, place: usize, pc: usize) -> bool {
    let Some(now) = serial::now(clock) else {
        return false;
    };
    let time = libc::timespec {
        tv_sec: (now / SECOND) as i64,
        tv_nsec: (now % SECOND) as i64,
    };
    event::range(true, place, size_of::<libc::timespec>(), pc);
    unsafe { (place as *mut libc::timespec).write_unaligned(time) };
    true
}

unsafe extern "C" fn clock_gettime(clock: c_int, place: usize) -> c_int {
    let pc = caller();
    unsafe {
        if place != 0 && store(clock, place, pc) {
            return 0;
        }
        let result = real::clock_gettime(clock, place);
        if result == 0 {
            event::range(true, place, size_of::<libc::timespec>(), pc);
        }
        result
    }
}

unsafe extern "C" fn timespec_get(place: usize, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    let pc = caller();
    unsafe {
        if base == TIME_UTC && store(libc::CLOCK_REALTIME, place, pc) {
            return base;
        }
        real::timespec_get(place, base)
    }
}

unsafe extern "C" fn gettimeofday(place: usize, zone: usize) -> c_int {
    let pc = caller();
    unsafe {
        let Some(now) = serial::now(libc::CLOCK_REALTIME) else {
            return real::gettimeofday(place, zone);
        };
        if place != 0 {
            let time = libc::timeval {
                tv_sec: (now / SECOND) as i64,
                tv_usec: (now % SECOND / 1000) as i64,
            };
            event::range(true, place, size_of::<libc::timeval>(), pc);
            (place as *mut libc::timeval).write_unaligned(time);
        }
    }
    0
}

unsafe extern "C" fn time(place: usize) -> libc::time_t {
    let pc = caller();
    unsafe {
        let seconds = match serial::now(libc::CLOCK_REALTIME) {
            Some(now) => (now / SECOND) as libc::time_t,
            None => real::time(0),
        };
        if place != 0 {
            event::range(true, place, size_of::<libc::time_t>(), pc);
            (place as *mut libc::time_t).write_unaligned(seconds);
        }
        seconds
    }
}
