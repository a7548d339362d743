//! The time, and how much of it was used. In a serial recording it is the scheduler's: the same in
//! every run with the same schedule; and what a thread saw is an input of its.

use core::ffi::c_int;

use deadheat_wire::inputs::kind;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::{inputs, serial};

trampoline! {
    "clock_gettime" => clock_gettime;
    "gettimeofday" => gettimeofday;
    "time" => time;
    "timespec_get" => timespec_get;
    "clock" => clock;
    "times" => times;
    "getrusage" => getrusage;
}

const MICROSECOND: u64 = 1000;
const SECOND: u64 = 1_000_000_000;
/// What `times` counts in.
const TICK: u64 = SECOND / 100;

// SAFETY of all calls below: the arguments are the program's own, for this very function.

/// What a clock shows to the running thread, in nanoseconds; `None` if that is not our business.
fn shown(clock: c_int) -> Option<u64> {
    if !inputs::kept() {
        return None;
    }
    serial::pauses();
    let now = serial::now(clock).or_else(|| real_time(clock))?;
    Some(inputs::take_time(kind::clock(clock), now))
}

fn real_time(clock: c_int) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = &raw mut time as usize;
    let known = unsafe { real::clock_gettime(clock, place) } == 0;
    known.then(|| unsafe { serial::nanoseconds(place) })
}

/// Stores something that the program wants to have at this place.
unsafe fn store<T>(place: usize, value: T, pc: usize) {
    event::range(true, place, size_of::<T>(), pc);
    unsafe { (place as *mut T).write_unaligned(value) };
}

fn timespec(now: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (now / SECOND) as i64,
        tv_nsec: (now % SECOND) as i64,
    }
}

fn timeval(now: u64) -> libc::timeval {
    libc::timeval {
        tv_sec: (now / SECOND) as i64,
        tv_usec: (now % SECOND / MICROSECOND) as i64,
    }
}

unsafe extern "C" fn clock_gettime(clock: c_int, place: usize) -> c_int {
    let pc = caller();
    unsafe {
        if place != 0
            && let Some(now) = shown(clock)
        {
            store(place, timespec(now), pc);
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
        if base == TIME_UTC
            && let Some(now) = shown(libc::CLOCK_REALTIME)
        {
            store(place, timespec(now), pc);
            return base;
        }
        real::timespec_get(place, base)
    }
}

unsafe extern "C" fn gettimeofday(place: usize, zone: usize) -> c_int {
    let pc = caller();
    unsafe {
        let Some(now) = shown(libc::CLOCK_REALTIME) else {
            return real::gettimeofday(place, zone);
        };
        if place != 0 {
            store(place, timeval(now), pc);
        }
    }
    0
}

unsafe extern "C" fn time(place: usize) -> libc::time_t {
    let pc = caller();
    unsafe {
        let seconds = match shown(libc::CLOCK_REALTIME) {
            Some(now) => (now / SECOND) as libc::time_t,
            None => real::time(0),
        };
        if place != 0 {
            store(place, seconds, pc);
        }
        seconds
    }
}

unsafe extern "C" fn clock() -> libc::clock_t {
    match shown(libc::CLOCK_PROCESS_CPUTIME_ID) {
        Some(now) => (now / MICROSECOND) as libc::clock_t,
        None => unsafe { real::clock() },
    }
}

/// All that was used was used by the program itself.
unsafe extern "C" fn times(place: usize) -> libc::clock_t {
    let pc = caller();
    let Some(used) = shown(libc::CLOCK_PROCESS_CPUTIME_ID) else {
        return unsafe { real::times(place) };
    };
    if place != 0 {
        let used = libc::tms {
            tms_utime: (used / TICK) as i64,
            tms_stime: 0,
            tms_cutime: 0,
            tms_cstime: 0,
        };
        unsafe { store(place, used, pc) };
    }
    let since = shown(libc::CLOCK_MONOTONIC).unwrap_or(0);
    (since / TICK) as libc::clock_t
}

/// Time and memory; the rest (faults, switches) is luck, and shown as 0.
unsafe extern "C" fn getrusage(who: c_int, place: usize) -> c_int {
    let pc = caller();
    unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        let result = real::getrusage(who, &raw mut usage as usize);
        if result != 0 {
            return result;
        }
        if let Some(used) = shown(libc::CLOCK_PROCESS_CPUTIME_ID) {
            let memory = usage.ru_maxrss;
            usage = core::mem::zeroed();
            usage.ru_utime = timeval(used);
            usage.ru_maxrss = inputs::take(kind::MEMORY, || memory as u64) as i64;
        }
        store(place, usage, pc);
        result
    }
}
