//! Sleeping on a word, as the library does it: through the C library's `syscall`.

use std::ffi::{c_int, c_long};
use std::ptr::null;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
    fn __errno_location() -> *mut c_int;
}

/// A time of the monotonic clock.
#[repr(C)]
pub struct Time {
    seconds: i64,
    nanoseconds: i64,
}

const SYS_FUTEX: c_long = 202;
const WAIT_UNTIL: c_int = 9 | PRIVATE; // FUTEX_WAIT_BITSET
const WAKE: c_int = 1 | PRIVATE;
const PRIVATE: c_int = 128;
const ANY: u32 = u32::MAX;
const MONOTONIC: c_int = 1;
const TIMED_OUT: c_int = 110;

/// Sleeps while `word` has the value `expected`, at most so long. False if the time was up.
/// It may also return for no reason.
pub fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) -> bool {
    // SAFETY: the word lives as long as the reference, the time until the end of the call;
    // the kernel only reads them.
    until(limit, |time| unsafe {
        let result = syscall(
            SYS_FUTEX,
            word.as_ptr(),
            WAIT_UNTIL,
            expected,
            time,
            null::<u32>(),
            ANY,
        );
        result >= 0 || *__errno_location() != TIMED_OUT
    })
}

/// Sleeps with the time at which the limit is over, if there is one: null is none.
pub fn until(limit: Option<Duration>, sleep: impl FnOnce(*const Time) -> bool) -> bool {
    // A time beyond what the clock can show is no limit.
    let until = limit.and_then(after);
    sleep(until.as_ref().map_or(null(), |time| time as *const Time))
}

/// Wakes at most so many sleepers; how many there were.
pub fn wake(word: &AtomicU32, most: i32) -> usize {
    // SAFETY: the kernel takes the address as a name only.
    let woken = unsafe { syscall(SYS_FUTEX, word.as_ptr(), WAKE, most) };
    woken.max(0) as usize
}

fn after(limit: Duration) -> Option<Time> {
    let mut now = Time {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: a place for the answer.
    unsafe { clock_gettime(MONOTONIC, &mut now) };
    let nanoseconds = now.nanoseconds + i64::from(limit.subsec_nanos());
    Some(Time {
        seconds: now
            .seconds
            .checked_add_unsigned(limit.as_secs())?
            .checked_add(nanoseconds / 1_000_000_000)?,
        nanoseconds: nanoseconds % 1_000_000_000,
    })
}
