//! Threads that come back: from a call that they made without the turn, or for the first time.

use core::sync::atomic::{AtomicU32, Ordering};

use super::super::context::ARRIVALS;
use crate::sys;
use crate::threads::Thread;

/// How often a thread came back so far.
pub fn arrivals() -> u32 {
    ARRIVALS.load(Ordering::Acquire)
}

/// The turn's holder waits for others to come back; the watchdog leaves it alone.
static WAITS: AtomicU32 = AtomicU32::new(0);

/// Waits until there are more arrivals than `seen`.
pub fn wait_for_arrivals(seen: u32) {
    WAITS.store(1, Ordering::Relaxed);
    while arrivals() == seen {
        sys::futex_wait(&ARRIVALS, seen, 0);
    }
    WAITS.store(0, Ordering::Relaxed);
}

/// The same, but not for longer than so many milliseconds; whether there are more.
pub fn wait_for_arrivals_until(seen: u32, milliseconds: u64) -> bool {
    let start = sys::milliseconds();
    WAITS.store(1, Ordering::Relaxed);
    while arrivals() == seen && sys::milliseconds() - start < milliseconds {
        sys::futex_wait(&ARRIVALS, seen, milliseconds);
    }
    WAITS.store(0, Ordering::Relaxed);
    arrivals() != seen
}

/// The turn's holder does nothing for a while, on purpose.
pub fn pause(on: bool) {
    WAITS.store(u32::from(on), Ordering::Relaxed);
}

/// Whether the turn's holder waits for others to come back.
pub fn waits() -> bool {
    WAITS.load(Ordering::Relaxed) != 0
}

/// Waits until a thread's context is there to be run.
///
/// # Safety
/// The record is in use.
pub unsafe fn wait_for_arrival(thread: *mut Thread) {
    loop {
        let seen = arrivals();
        // SAFETY: as the caller says.
        if unsafe { (*thread).task.context.parked.load(Ordering::Acquire) } != 0 {
            return;
        }
        sys::futex_wait(&ARRIVALS, seen, 0);
    }
}

/// Says that a thread is there, to whoever waits for it.
pub fn announce() {
    ARRIVALS.fetch_add(1, Ordering::AcqRel);
    sys::futex_wake(&ARRIVALS, u32::MAX >> 1);
}
