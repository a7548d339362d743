//! A mutex that nobody waits for: one thread at a time uses it, and the joins keep them apart.
//! Also the ways around the lock that owning it gives: `get_mut` and `into_inner`.
//
// NORACE
// EXPECT-STDOUT: total 61
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0));
    for _ in 0..3 {
        let total = Arc::clone(&total);
        let adder = thread::spawn(move || {
            for _ in 0..10 {
                *total.lock().unwrap() += 1; // NORACE: total
            }
        });
        adder.join().unwrap();
    }
    let mut total = Arc::into_inner(total).expect("all threads have ended");
    *total.get_mut().unwrap() *= 2; // NORACE: total
    println!("total {}", total.into_inner().unwrap() + 1); // NORACE: total
}
