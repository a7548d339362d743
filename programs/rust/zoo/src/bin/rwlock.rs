//! Readers share an `RwLock` and writers have it alone. Main holds it for writing until everybody
//! is about to ask, so that readers and writers wait for it and for each other.
//
// NORACE
// EXPECT-STDOUT: pairs always equal: true
// EXPECT-STDOUT: written 20
use std::sync::{RwLock, mpsc};
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

/// Meanwhile the others usually come to wait, but nothing makes them.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn read() -> bool {
    (0..10).all(|_| {
        let pair = PAIR.read().unwrap();
        pair.0 == pair.1 // NORACE: PAIR
    })
}

fn write() -> bool {
    for _ in 0..10 {
        let mut pair = PAIR.write().unwrap();
        pair.0 += 1; // NORACE: PAIR
        pair.1 += 1; // NORACE: PAIR
    }
    true
}

fn main() {
    let (about_to_ask, asking) = mpsc::channel();
    let held = PAIR.write().unwrap();
    let jobs: [fn() -> bool; 5] = [read, write, read, write, read];
    let threads = jobs.map(|job| {
        let about_to_ask = about_to_ask.clone();
        thread::spawn(move || {
            about_to_ask.send(()).unwrap();
            job()
        })
    });
    for () in asking.iter().take(jobs.len()) {}
    dawdle();
    drop(held);
    let equal = threads.map(|thread| thread.join().unwrap());
    println!("pairs always equal: {}", equal.iter().all(|&each| each));
    println!("written {}", PAIR.read().unwrap().0);
}
