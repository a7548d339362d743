//! Four threads call `call_once` at the same time. One initialises, slowly; the others wait for it
//! and see what it wrote.
//
// NORACE
// EXPECT-STDOUT: initialised 1 times
// EXPECT-STDOUT: all saw 42: true
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Once};
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: the cell is written inside `call_once` only, and read only after it has returned.
unsafe impl Sync for Value {}

static START: Once = Once::new();
static VALUE: Value = Value(UnsafeCell::new(0));
static TIMES: AtomicU32 = AtomicU32::new(0);

fn initialise() {
    // Meanwhile the others usually come to wait, but nothing makes them.
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
    // SAFETY: `call_once` runs this alone, and before anybody reads.
    unsafe { *VALUE.0.get() = 42 }; // NORACE: VALUE
    TIMES.fetch_add(1, Ordering::Relaxed);
}

fn main() {
    let together = Barrier::new(4);
    let use_it = || {
        together.wait();
        START.call_once(initialise);
        // SAFETY: `call_once` has returned: nobody writes any more.
        unsafe { *VALUE.0.get() == 42 } // NORACE: VALUE
    };
    let saw = thread::scope(|scope| {
        let users = [(); 4].map(|()| scope.spawn(use_it));
        users.map(|user| user.join().unwrap())
    });
    println!("initialised {} times", TIMES.load(Ordering::Relaxed));
    println!("all saw 42: {}", saw.iter().all(|&each| each));
}
