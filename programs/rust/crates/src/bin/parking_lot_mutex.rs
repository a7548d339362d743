//! parking_lot's mutex, held by main until four threads are about to ask for it: they wait in
//! the crate's own table of queues. It knows no poison: a panic just unlocks it.
//
// NORACE
// EXPECT-STDOUT: total 41
// EXPECT-STDOUT: held elsewhere: true
use parking_lot::{Mutex, MutexGuard};
use std::sync::mpsc;
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
    let held = TOTAL.lock();
    let threads = [(); THREADS].map(|()| {
        let about_to_ask = about_to_ask.clone();
        thread::spawn(move || {
            about_to_ask.send(()).unwrap();
            for _ in 0..10 {
                *TOTAL.lock() += 1; // NORACE: TOTAL
            }
        })
    });
    for () in asking.iter().take(THREADS) {}
    dawdle();
    MutexGuard::unlock_fair(held);
    for thread in threads {
        thread.join().unwrap();
    }
    let broken = thread::spawn(|| {
        let mut total = TOTAL.lock();
        *total += 1; // NORACE: TOTAL
        panic!("with the lock held");
    });
    assert!(broken.join().is_err());
    let held = TOTAL.lock();
    println!("total {}", *held);
    let asker = thread::spawn(|| TOTAL.try_lock().is_none());
    println!("held elsewhere: {}", asker.join().unwrap());
}
