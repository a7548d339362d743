//! A value is published through an atomic flag and later taken back: flag down, value wiped. A reader that saw
//! the flag in time may still be reading.
//
// EXPECT-STDOUT: done
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static PUBLISHED: AtomicBool = AtomicBool::new(true);
static READS: AtomicU32 = AtomicU32::new(0);
static mut VALUE: u32 = 1;

fn read() {
    if PUBLISHED.load(Ordering::SeqCst) {
        // SAFETY: unsound on purpose.
        let seen = unsafe { VALUE }; // RACE: VALUE with line 34
        assert!(seen <= 1);
        READS.fetch_add(1, Ordering::SeqCst);
    }
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let reader = thread::spawn(read);
    dawdle();
    PUBLISHED.store(false, Ordering::SeqCst);
    READS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: unsound on purpose.
    unsafe { VALUE = 0 }; // RACE: VALUE with line 15
    reader.join().unwrap();
    println!("done");
}
