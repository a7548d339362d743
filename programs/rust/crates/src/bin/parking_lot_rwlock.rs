//! parking_lot's `RwLock`: readers and writers that wait for each other, and an upgradable reader,
//! which becomes the writer without letting go.
//
// NORACE
// EXPECT-STDOUT: pairs always equal: true
// EXPECT-STDOUT: written 30
use parking_lot::{RwLock, RwLockUpgradableReadGuard};
use std::sync::Barrier;
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

fn read() -> bool {
    (0..10).all(|_| {
        let pair = PAIR.read();
        pair.0 == pair.1 // NORACE: PAIR
    })
}

fn write() -> bool {
    for _ in 0..10 {
        let mut pair = PAIR.write();
        pair.0 += 1; // NORACE: PAIR
        pair.1 += 1; // NORACE: PAIR
    }
    true
}

fn upgrade() -> bool {
    (0..10).all(|_| {
        let pair = PAIR.upgradable_read();
        let before = *pair; // NORACE: PAIR
        let mut pair = RwLockUpgradableReadGuard::upgrade(pair);
        let unchanged = *pair == before; // NORACE: PAIR
        pair.0 += 1; // NORACE: PAIR
        pair.1 += 1; // NORACE: PAIR
        unchanged
    })
}

fn main() {
    let jobs: [fn() -> bool; 5] = [read, write, upgrade, write, read];
    let together = &Barrier::new(jobs.len());
    let equal = thread::scope(|scope| {
        let start = |job: fn() -> bool| {
            scope.spawn(move || {
                together.wait();
                job()
            })
        };
        jobs.map(start).map(|thread| thread.join().unwrap())
    });
    println!("pairs always equal: {}", equal.iter().all(|&each| each));
    println!("written {}", PAIR.read().0);
}
