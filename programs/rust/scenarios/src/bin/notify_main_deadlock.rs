//! The first thread waits once, whatever the worker has done by then. If the worker was faster, nobody is left to notify it.
//
// NORACE
// EXPECT-STDOUT: 42
use std::sync::{Condvar, Mutex};
use std::thread;

static RESULT: Mutex<u32> = Mutex::new(0);
static DONE: Condvar = Condvar::new();

/// Meanwhile the first thread usually gets to its wait, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn work() {
    dawdle();
    *RESULT.lock().unwrap() = 42; // NORACE: RESULT
    DONE.notify_all();
}

fn main() {
    let worker = thread::spawn(work);
    let result = RESULT.lock().unwrap();
    let result = DONE.wait(result).unwrap(); // DEADLOCK: waits for DONE
    println!("{}", *result); // NORACE: RESULT
    drop(result);
    worker.join().unwrap();
}
