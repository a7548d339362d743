//! Conditions. The word counts notifications; who sleeps, sleeps until it changes.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::{futex, mutex};

/// Gives the mutex back, waits for a notification and takes it again.
pub fn wait(count: &AtomicU32, lock: &AtomicU32) {
    sleep(count, lock, None);
}

/// The same, at most so long; false if the time was up.
pub fn wait_timeout(count: &AtomicU32, lock: &AtomicU32, limit: Duration) -> bool {
    sleep(count, lock, Some(limit))
}

fn sleep(count: &AtomicU32, lock: &AtomicU32, limit: Option<Duration>) -> bool {
    let seen = count.load(Relaxed);
    mutex::unlock(lock);
    let notified = futex::wait(count, seen, limit);
    mutex::lock(lock);
    notified
}

/// Wakes one.
pub fn notify_one(count: &AtomicU32) {
    count.fetch_add(1, Relaxed);
    futex::wake(count, 1);
}

/// Wakes all.
pub fn notify_all(count: &AtomicU32) {
    count.fetch_add(1, Relaxed);
    futex::wake(count, i32::MAX);
}
