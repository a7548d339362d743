//! Four threads ask for a mutex while main holds it. Main lets go only after all of them have said
//! that they are about to ask, and some more work, so they wait in the kernel and wake each other.
//
// NORACE
// EXPECT-STDOUT: total 40
use std::sync::{Mutex, mpsc};
use std::thread;

const THREADS: usize = 4;

static TOTAL: Mutex<u32> = Mutex::new(0);

/// Meanwhile the others usually come to wait, but nothing makes them.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let (about_to_ask, asking) = mpsc::channel();
    let held = TOTAL.lock().unwrap();
    let mut adders = Vec::new();
    for _ in 0..THREADS {
        let about_to_ask = about_to_ask.clone();
        adders.push(thread::spawn(move || {
            about_to_ask.send(()).unwrap();
            for _ in 0..10 {
                *TOTAL.lock().unwrap() += 1; // NORACE: TOTAL
            }
        }));
    }
    for () in asking.iter().take(THREADS) {}
    dawdle();
    drop(held);
    for adder in adders {
        adder.join().unwrap();
    }
    println!("total {}", TOTAL.lock().unwrap());
}
