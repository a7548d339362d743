//! Vector clocks: how far each slot's past is known.
//!
//! A thread's own clock has room for every slot. What is kept at synchronisation objects is as
//! long as was needed when it was made; memory for those comes in a few sizes and is used again.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::slots::SLOTS;
use crate::memory;
use crate::sys::Spin;

/// The clock of a thread.
pub type Clock = [u32; SLOTS];

/// Slots below this one were used; longer clocks have zeros only.
static USED: AtomicUsize = AtomicUsize::new(1);

/// A slot is used from now on.
pub fn use_slot(slot: usize) {
    USED.fetch_max(slot + 1, Ordering::AcqRel);
}

/// As much of a thread's clock as can be other than zero.
pub fn used() -> usize {
    USED.load(Ordering::Acquire)
}

/// Makes `clock` know what `other` knows.
#[inline]
fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// A clock that is kept. Zeroed, it is the empty one, which knows nothing.
pub struct Kept {
    /// Its memory, of size class `class`; null while it is empty.
    words: *mut u32,
    len: u32,
    class: u32,
}

impl Kept {
    fn as_slice(&self) -> &[u32] {
        if self.words.is_null() {
            return &[];
        }
        // SAFETY: as long as its class, and its owner's alone.
        unsafe { core::slice::from_raw_parts(self.words, self.len as usize) }
    }

    /// Whether it knows nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes a thread's clock know what this one knows.
    pub fn join_into(&self, clock: &mut Clock) {
        join(clock, self.as_slice());
    }

    /// Makes it know what a thread's clock knows. Without memory for it, everything is forgotten,
    /// and `false` the answer.
    pub fn join_from(&mut self, clock: &Clock) -> bool {
        let len = used();
        if !self.reserve(len) {
            return false;
        }
        // SAFETY: `reserve` made room for it.
        let mine = unsafe { core::slice::from_raw_parts_mut(self.words, len) };
        join(mine, &clock[..len]);
        true
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.words.is_null() {
            give_back(self.words, self.class);
            self.words = core::ptr::null_mut();
        }
        self.len = 0;
    }

    /// Exchanges what two know.
    pub fn swap(&mut self, other: &mut Kept) {
        core::mem::swap(self, other);
    }

    fn reserve(&mut self, len: usize) -> bool {
        if len > self.len as usize {
            let class = class_of(len);
            if self.words.is_null() || class > self.class {
                let words = take(class);
                if words.is_null() {
                    return false;
                }
                for (i, word) in self.as_slice().iter().enumerate() {
                    // SAFETY: the new memory is longer.
                    unsafe { words.add(i).write(*word) };
                }
                if !self.words.is_null() {
                    give_back(self.words, self.class);
                }
                (self.words, self.class) = (words, class);
            }
            // What lies behind `len` was zero when the memory was taken.
            self.len = len as u32;
        }
        true
    }
}

/// Sizes: 8, 16, ... 1024 words.
const CLASSES: usize = 8;

fn class_of(len: usize) -> u32 {
    len.next_power_of_two().max(8).trailing_zeros() - 3
}

/// Memory that is free, by size: each piece's first word-pair points to the next.
struct Pool {
    free: [*mut u32; CLASSES],
    /// What is left of the last pages taken.
    rest: *mut u32,
    left: usize,
}
struct Shared(core::cell::UnsafeCell<Pool>);
// SAFETY: only touched under `LOCK`.
unsafe impl Sync for Shared {}
static LOCK: Spin = Spin::new();
static POOL: Shared = Shared(core::cell::UnsafeCell::new(Pool {
    free: [core::ptr::null_mut(); CLASSES],
    rest: core::ptr::null_mut(),
    left: 0,
}));
const CHUNK: usize = 1 << 18;

/// Zeroed memory of a class; null if there is none.
fn take(class: u32) -> *mut u32 {
    let words = 8usize << class;
    LOCK.lock();
    // SAFETY: the lock; free pieces are nobody else's, and long enough for a pointer.
    let taken = unsafe {
        let pool = &mut *POOL.0.get();
        let free = pool.free[class as usize];
        if !free.is_null() {
            pool.free[class as usize] = free.cast::<*mut u32>().read();
            for i in 0..words {
                free.add(i).write_volatile(0);
            }
            free
        } else {
            if pool.left < words {
                pool.rest = memory::pages(CHUNK);
                pool.left = if pool.rest.is_null() { 0 } else { CHUNK };
            }
            if pool.left < words {
                core::ptr::null_mut()
            } else {
                let taken = pool.rest;
                pool.rest = taken.add(words);
                pool.left -= words;
                taken
            }
        }
    };
    LOCK.unlock();
    taken
}

fn give_back(words: *mut u32, class: u32) {
    LOCK.lock();
    // SAFETY: the lock; the caller has no more use for it.
    unsafe {
        let pool = &mut *POOL.0.get();
        words.cast::<*mut u32>().write(pool.free[class as usize]);
        pool.free[class as usize] = words;
    }
    LOCK.unlock();
}

/// In a forked process: nobody holds the lock.
pub fn unlock() {
    LOCK.unlock();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_clocks_grow_and_forget() {
        let mut mine = [0; SLOTS];
        (mine[1], mine[3]) = (7, 2);
        use_slot(5);
        // SAFETY: zeroed is empty, as the type says.
        let mut kept: Kept = unsafe { core::mem::zeroed() };
        assert!(kept.is_empty());
        assert!(kept.join_from(&mine));
        use_slot(100);
        (mine[1], mine[100]) = (5, 9);
        assert!(kept.join_from(&mine));
        let mut other = [0; SLOTS];
        other[3] = 50;
        kept.join_into(&mut other);
        assert_eq!((other[1], other[3], other[100]), (7, 50, 9));
        kept.clear();
        assert!(kept.is_empty());
        // Memory that is used again is clean.
        let mut again = [0; SLOTS];
        assert!(kept.join_from(&[0; SLOTS]));
        kept.join_into(&mut again);
        assert_eq!(again, [0; SLOTS]);
    }
}
