//! The consumer waits until the producer has started instead of until it is through. Usually it is through, and
//! then the lock orders its write before the read.
//
// EXPECT-STDOUT: done
use std::sync::{Condvar, Mutex};
use std::thread;

static mut BUFFER: u32 = 0;
/// Whether the producer has started, and whether it is through.
static PROGRESS: Mutex<[bool; 2]> = Mutex::new([false; 2]);
static CHANGED: Condvar = Condvar::new();

fn advance(stage: usize) {
    PROGRESS.lock().unwrap()[stage] = true;
    CHANGED.notify_all();
}

fn produce() {
    advance(0);
    // SAFETY: unsound on purpose.
    unsafe { BUFFER = 7 }; // RACE: BUFFER with line 38
    advance(1);
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let producer = thread::spawn(produce);
    dawdle();
    let progress = PROGRESS.lock().unwrap();
    drop(CHANGED.wait_while(progress, |stages| !stages[0]).unwrap());
    // SAFETY: unsound on purpose.
    let seen = unsafe { BUFFER }; // RACE: BUFFER with line 21
    producer.join().unwrap();
    assert!(seen == 0 || seen == 7);
    println!("done");
}
