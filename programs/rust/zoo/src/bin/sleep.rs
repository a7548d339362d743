//! Two threads sleep for different times and count when they wake up. Nothing relies on who wakes
//! first: the lock keeps them apart.
//
// NORACE
// EXPECT-STDOUT: woke up 6 times
// EXPECT-STDOUT: time has passed: true
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

static WOKEN: Mutex<u32> = Mutex::new(0);

fn nap(length: Duration) {
    for _ in 0..3 {
        thread::sleep(length);
        *WOKEN.lock().unwrap() += 1; // NORACE: WOKEN
    }
}

fn main() {
    let start = Instant::now();
    let other = thread::spawn(|| nap(Duration::from_millis(2)));
    nap(Duration::from_millis(1));
    other.join().unwrap();
    println!("woke up {} times", WOKEN.lock().unwrap());
    println!(
        "time has passed: {}",
        start.elapsed() >= Duration::from_millis(6)
    );
}
