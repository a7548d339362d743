//! A compare-exchange that fails is a load with its failure order: here that is relaxed, though the
//! success order would acquire. Only the memory model sees the race.
//
// EXPECT-STDOUT: seen 42
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: this promise is broken: a failed exchange acquires nothing here.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static STAGE: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let writer = thread::spawn(|| {
        // SAFETY: unsound on purpose.
        unsafe { *VALUE.0.get() = 42 }; // RACE: VALUE with line 30 (weak)
        STAGE.store(1, Ordering::Release);
    });
    while STAGE
        .compare_exchange(0, 0, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
    {
        thread::yield_now();
    }
    // SAFETY: unsound on purpose.
    let seen = unsafe { *VALUE.0.get() }; // RACE: VALUE with line 20 (weak)
    writer.join().unwrap();
    println!("seen {seen}");
}
