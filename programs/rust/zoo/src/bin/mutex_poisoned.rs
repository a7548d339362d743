//! A thread panics with the mutex held. The mutex is unlocked by the unwinding and poisoned; others
//! see that, repair the value, clear the poison and go on.
//
// NORACE
// EXPECT-STDOUT: poisoned: true, half done: 1
// EXPECT-STDOUT: after repair: 12
use std::sync::{Mutex, PoisonError};
use std::thread;

static PAIR: Mutex<(u32, u32)> = Mutex::new((0, 0));

fn main() {
    let broken = thread::spawn(|| {
        let mut pair = PAIR.lock().unwrap();
        pair.0 += 1; // NORACE: PAIR
        panic!("in the middle of a change");
    });
    assert!(broken.join().is_err());

    let poisoned = PAIR.is_poisoned();
    let mut pair = PAIR.lock().unwrap_or_else(PoisonError::into_inner);
    println!("poisoned: {poisoned}, half done: {}", pair.0 - pair.1);
    pair.1 = pair.0; // NORACE: PAIR
    drop(pair);
    PAIR.clear_poison();

    let adder = thread::spawn(|| {
        let mut pair = PAIR.lock().unwrap();
        pair.0 += 5; // NORACE: PAIR
        pair.1 += 5;
    });
    adder.join().unwrap();
    let pair = PAIR.lock().unwrap();
    println!("after repair: {}", pair.0 + pair.1);
}
