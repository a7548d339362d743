//! A counter that needs no order: relaxed additions from four threads lose nothing, and the joins
//! order the last look at it. Also the other operations that read and write in one step.
//
// NORACE
// EXPECT-STDOUT: counted 400, highest 103, bits 1111
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::thread;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HIGHEST: AtomicU32 = AtomicU32::new(0);
static BITS: AtomicU8 = AtomicU8::new(0);

fn count(me: u32) {
    for _ in 0..100 {
        COUNT.fetch_add(1, Ordering::Relaxed); // NORACE: COUNT
    }
    HIGHEST.fetch_max(100 + me, Ordering::Relaxed); // NORACE: HIGHEST
    let set = |bits| Some(bits | 1 << me);
    let _ = BITS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set); // NORACE: BITS
}

fn main() {
    for thread in [0, 1, 2, 3].map(|me| thread::spawn(move || count(me))) {
        thread.join().unwrap();
    }
    println!(
        "counted {}, highest {}, bits {:b}",
        COUNT.load(Ordering::Relaxed),
        HIGHEST.load(Ordering::Relaxed),
        BITS.load(Ordering::Relaxed)
    );
}
