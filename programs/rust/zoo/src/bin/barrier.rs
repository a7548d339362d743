//! Four threads in rounds: each writes its own place, all meet at the barrier, each reads its
//! neighbour's place, and all meet again. One thread per round is told that it is the leader.
//
// NORACE
// EXPECT-STDOUT: leaders 5
// EXPECT-STDOUT: sums [10, 10, 10, 10]
use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const THREADS: usize = 4;
const ROUNDS: u32 = 5;

struct Places([UnsafeCell<u32>; THREADS]);

// SAFETY: a place is written by its thread between one barrier and the next, and read by the
// neighbour between that one and the one after it.
unsafe impl Sync for Places {}

static PLACES: Places = Places([const { UnsafeCell::new(0) }; THREADS]);
static LEADERS: AtomicU32 = AtomicU32::new(0);

fn work(me: usize, barrier: &Barrier) -> u32 {
    let mut sum = 0;
    for round in 0..ROUNDS {
        // SAFETY: before the first barrier of a round only the owner touches a place.
        unsafe { *PLACES.0[me].get() = round }; // NORACE: PLACES
        let leads = barrier.wait().is_leader();
        LEADERS.fetch_add(u32::from(leads), Ordering::Relaxed);
        // SAFETY: after it, only the neighbour does.
        sum += unsafe { *PLACES.0[(me + 1) % THREADS].get() }; // NORACE: PLACES
        barrier.wait();
    }
    sum
}

fn main() {
    let barrier = &Barrier::new(THREADS);
    let sums = thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|me| scope.spawn(move || work(me, barrier)));
        threads.map(|thread| thread.join().unwrap())
    });
    println!("leaders {}", LEADERS.load(Ordering::Relaxed));
    println!("sums {sums:?}");
}
