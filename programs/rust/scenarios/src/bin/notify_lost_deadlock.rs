//! A wait without a condition to look at: if the notification comes before the wait, nobody hears it, and the wait
//! never ends. The waiter usually has time enough to get there.
//
// NORACE
// EXPECT-STDOUT: done
use std::sync::{Condvar, Mutex};
use std::thread;

static COUNT: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

fn wait_once() {
    let count = COUNT.lock().unwrap();
    let mut count = CHANGED.wait(count).unwrap(); // DEADLOCK: waits for CHANGED
    *count += 1; // NORACE: COUNT
}

/// Meanwhile the other thread usually gets there, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let waiter = thread::spawn(wait_once);
    dawdle();
    *COUNT.lock().unwrap() += 1; // NORACE: COUNT
    CHANGED.notify_one();
    waiter.join().unwrap();
    println!("done");
}
