//! Four philosophers, four forks: each takes the left one and then the right one. Any three of them get
//! through; all four at once, each with one fork, wait for ever.
//
// NORACE
// EXPECT-STDOUT: all have eaten
use std::sync::Mutex;
use std::thread;

static FORKS: [Mutex<u32>; 4] = [const { Mutex::new(0) }; 4];

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn dine(seat: usize) {
    for _ in 0..=seat {
        dawdle();
    }
    let mut left = FORKS[seat].lock().unwrap();
    let mut right = FORKS[(seat + 1) % 4].lock().unwrap(); // DEADLOCK: waits for FORKS holding FORKS, with lines 23, 23, 23
    *left += 1;
    *right += 1;
}

fn main() {
    let mut diners = Vec::new();
    for seat in 0..4 {
        diners.push(thread::spawn(move || dine(seat)));
    }
    for diner in diners {
        diner.join().unwrap();
    }
    println!("all have eaten");
}
