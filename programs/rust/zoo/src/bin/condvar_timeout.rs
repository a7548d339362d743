//! Waiting with a time limit: once nobody signals and the time runs out, once the signal comes long
//! before that.
//
// NORACE
// EXPECT-STDOUT: nobody came: true
// EXPECT-STDOUT: somebody came: true
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

/// Waits for `READY`; whether the time ran out instead.
fn timed_out(limit: Duration) -> bool {
    let ready = READY.lock().unwrap();
    let (_ready, waited) = CHANGED
        .wait_timeout_while(ready, limit, |ready| !*ready) // NORACE: READY
        .unwrap();
    waited.timed_out()
}

/// The bare form, which may also end early without a signal.
fn wait_a_moment() {
    let ready = READY.lock().unwrap();
    drop(
        CHANGED
            .wait_timeout(ready, Duration::from_micros(100))
            .unwrap(),
    );
}

fn main() {
    wait_a_moment();
    println!("nobody came: {}", timed_out(Duration::from_millis(2)));
    let waiter = thread::spawn(|| timed_out(Duration::from_secs(600)));
    *READY.lock().unwrap() = true; // NORACE: READY
    CHANGED.notify_one();
    println!("somebody came: {}", !waiter.join().unwrap());
}
