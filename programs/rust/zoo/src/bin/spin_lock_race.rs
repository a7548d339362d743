//! A lock made of one atomic flag that is given back with a relaxed store: what was done under it
//! is not released. Locking keeps the threads apart in every interleaving; only the memory model
//! sees the race.
//
// EXPECT-STDOUT: added
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct SpinLock {
    taken: AtomicBool,
    total: UnsafeCell<u32>,
}

// SAFETY: this promise is broken: the lock does not order what is done under it.
unsafe impl Sync for SpinLock {}

static LOCK: SpinLock = SpinLock {
    taken: AtomicBool::new(false),
    total: UnsafeCell::new(0),
};

fn add() {
    for _ in 0..5 {
        while LOCK.taken.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        // SAFETY: unsound on purpose.
        unsafe { *LOCK.total.get() += 1 }; // RACE: total with line 29 (weak)
        LOCK.taken.store(false, Ordering::Relaxed);
    }
}

fn main() {
    let other = thread::spawn(add);
    add();
    other.join().unwrap();
    println!("added");
}
