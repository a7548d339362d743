//! A wake-up that can get lost: the waiter looks at the flag, lets go of the lock, and takes it
//! again to wait. A signal that comes in between wakes nobody, and there is no second one. Usually
//! the flag is set before the waiter looks.
//
// NORACE
// EXPECT-STDOUT: ready
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn set_ready() {
    *READY.lock().unwrap() = true; // NORACE: READY
    CHANGED.notify_one();
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let setter = thread::spawn(set_ready);
    dawdle();
    let ready = *READY.lock().unwrap(); // NORACE: READY
    if !ready {
        let guard = READY.lock().unwrap();
        drop(CHANGED.wait(guard).unwrap()); // DEADLOCK: waits for CHANGED
    }
    setter.join().unwrap();
    println!("ready");
}
