//! A mutex that somebody else has.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::futex;

/// Nobody has it.
pub const FREE: u32 = 0;
/// Somebody has it, and nobody waits.
pub const TAKEN: u32 = 1;
/// Somebody has it, and others may be asleep.
pub const AWAITED: u32 = 2;

/// Takes a mutex that was not free.
pub fn lock_contended(word: &AtomicU32) {
    // Whoever comes this way says that others may wait: it cannot know better.
    while !take(word, AWAITED) {
        if word.compare_exchange(TAKEN, AWAITED, Relaxed, Relaxed) != Err(FREE) {
            futex::wait(word, AWAITED, None);
        }
    }
}

/// Takes it.
pub(crate) fn lock(word: &AtomicU32) {
    if !take(word, TAKEN) {
        lock_contended(word);
    }
}

/// Takes it if it is free. (Readers of a trace know this function by its name: a change that it
/// makes is an acquisition.)
fn take(word: &AtomicU32, state: u32) -> bool {
    word.compare_exchange(FREE, state, Acquire, Relaxed).is_ok()
}

/// Gives it back. (This one, too, is known by its name.)
pub(crate) fn unlock(word: &AtomicU32) {
    if word.swap(FREE, Release) == AWAITED {
        futex::wake(word, 1);
    }
}
