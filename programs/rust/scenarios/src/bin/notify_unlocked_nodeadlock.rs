//! The flag is set under the mutex and the notification comes after it was given back. The waiter looks at the flag before
//! every wait, so a notification that comes before it looks is not missed, and one that comes later is heard.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: ready
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn wait_until_ready() {
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = CHANGED.wait(ready).unwrap(); // NORACE: READY
    }
}

/// Meanwhile the waiter usually gets to its wait, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let waiters = [
        thread::spawn(wait_until_ready),
        thread::spawn(wait_until_ready),
    ];
    dawdle();
    *READY.lock().unwrap() = true; // NORACE: READY
    CHANGED.notify_all();
    for waiter in waiters {
        waiter.join().unwrap();
    }
    println!("ready");
}
