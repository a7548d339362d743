//! The ring of `atomic_ring`, whose producer does not ask how far the consumer has come: it writes
//! into places that are being read.
//
// EXPECT-STDOUT: produced 8
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PLACES: usize = 4;
const ITEMS: usize = 8;

struct Ring {
    places: [UnsafeCell<usize>; PLACES],
    written: AtomicUsize,
}

// SAFETY: this promise is broken: the producer overtakes the consumer.
unsafe impl Sync for Ring {}

static RING: Ring = Ring {
    places: [const { UnsafeCell::new(0) }; PLACES],
    written: AtomicUsize::new(0),
};

fn consume() -> usize {
    let mut sum = 0;
    for item in 0..ITEMS {
        while RING.written.load(Ordering::Acquire) <= item {
            thread::yield_now();
        }
        // SAFETY: unsound on purpose.
        sum += unsafe { *RING.places[item % PLACES].get() }; // RACE: places with line 41
    }
    sum
}

fn main() {
    let consumer = thread::spawn(consume);
    for item in 0..ITEMS {
        // SAFETY: unsound on purpose.
        unsafe { *RING.places[item % PLACES].get() = item }; // RACE: places with line 32
        RING.written.store(item + 1, Ordering::Release);
    }
    consumer.join().unwrap();
    println!("produced {ITEMS}");
}
