//! Conditions. The word counts notifications; who sleeps, sleeps until it changes. The runtime counts and sleeps, so that
//! a wait is recorded as one.

use std::ffi::c_int;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::{futex, mutex};

unsafe extern "C" {
    fn __deadheat_condition_enter(count: *const u32) -> u32;
    fn __deadheat_condition_sleep(count: *const u32, seen: u32, until: *const futex::Time)
    -> c_int;
    fn __deadheat_condition_notify(count: *const u32, all: c_int);
}

/// Gives the mutex back, waits for a notification and takes it again.
pub fn wait(count: &AtomicU32, lock: &AtomicU32) {
    sleep(count, lock, None);
}

/// The same, at most so long; false if the time was up.
pub fn wait_timeout(count: &AtomicU32, lock: &AtomicU32, limit: Duration) -> bool {
    sleep(count, lock, Some(limit))
}

fn sleep(count: &AtomicU32, lock: &AtomicU32, limit: Option<Duration>) -> bool {
    // SAFETY: the word lives as long as the reference.
    let seen = unsafe { __deadheat_condition_enter(count.as_ptr()) };
    mutex::unlock(lock);
    let notified = futex::until(limit, |time| {
        // SAFETY: as above; the time lives as long as this call.
        unsafe { __deadheat_condition_sleep(count.as_ptr(), seen, time) != 0 }
    });
    mutex::lock(lock);
    notified
}

/// Wakes one.
pub fn notify_one(count: &AtomicU32) {
    // SAFETY: the word lives as long as the reference.
    unsafe { __deadheat_condition_notify(count.as_ptr(), 0) };
}

/// Wakes all.
pub fn notify_all(count: &AtomicU32) {
    // SAFETY: as above.
    unsafe { __deadheat_condition_notify(count.as_ptr(), 1) };
}
