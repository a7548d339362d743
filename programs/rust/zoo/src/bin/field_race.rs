//! A struct with one field under a mutex and another beside it that everybody forgot: the hits are
//! counted while the lock is held, the misses after it was given back.
//
// EXPECT-STDOUT: hits 10
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Statistics {
    hits: Mutex<u32>,
    misses: UnsafeCell<u32>,
}

// SAFETY: this promise is broken: nothing protects the misses.
unsafe impl Sync for Statistics {}

static STATISTICS: Statistics = Statistics {
    hits: Mutex::new(0),
    misses: UnsafeCell::new(0),
};

fn count() {
    for _ in 0..5 {
        *STATISTICS.hits.lock().unwrap() += 1; // NORACE: hits
        // SAFETY: unsound on purpose.
        unsafe { *STATISTICS.misses.get() += 1 }; // RACE: misses with line 26
    }
}

fn main() {
    let other = thread::spawn(count);
    count();
    other.join().unwrap();
    println!("hits {}", STATISTICS.hits.lock().unwrap());
}
