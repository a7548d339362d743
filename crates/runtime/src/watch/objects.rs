//! What synchronisation objects know: address to clocks.
//!
//! A table of chains, each with a spin lock; synchronisation is not the fast path. Objects are found by
//! their address, threads by a key of their own. An object begins to exist when something is released
//! to it, and is forgotten when it is destroyed or its memory is freed.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::clock::Kept;
use crate::memory;
use crate::sys::Spin;

/// What is known at one address.
pub struct Object {
    key: u64,
    next: u32,
    /// What whoever acquires learns.
    pub released: Kept,
    /// What readers have released: who acquires for writing learns it. For a channel: what was
    /// sent. For a barrier: what those learn who leave the round before.
    pub readers: Kept,
    /// How many a barrier waits for (0: not known), how many have come, and how many rounds there
    /// were.
    pub expected: u32,
    /// The lock is a channel: a condition's waiters use it, or its holders notify.
    pub is_channel: bool,
    /// See `expected`.
    pub arrived: u32,
    /// See `expected`.
    pub round: u32,
}

#[repr(C)]
struct Chain {
    lock: Spin,
    first: u32,
}

const CHAINS: usize = 1 << 16;
const MOST: usize = 1 << 24;

static TABLE: AtomicPtr<Chain> = AtomicPtr::new(core::ptr::null_mut());
static OBJECTS: AtomicPtr<Object> = AtomicPtr::new(core::ptr::null_mut());
/// The next number that was never given.
static FRESH: AtomicU32 = AtomicU32::new(1);
static FREE: AtomicU32 = AtomicU32::new(0);
static FREE_LOCK: Spin = Spin::new();

/// The key of a thread.
pub const fn thread_key(number: u32) -> usize {
    1 << 62 | number as usize
}

/// Gets the table's memory; false if there is none.
pub fn start() -> bool {
    let (table, objects) = (memory::pages(CHAINS), memory::pages(MOST));
    TABLE.store(table, Ordering::Release);
    OBJECTS.store(objects, Ordering::Release);
    !table.is_null() && !objects.is_null()
}

/// In a forked process: nobody holds a lock.
pub fn unlock() {
    FREE_LOCK.unlock();
    let table = TABLE.load(Ordering::Acquire);
    for chain in 0..CHAINS {
        // SAFETY: within the table; one thread is left.
        unsafe { (*table.add(chain)).lock.unlock() };
    }
}

fn chain(key: usize) -> *mut Chain {
    let hash = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    // SAFETY: sixteen bits: within the table.
    unsafe { TABLE.load(Ordering::Relaxed).add(hash as usize % CHAINS) }
}

fn object(number: u32) -> *mut Object {
    // SAFETY: numbers are below `MOST`.
    unsafe { OBJECTS.load(Ordering::Relaxed).add(number as usize) }
}

/// Does something with the object at an address, if there is one.
pub fn with<R>(key: usize, action: impl FnOnce(&mut Object) -> R) -> Option<R> {
    // SAFETY: a chain's objects are ours under its lock.
    unsafe {
        let chain = chain(key);
        // Most addresses of atomics were never released to.
        if (&raw const (*chain).first).read_volatile() == 0 {
            return None;
        }
        (*chain).lock.lock();
        let found = find(chain, key);
        let result = (found != 0).then(|| action(&mut *object(found)));
        (*chain).lock.unlock();
        result
    }
}

/// Does something with the object at an address, a new one if need be. `None`: there is no room
/// for another.
pub fn with_new<R>(key: usize, action: impl FnOnce(&mut Object) -> R) -> Option<R> {
    // SAFETY: as in `with`.
    unsafe {
        let chain = chain(key);
        (*chain).lock.lock();
        let mut found = find(chain, key);
        if found == 0 {
            found = take();
            if found != 0 {
                let new = &mut *object(found);
                new.key = key as u64;
                new.next = (*chain).first;
                (*chain).first = found;
            }
        }
        let result = (found != 0).then(|| action(&mut *object(found)));
        (*chain).lock.unlock();
        result
    }
}

/// Forgets the object at an address.
pub fn forget(key: usize) {
    // SAFETY: as in `with`.
    unsafe {
        let chain = chain(key);
        if (&raw const (*chain).first).read_volatile() == 0 {
            return;
        }
        (*chain).lock.lock();
        let mut link = &raw mut (*chain).first;
        while *link != 0 {
            let number = *link;
            let entry = &mut *object(number);
            if entry.key == key as u64 {
                *link = entry.next;
                give_back(number, entry);
                break;
            }
            link = &raw mut entry.next;
        }
        (*chain).lock.unlock();
    }
}

/// # Safety
/// The chain is locked.
unsafe fn find(chain: *mut Chain, key: usize) -> u32 {
    // SAFETY: as the caller says.
    unsafe {
        let mut number = (*chain).first;
        while number != 0 && (*object(number)).key != key as u64 {
            number = (*object(number)).next;
        }
        number
    }
}

/// A number whose object is empty; 0 if there is none.
fn take() -> u32 {
    FREE_LOCK.lock();
    let free = FREE.load(Ordering::Relaxed);
    let number = if free != 0 {
        // SAFETY: a free object is nobody else's under the lock.
        FREE.store(unsafe { (*object(free)).next }, Ordering::Relaxed);
        free
    } else {
        let fresh = FRESH.load(Ordering::Relaxed);
        if (fresh as usize) < MOST {
            FRESH.store(fresh + 1, Ordering::Relaxed);
            fresh
        } else {
            0
        }
    };
    FREE_LOCK.unlock();
    number
}

fn give_back(number: u32, object: &mut Object) {
    object.released.clear();
    object.readers.clear();
    (object.expected, object.arrived, object.round) = (0, 0, 0);
    (object.key, object.is_channel) = (0, false);
    FREE_LOCK.lock();
    object.next = FREE.load(Ordering::Relaxed);
    FREE.store(number, Ordering::Relaxed);
    FREE_LOCK.unlock();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_live_between_their_first_release_and_their_end() {
        assert!(start());
        assert_eq!(with(0x40, |_| ()), None);
        assert_eq!(with_new(0x40, |object| object.round = 5), Some(()));
        for other in 0x1000..0x9000 {
            with_new(other, |object| object.round = other as u32);
        }
        assert_eq!(with(0x40, |object| object.round), Some(5));
        assert_eq!(with(0x8fff, |object| object.round), Some(0x8fff));
        forget(0x40);
        assert_eq!(with(0x40, |object| object.round), None);
        assert_eq!(with_new(0x40, |object| object.round), Some(0));
    }
}
