//! Rounds as in `barrier`, but the second meeting of each round is missing: a fast thread writes
//! its place for the next round while its neighbour still reads the old value.
//
// EXPECT-STDOUT: rounds 3
use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

const ROUNDS: u32 = 3;

struct Places([UnsafeCell<u32>; 2]);

// SAFETY: this promise is broken: see the marks.
unsafe impl Sync for Places {}

static PLACES: Places = Places([const { UnsafeCell::new(0) }; 2]);

fn work(me: usize, barrier: &Barrier) -> u32 {
    let mut sum = 0;
    for round in 0..ROUNDS {
        // SAFETY: unsound on purpose.
        unsafe { *PLACES.0[me].get() = round }; // RACE: PLACES with line 25
        barrier.wait();
        // SAFETY: unsound on purpose.
        sum += unsafe { *PLACES.0[1 - me].get() }; // RACE: PLACES with line 22
    }
    sum
}

fn main() {
    let barrier = &Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(move || work(0, barrier));
        scope.spawn(move || work(1, barrier));
    });
    println!("rounds {ROUNDS}");
}
