//! A ring for one producer and one consumer: plain places, handed over by two atomic counters with
//! release and acquire. Four places for forty items, so both sides find it full and empty.
//
// NORACE
// EXPECT-STDOUT: sum 780
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PLACES: usize = 4;
const ITEMS: usize = 40;

struct Ring {
    places: [UnsafeCell<usize>; PLACES],
    written: AtomicUsize,
    read: AtomicUsize,
}

// SAFETY: the producer writes places that were read, the consumer reads places that were written,
// and each learns of it by acquiring the other's counter.
unsafe impl Sync for Ring {}

static RING: Ring = Ring {
    places: [const { UnsafeCell::new(0) }; PLACES],
    written: AtomicUsize::new(0),
    read: AtomicUsize::new(0),
};

fn produce() {
    for item in 0..ITEMS {
        while item - RING.read.load(Ordering::Acquire) == PLACES {
            thread::yield_now();
        }
        // SAFETY: the consumer has read this place, and waits for the counter.
        unsafe { *RING.places[item % PLACES].get() = item }; // NORACE: places
        RING.written.store(item + 1, Ordering::Release);
    }
}

fn consume() -> usize {
    let mut sum = 0;
    for item in 0..ITEMS {
        while RING.written.load(Ordering::Acquire) == item {
            thread::yield_now();
        }
        // SAFETY: the producer has written this place, and waits for the counter.
        sum += unsafe { *RING.places[item % PLACES].get() }; // NORACE: places
        RING.read.store(item + 1, Ordering::Release);
    }
    sum
}

fn main() {
    let producer = thread::spawn(produce);
    println!("sum {}", consume());
    producer.join().unwrap();
}
