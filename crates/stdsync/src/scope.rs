//! Scopes that wait for their threads.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::Thread;

use crate::layout;

/// A thread starts.
pub fn increment_num_running_threads(scope: &u8) {
    // The most that the library allows.
    if running(scope).fetch_add(1, Relaxed) > usize::MAX / 2 {
        running(scope).fetch_sub(1, Relaxed);
        panic!("too many running threads in thread scope");
    }
}

/// A thread has ended; with the last one, whoever waits is called.
pub fn decrement_num_running_threads(scope: &u8, panicked: bool) {
    if panicked {
        // SAFETY: the probe found it at this place of a scope's record.
        unsafe { at::<AtomicBool>(scope, layout::SCOPE_PANICKED) }.store(true, Relaxed);
    }
    // The record must not be touched once the count is down, except by the last one, for which
    // the other side waits to be called.
    // SAFETY: as above.
    let main = unsafe { at::<Thread>(scope, layout::SCOPE_MAIN) };
    if running(scope).fetch_sub(1, Release) == 1 {
        main.unpark();
    }
}

/// A thread that returns nothing. Nobody calls this: with it the compiler makes what such a thread does at its end.
pub fn ends() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| ())
}

fn running(scope: &u8) -> &AtomicUsize {
    // SAFETY: the probe found it at this place of a scope's record.
    unsafe { at(scope, layout::SCOPE_RUNNING) }
}

/// # Safety
/// A `T` lies at this place behind `base` and lives as long.
unsafe fn at<T>(base: &u8, offset: usize) -> &T {
    // SAFETY: as the caller says.
    unsafe { &*std::ptr::from_ref(base).add(offset).cast() }
}
