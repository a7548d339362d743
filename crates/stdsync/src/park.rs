//! Threads that wait to be called by their name.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread::Thread;
use std::time::Duration;

use crate::{futex, layout};

/// Nobody called, nobody waits.
pub const EMPTY: u32 = 0;
/// Somebody called.
pub const CALLED: u32 = 1;
/// The thread sleeps.
pub const ASLEEP: u32 = u32::MAX;

/// Waits until `thread`, the running one, is called.
pub fn park(thread: &Thread) {
    sleep(word(thread), None);
}

/// The same, at most so long.
pub fn park_timeout(thread: &Thread, limit: Duration) {
    sleep(word(thread), Some(limit));
}

/// Waits until the running thread is called.
pub fn park_me() {
    park(&Me::new().0);
}

/// The same, at most so long.
pub fn park_me_timeout(limit: Duration) {
    park_timeout(&Me::new().0, limit);
}

fn sleep(word: &AtomicU32, limit: Option<Duration>) {
    if word.fetch_sub(1, Acquire) == CALLED {
        return;
    }
    loop {
        futex::wait(word, ASLEEP, limit);
        if limit.is_some() {
            word.swap(EMPTY, Acquire);
            return;
        }
        if word
            .compare_exchange(CALLED, EMPTY, Acquire, Relaxed)
            .is_ok()
        {
            return;
        }
    }
}

fn word(thread: &Thread) -> &AtomicU32 {
    // SAFETY: the probe found the word at this place of a thread's record, which lives as long
    // as anybody knows the thread.
    unsafe { &*record(thread).add(layout::PARKER).cast() }
}

/// The record behind a thread's handle.
fn record(thread: &Thread) -> *const u8 {
    // SAFETY: a handle is a pointer to the record and nothing else; the probe has checked it.
    unsafe { *std::ptr::from_ref(thread).cast() }
}

/// The running thread's handle. The library counts it in code that is not seen, so it must be
/// given back unseen, too: the count would seem to go down by itself.
struct Me(std::mem::ManuallyDrop<Thread>);

impl Me {
    fn new() -> Self {
        Me(std::mem::ManuallyDrop::new(std::thread::current()))
    }
}

impl Drop for Me {
    fn drop(&mut self) {
        let count = record(&self.0);
        // SAFETY: the probe found the count at the record's start. The thread itself holds it as
        // well, so this is not the last one.
        unsafe {
            std::arch::asm!("lock dec qword ptr [{}]", in(reg) count, options(nostack));
        }
    }
}
