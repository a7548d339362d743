//! A read-write lock that somebody else has.
//!
//! Its state counts readers, or says that a writer has it; two bits tell who sleeps. Readers
//! sleep on the state; writers on a word of their own, which counts their calls.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::futex;

/// One reader.
pub const READER: u32 = 1;
/// A writer has it: all bits of the count.
pub const WRITER: u32 = COUNT;
/// Readers sleep.
pub const READERS_WAIT: u32 = 1 << 30;
/// Writers sleep.
pub const WRITERS_WAIT: u32 = 1 << 31;

const COUNT: u32 = READERS_WAIT - 1;
const MOST_READERS: u32 = COUNT - 1;

/// The lock, as it lies in memory.
#[repr(C)]
pub struct RwLock {
    state: AtomicU32,
    writers_called: AtomicU32,
}

#[cfg(test)]
impl RwLock {
    pub(crate) const fn new() -> Self {
        RwLock {
            state: AtomicU32::new(0),
            writers_called: AtomicU32::new(0),
        }
    }

    pub(crate) const fn state(&self) -> &AtomicU32 {
        &self.state
    }
}

const fn is_free(state: u32) -> bool {
    state & COUNT == 0
}

/// Whether a reader may come in: not while others wait, or writers would starve. Readers that
/// were woken because a writer became a reader come in behind it whoever waits.
const fn lets_read(state: u32, woken: bool) -> bool {
    let room = state & COUNT < MOST_READERS;
    let behind_reader = woken && !is_free(state) && state & READERS_WAIT == 0;
    room && (state & (READERS_WAIT | WRITERS_WAIT) == 0 || behind_reader)
}

/// Takes it for reading.
pub fn read_contended(lock: &RwLock) {
    let state = &lock.state;
    let mut woken = false;
    let mut now = state.load(Relaxed);
    loop {
        if lets_read(now, woken) {
            match take_for_reading(state, now) {
                Ok(_) => return,
                Err(other) => now = other,
            }
            continue;
        }
        assert!(
            now & COUNT != MOST_READERS,
            "too many active read locks on RwLock"
        );
        let waiting = now | READERS_WAIT;
        if now != waiting
            && let Err(other) = state.compare_exchange(now, waiting, Relaxed, Relaxed)
        {
            now = other;
            continue;
        }
        futex::wait(state, waiting, None);
        woken = true;
        now = state.load(Relaxed);
    }
}

/// Takes it for writing.
pub fn write_contended(lock: &RwLock) {
    let state = &lock.state;
    let mut now = state.load(Relaxed);
    // Who slept beside other writers cannot know whether they still do.
    let mut others = 0;
    loop {
        if is_free(now) {
            match take_for_writing(state, now, others) {
                Ok(_) => return,
                Err(other) => now = other,
            }
            continue;
        }
        if now & WRITERS_WAIT == 0
            && let Err(other) = state.compare_exchange(now, now | WRITERS_WAIT, Relaxed, Relaxed)
        {
            now = other;
            continue;
        }
        others = WRITERS_WAIT;
        // The count is read before the state: a call in between changes it.
        let called = lock.writers_called.load(Acquire);
        now = state.load(Relaxed);
        if is_free(now) || now & WRITERS_WAIT == 0 {
            continue;
        }
        futex::wait(&lock.writers_called, called, None);
        now = state.load(Relaxed);
    }
}

/// Takes it for reading, if its state is still `now`. (Readers of a trace know this function and
/// the next by their names: a change that they make is an acquisition.)
fn take_for_reading(state: &AtomicU32, now: u32) -> Result<u32, u32> {
    state.compare_exchange_weak(now, now + READER, Acquire, Relaxed)
}

/// Takes it for writing, if its state is still `now`.
fn take_for_writing(state: &AtomicU32, now: u32, others: u32) -> Result<u32, u32> {
    state.compare_exchange_weak(now, now | WRITER | others, Acquire, Relaxed)
}

/// Wakes a writer, or all readers, of a lock that became free with the state `now`. Whoever
/// takes it meanwhile will do so instead when it gives the lock back.
pub fn wake_writer_or_readers(lock: &RwLock, now: u32) {
    let state = &lock.state;
    let settle = |from, to| state.compare_exchange(from, to, Relaxed, Relaxed);
    let mut now = now;
    if now == WRITERS_WAIT {
        match settle(now, 0) {
            Ok(_) => {
                wake_writer(lock);
                return;
            }
            Err(other) => now = other, // readers may have come to wait
        }
    }
    if now == READERS_WAIT | WRITERS_WAIT {
        if settle(now, READERS_WAIT).is_err() || wake_writer(lock) {
            return;
        }
        now = READERS_WAIT; // no writer slept after all
    }
    if now == READERS_WAIT && settle(now, 0).is_ok() {
        futex::wake(state, i32::MAX);
    }
}

fn wake_writer(lock: &RwLock) -> bool {
    lock.writers_called.fetch_add(1, Release);
    futex::wake(&lock.writers_called, 1) > 0
}
