//! `park` and `unpark`: a value is handed over by waking the thread that waits for it; parking may
//! end without a reason, so the flag is asked again.
//
// NORACE
// EXPECT-STDOUT: got 42
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: written before `READY` is set, read after it was seen set.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let waiter = thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            thread::park();
        }
        // SAFETY: the writer has released the value.
        unsafe { *VALUE.0.get() } // NORACE: VALUE
    });
    // SAFETY: the waiter does not look before `READY` is set.
    unsafe { *VALUE.0.get() = 42 }; // NORACE: VALUE
    READY.store(true, Ordering::Release);
    waiter.thread().unpark();
    println!("got {}", waiter.join().unwrap());
}
