//! A value is published through an atomic flag and later taken back: flag down, value wiped. A reader that saw
//! the flag in time may still be reading.
//
// EXPECT-STDOUT: done
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static PUBLISHED: AtomicBool = AtomicBool::new(true);
static NOTED: Mutex<bool> = Mutex::new(false);
static mut VALUE: u32 = 1;

fn read() {
    if PUBLISHED.load(Ordering::SeqCst) {
        // SAFETY: unsound on purpose.
        let seen = unsafe { VALUE }; // RACE: VALUE with line 35
        assert!(seen <= 1);
        *NOTED.lock().unwrap() = true;
    }
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let reader = thread::spawn(read);
    dawdle();
    PUBLISHED.store(false, Ordering::SeqCst);
    *NOTED.lock().unwrap() = true;
    // SAFETY: unsound on purpose.
    unsafe { VALUE = 0 }; // RACE: VALUE with line 16
    reader.join().unwrap();
    println!("done");
}
