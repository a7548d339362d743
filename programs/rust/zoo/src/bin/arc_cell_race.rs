//! A `Cell` behind an `Arc`, which the compiler refuses, made shareable by a promise that nobody
//! keeps: both threads read and write it without a lock.
//
// EXPECT-STDOUT: counted
use std::cell::Cell;
use std::sync::Arc;
use std::thread;

struct Shared(Cell<u32>);

// SAFETY: this promise is broken: a `Cell` is for one thread.
unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared(Cell::new(0)));
    let other = Arc::clone(&shared);
    let counter = thread::spawn(move || {
        other.0.set(other.0.get() + 1); // RACE: shared.0 with line 20
    });
    shared.0.set(shared.0.get() + 1); // RACE: shared.0 with line 18
    counter.join().unwrap();
    println!("counted");
}
