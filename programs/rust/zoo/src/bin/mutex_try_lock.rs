//! `try_lock` fails while another thread holds the mutex, and says so; after that two threads enter
//! by asking again until they get it.
//
// NORACE
// EXPECT-STDOUT: held elsewhere: true
// EXPECT-STDOUT: total 20
use std::sync::{Mutex, TryLockError};
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

fn add() {
    for _ in 0..10 {
        loop {
            if let Ok(mut total) = TOTAL.try_lock() {
                *total += 1; // NORACE: TOTAL
                break;
            }
            thread::yield_now();
        }
    }
}

fn main() {
    let held = TOTAL.lock().unwrap();
    let asker = thread::spawn(|| matches!(TOTAL.try_lock(), Err(TryLockError::WouldBlock)));
    println!("held elsewhere: {}", asker.join().unwrap());
    drop(held);
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    println!("total {}", TOTAL.lock().unwrap());
}
