//! A mutex that somebody else has.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

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
    while word.swap(AWAITED, Acquire) != FREE {
        futex::wait(word, AWAITED, None);
    }
}

/// Takes it.
pub(crate) fn lock(word: &AtomicU32) {
    if word
        .compare_exchange(FREE, TAKEN, Acquire, std::sync::atomic::Ordering::Relaxed)
        .is_err()
    {
        lock_contended(word);
    }
}

/// Gives it back.
pub(crate) fn unlock(word: &AtomicU32) {
    if word.swap(FREE, Release) == AWAITED {
        futex::wake(word, 1);
    }
}
