//! A value in an `UnsafeCell`, published through a relaxed flag. The flag keeps the accesses apart
//! in every interleaving, but orders nothing: only the memory model sees the race.
//
// EXPECT-STDOUT: published
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: this promise is broken: a relaxed flag does not publish.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let reader = thread::spawn(|| {
        while !READY.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        // SAFETY: unsound on purpose.
        black_box(unsafe { *VALUE.0.get() }); // RACE: VALUE with line 27 (weak)
    });
    // SAFETY: unsound on purpose.
    unsafe { *VALUE.0.get() = 42 }; // RACE: VALUE with line 24 (weak)
    READY.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    println!("published");
}
