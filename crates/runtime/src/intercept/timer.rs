//! Timers that end in a signal. In a serial recording they run on the scheduler's time, see
//! `serial::timers`; those that end in a thread of libc's own are left to libc.

use core::ffi::{c_int, c_uint};

use super::real;
use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::serial::timers::{self, Setting};
use crate::{options, process, serial, threads};

trampoline! {
    "alarm" => alarm;
    "ualarm" => ualarm;
    "setitimer" => setitimer;
    "getitimer" => getitimer;
    "timer_create" => timer_create;
    "timer_settime" => timer_settime;
    "timer_gettime" => timer_gettime;
    "timer_delete" => timer_delete;
    "timer_getoverrun" => timer_getoverrun;
}

const SECOND: u64 = 1_000_000;
/// Timers of ours have numbers from here on; the kernel's count from zero.
const OURS: usize = 0x4448_0000;

// SAFETY of all calls below: the arguments are the program's own, for this very function.

/// Whether timers run on the scheduler's time. With kernel threads of their own, threads that wait in
/// the kernel would get their signals before they are there.
fn is_virtual() -> bool {
    serial::is_green() && options::CLOCK.get() == 0 && threads::visible()
}

fn failed(error: c_int) -> c_int {
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The signals of `setitimer`'s three.
const SIGNALS: [c_int; timers::MADE] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// Sets one of `setitimer`'s; what it was set to.
fn set_interval(which: usize, new: Setting) -> Setting {
    serial::point();
    timers::describe(which, SIGNALS[which], 0, 0);
    timers::set(which, serial::steps(), new)
}

unsafe extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let _pc = caller();
    if !is_virtual() {
        return unsafe { real::alarm(seconds) };
    }
    let left = u64::from(seconds) * SECOND;
    let old = set_interval(0, Setting { left, interval: 0 });
    old.left.div_ceil(SECOND) as c_uint
}

unsafe extern "C" fn ualarm(microseconds: c_uint, interval: c_uint) -> c_uint {
    if !is_virtual() {
        return unsafe { real::ualarm(microseconds, interval) };
    }
    let new = Setting {
        left: microseconds.into(),
        interval: interval.into(),
    };
    set_interval(0, new).left as c_uint
}

fn timeval(steps: u64) -> libc::timeval {
    libc::timeval {
        tv_sec: (steps / SECOND) as i64,
        tv_usec: (steps % SECOND) as i64,
    }
}

fn itimerval(setting: Setting) -> libc::itimerval {
    libc::itimerval {
        it_interval: timeval(setting.interval),
        it_value: timeval(setting.left),
    }
}

unsafe extern "C" fn setitimer(
    which: c_int,
    new: *const libc::itimerval,
    old: *mut libc::itimerval,
) -> c_int {
    if !is_virtual() || !(0..3).contains(&which) || new.is_null() {
        return unsafe { real::setitimer(which, new as usize, old as usize) };
    }
    let wanted = unsafe { new.read() };
    let steps = |time: libc::timeval| time.tv_sec as u64 * SECOND + time.tv_usec as u64;
    let new = Setting {
        left: steps(wanted.it_value),
        interval: steps(wanted.it_interval),
    };
    let before = set_interval(which as usize, new);
    if !old.is_null() {
        unsafe { old.write(itimerval(before)) };
    }
    0
}

unsafe extern "C" fn getitimer(which: c_int, place: *mut libc::itimerval) -> c_int {
    if !is_virtual() || !(0..3).contains(&which) {
        return unsafe { real::getitimer(which, place as usize) };
    }
    let now = timers::get(which as usize, serial::steps());
    unsafe { place.write(itimerval(now)) };
    0
}

unsafe extern "C" fn timer_create(
    clock: c_int,
    event: *const libc::sigevent,
    place: *mut usize,
) -> c_int {
    const THREAD: c_int = 2;
    let notify = unsafe { event.as_ref() }.map_or(libc::SIGEV_SIGNAL, |event| event.sigev_notify);
    if notify == THREAD {
        process::helpers_start();
    }
    if !is_virtual() || notify == THREAD {
        return unsafe { real::timer_create(clock, event as usize, place as usize) };
    }
    let Some(index) = timers::make() else {
        return failed(libc::EAGAIN);
    };
    let id = OURS + index;
    let (signal, value) = match unsafe { event.as_ref() } {
        None => (libc::SIGALRM, id),
        Some(event) if notify == libc::SIGEV_NONE => (0, event.sigev_value.sival_ptr as usize),
        Some(event) => (event.sigev_signo, event.sigev_value.sival_ptr as usize),
    };
    let thread = match unsafe { event.as_ref() } {
        Some(event) if notify == libc::SIGEV_THREAD_ID => {
            let tid = pids::meant(event.sigev_notify_thread_id);
            super::signal::number_of(tid)
        }
        _ => 0,
    };
    timers::describe(index, signal, value, thread);
    unsafe { place.write(id) };
    0
}

/// The timer that the program means, if it is ours.
fn ours(id: usize) -> Option<usize> {
    let index = id.checked_sub(OURS)?;
    timers::exists(index).then_some(index)
}

fn itimerspec(setting: Setting) -> libc::itimerspec {
    let timespec = |steps: u64| libc::timespec {
        tv_sec: (steps / SECOND) as i64,
        tv_nsec: (steps % SECOND * 1000) as i64,
    };
    libc::itimerspec {
        it_interval: timespec(setting.interval),
        it_value: timespec(setting.left),
    }
}

unsafe extern "C" fn timer_settime(
    id: usize,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
) -> c_int {
    let Some(index) = ours(id) else {
        return unsafe { real::timer_settime(id, flags, new as usize, old as usize) };
    };
    serial::point();
    let wanted = unsafe { new.read() };
    let nanoseconds =
        |time: libc::timespec| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    let steps = |time: libc::timespec| nanoseconds(time).div_ceil(1000);
    let is_off = nanoseconds(wanted.it_value) == 0;
    let left = match flags & libc::TIMER_ABSTIME {
        _ if is_off => 0,
        0 => steps(wanted.it_value),
        _ => match unsafe { serial::Limit::until(libc::CLOCK_REALTIME, new as usize + 16) } {
            serial::Limit::After(time) => time.div_ceil(1000).max(1),
            serial::Limit::None => 1,
        },
    };
    let new = Setting {
        left,
        interval: steps(wanted.it_interval),
    };
    let before = timers::set(index, serial::steps(), new);
    if !old.is_null() {
        unsafe { old.write(itimerspec(before)) };
    }
    0
}

unsafe extern "C" fn timer_gettime(id: usize, place: *mut libc::itimerspec) -> c_int {
    let Some(index) = ours(id) else {
        return unsafe { real::timer_gettime(id, place as usize) };
    };
    let now = timers::get(index, serial::steps());
    unsafe { place.write(itimerspec(now)) };
    0
}

unsafe extern "C" fn timer_delete(id: usize) -> c_int {
    let Some(index) = ours(id) else {
        return unsafe { real::timer_delete(id) };
    };
    timers::remove(index);
    0
}

unsafe extern "C" fn timer_getoverrun(id: usize) -> c_int {
    match ours(id) {
        Some(_) => 0,
        None => unsafe { real::timer_getoverrun(id) },
    }
}
