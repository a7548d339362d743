//! A compare-exchange that fails is a load with its failure order: here that acquires, though the
//! success order does not.
//
// NORACE
// EXPECT-STDOUT: seen 42
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: written before the release store, read after it was acquired.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static STAGE: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let writer = thread::spawn(|| {
        // SAFETY: nobody else accesses it before the store below.
        unsafe { *VALUE.0.get() = 42 }; // NORACE: VALUE
        STAGE.store(1, Ordering::Release);
    });
    while STAGE
        .compare_exchange(0, 0, Ordering::Release, Ordering::Acquire)
        .is_ok()
    {
        thread::yield_now();
    }
    // SAFETY: the exchange that failed has acquired the store.
    let seen = unsafe { *VALUE.0.get() }; // NORACE: VALUE
    writer.join().unwrap();
    println!("seen {seen}");
}
