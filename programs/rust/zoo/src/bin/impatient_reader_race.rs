//! A value in an `UnsafeCell`, published properly by release and acquire, to a reader that asks the
//! flag once and looks at the value whatever the answer.
//
// EXPECT-STDOUT: looked
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: this promise is broken: the reader does not wait.
unsafe impl Sync for Value {}

static VALUE: Value = Value(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let reader = thread::spawn(|| {
        black_box(READY.load(Ordering::Acquire));
        // SAFETY: unsound on purpose.
        black_box(unsafe { *VALUE.0.get() }); // RACE: VALUE with line 25
    });
    // SAFETY: unsound on purpose.
    unsafe { *VALUE.0.get() = 42 }; // RACE: VALUE with line 22
    READY.store(true, Ordering::Release);
    reader.join().unwrap();
    println!("looked");
}
