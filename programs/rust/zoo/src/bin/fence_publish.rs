//! Publication with fences: release before a relaxed store, acquire after a relaxed load that saw
//! it. Correct, but a false alarm in stock ThreadSanitizer, which does not follow fences.
//
// NORACE
// EXPECT-STDOUT: got 42
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: written before the release fence, read after the acquire fence.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let reader = thread::spawn(|| {
        while !READY.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        fence(Ordering::Acquire);
        // SAFETY: the two fences order the write before this.
        unsafe { *VALUE.0.get() } // NORACE: VALUE
    });
    // SAFETY: nobody reads before `READY` is set.
    unsafe { *VALUE.0.get() = 42 }; // NORACE: VALUE
    fence(Ordering::Release);
    READY.store(true, Ordering::Relaxed);
    println!("got {}", reader.join().unwrap());
}
