//! Threads share a value by `Arc` and drop their shares in any order. The last one destroys it: its
//! destructor may touch what the others used, because dropping a share releases and the last drop
//! acquires. That acquire is a fence, which stock ThreadSanitizer does not follow: a false alarm
//! there.
//
// NORACE
// EXPECT-STDOUT: destroyed 1 times with 40
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static DESTROYED: AtomicU32 = AtomicU32::new(0);
static SUM: AtomicU32 = AtomicU32::new(0);

/// One place for each thread.
struct Places([UnsafeCell<u32>; 4]);

// SAFETY: each thread touches only its place, and the destructor runs after all of them.
unsafe impl Sync for Places {}

impl Drop for Places {
    fn drop(&mut self) {
        let sum = self.0.iter_mut().map(|place| *place.get_mut()).sum(); // NORACE: places
        SUM.store(sum, Ordering::Relaxed);
        DESTROYED.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let places = Arc::new(Places([const { UnsafeCell::new(0) }; 4]));
    let threads = [0, 1, 2, 3].map(|me| {
        let places = Arc::clone(&places);
        thread::spawn(move || {
            // SAFETY: no other thread has this place.
            unsafe { *places.0[me].get() = 10 }; // NORACE: places
        })
    });
    drop(places);
    for thread in threads {
        thread.join().unwrap();
    }
    let times = DESTROYED.load(Ordering::Relaxed);
    println!(
        "destroyed {times} times with {}",
        SUM.load(Ordering::Relaxed)
    );
}
