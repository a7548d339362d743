//! A lock made of one atomic flag: taken by compare-and-exchange with acquire, given back by a
//! store with release, and held through a guard.
//
// NORACE
// EXPECT-STDOUT: total 60
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct SpinLock {
    taken: AtomicBool,
    total: UnsafeCell<u32>,
}

// SAFETY: the total is touched only by who has set `taken`.
unsafe impl Sync for SpinLock {}

static LOCK: SpinLock = SpinLock {
    taken: AtomicBool::new(false),
    total: UnsafeCell::new(0),
};

struct Held;

fn lock() -> Held {
    while LOCK
        .taken
        .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        hint::spin_loop();
        thread::yield_now();
    }
    Held
}

impl Drop for Held {
    fn drop(&mut self) {
        LOCK.taken.store(false, Ordering::Release);
    }
}

fn add() {
    for _ in 0..20 {
        let _held = lock();
        // SAFETY: the lock is held.
        unsafe { *LOCK.total.get() += 1 }; // NORACE: total
    }
}

fn main() {
    for thread in [(); 3].map(|()| thread::spawn(add)) {
        thread.join().unwrap();
    }
    let _held = lock();
    // SAFETY: the lock is held.
    println!("total {}", unsafe { *LOCK.total.get() }); // NORACE: total
}
