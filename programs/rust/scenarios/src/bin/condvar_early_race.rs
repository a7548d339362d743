//! The consumer waits until the producer has started instead of until it is through. Usually it is through, and
//! then the lock orders its write before the read.
//
// EXPECT-STDOUT: done
use std::sync::{Condvar, Mutex};
use std::thread;

static mut BUFFER: u32 = 0;
static PROGRESS: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

fn advance() {
    *PROGRESS.lock().unwrap() += 1;
    CHANGED.notify_all();
}

fn produce() {
    advance();
    // SAFETY: unsound on purpose.
    unsafe { BUFFER = 7 }; // RACE: BUFFER with line 37
    advance();
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let producer = thread::spawn(produce);
    dawdle();
    let progress = PROGRESS.lock().unwrap();
    drop(CHANGED.wait_while(progress, |count| *count == 0).unwrap());
    // SAFETY: unsound on purpose.
    let seen = unsafe { BUFFER }; // RACE: BUFFER with line 20
    producer.join().unwrap();
    assert!(seen == 0 || seen == 7);
    println!("done");
}
