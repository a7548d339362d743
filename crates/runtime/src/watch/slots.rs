//! Slots: the threads' numbers in shadow cells and clocks, of which there are few.
//!
//! A thread has a slot while it lives. A slot is used again, after others that became free
//! before it; its time goes on where it was, so what is known of the former thread stays true. An
//! access of the former thread then looks like one of the new thread's own: a race between the two is
//! missed, none is invented. So new slots are taken as long as there are [`PLENTY`].

use core::sync::atomic::{AtomicU32, Ordering};

use crate::memory;
use crate::sys::Spin;

/// How many there are; the first is nobody's, so that an empty cell is zero.
pub const SLOTS: usize = 1024;
/// The last time of a slot; cells have 24 bits for it.
pub const LAST_TIME: u32 = (1 << 24) - 1;
/// A slot whose time has come this far is not used again.
const WORN: u32 = LAST_TIME - (1 << 12);
/// As long as fewer were used, threads get slots that nobody had.
const PLENTY: usize = 128;
/// How many tenures are remembered: enough for every thread there can be, and their moves.
const TENURES: u32 = 1 << 23;

/// The time of each slot.
static TIMES: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];

/// Who had a slot, and since when.
struct Tenure {
    since: u32,
    thread: u32,
    before: u32,
}

struct State {
    /// The lowest slot that nobody had yet.
    fresh: usize,
    /// Free slots, the first to be used next.
    free: [u16; SLOTS],
    first: usize,
    count: usize,
    /// The last tenure of each slot; 0 is none.
    last: [u32; SLOTS],
    tenures: *mut Tenure,
    tenure_count: u32,
}
struct Shared(core::cell::UnsafeCell<State>);
// SAFETY: only touched under `LOCK`.
unsafe impl Sync for Shared {}
static LOCK: Spin = Spin::new();
static STATE: Shared = Shared(core::cell::UnsafeCell::new(State {
    fresh: 1,
    free: [0; SLOTS],
    first: 0,
    count: 0,
    last: [0; SLOTS],
    tenures: core::ptr::null_mut(),
    tenure_count: 1,
}));

fn locked<R>(action: impl FnOnce(&mut State) -> R) -> R {
    LOCK.lock();
    // SAFETY: the lock.
    let result = action(unsafe { &mut *STATE.0.get() });
    LOCK.unlock();
    result
}

/// Gives a thread a slot; the slot and its first time. `None`: all are taken.
pub fn take(thread: u32) -> Option<(usize, u32)> {
    locked(|state| {
        let slot = if state.fresh < PLENTY || (state.count == 0 && state.fresh < SLOTS) {
            state.fresh += 1;
            state.fresh - 1
        } else if state.count > 0 {
            let slot = state.free[state.first];
            state.first = (state.first + 1) % SLOTS;
            state.count -= 1;
            usize::from(slot)
        } else {
            return None;
        };
        let since = TIMES[slot].load(Ordering::Relaxed) + 1;
        TIMES[slot].store(since, Ordering::Relaxed);
        state.enter(slot, since, thread);
        Some((slot, since))
    })
}

/// A thread does not need its slot any more.
pub fn give_back(slot: usize) {
    if TIMES[slot].load(Ordering::Relaxed) >= WORN {
        return;
    }
    locked(|state| {
        let at = (state.first + state.count) % SLOTS;
        state.free[at] = slot as u16;
        state.count += 1;
    });
}

/// The slot's owner is at this time.
#[inline]
pub fn set_time(slot: usize, time: u32) {
    TIMES[slot].store(time, Ordering::Relaxed);
}

/// The time of a slot.
pub fn time(slot: usize) -> u32 {
    TIMES[slot].load(Ordering::Relaxed)
}

/// The thread that had a slot at a time.
pub fn thread_at(slot: usize, time: u32) -> Option<u32> {
    locked(|state| {
        let mut tenure = state.last[slot];
        while tenure != 0 {
            // SAFETY: numbers of tenures are within the array.
            let entry = unsafe { &*state.tenures.add(tenure as usize) };
            if entry.since <= time {
                return Some(entry.thread);
            }
            tenure = entry.before;
        }
        None
    })
}

impl State {
    fn enter(&mut self, slot: usize, since: u32, thread: u32) {
        if self.tenures.is_null() {
            self.tenures = memory::pages(TENURES as usize);
        }
        if self.tenures.is_null() || self.tenure_count == TENURES {
            return;
        }
        let before = self.last[slot];
        // SAFETY: within the array.
        unsafe {
            *self.tenures.add(self.tenure_count as usize) = Tenure {
                since,
                thread,
                before,
            };
        }
        self.last[slot] = self.tenure_count;
        self.tenure_count += 1;
    }
}

/// In a forked process: all slots are free but one, which its only thread keeps under its new
/// number.
pub fn keep_only(kept: usize, thread: u32) {
    LOCK.unlock();
    locked(|state| {
        (state.first, state.count) = (0, 0);
        for slot in 1..state.fresh {
            if slot != kept && time(slot) < WORN {
                state.free[state.count] = slot as u16;
                state.count += 1;
            }
        }
        state.enter(kept, time(kept), thread);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the slots are the program's.
    #[test]
    fn slots_are_used_again_oldest_first_and_remember_their_threads() {
        let first: Vec<_> = (0..SLOTS as u32 - 1).map(|i| take(i).unwrap()).collect();
        assert_eq!(take(5000), None);
        set_time(7, 40);
        give_back(7);
        give_back(9);
        let seven = take(5001);
        assert_eq!(seven, Some((7, 41)));
        assert_eq!(take(5002).unwrap().0, 9);
        assert_eq!(thread_at(7, 40), Some(6));
        assert_eq!(thread_at(7, 41), Some(5001));
        assert_eq!(first[6], (7, 1));
        // A worn slot is never used again.
        set_time(7, LAST_TIME);
        give_back(7);
        assert_eq!(take(5003), None);
        keep_only(3, 6000);
        assert_eq!(thread_at(3, time(3)), Some(6000));
        let mut free = vec![];
        while let Some((slot, _)) = take(1) {
            free.push(slot);
        }
        assert_eq!(free.len(), SLOTS - 3); // Not the first, not the kept, not the worn one.
        assert!(!free.contains(&3) && !free.contains(&7));
    }
}
