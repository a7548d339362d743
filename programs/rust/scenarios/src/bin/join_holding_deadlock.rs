//! Main joins a thread while it holds a mutex that the thread needs. The thread is usually through with it
//! before main takes it.
//
// NORACE
// EXPECT-STDOUT: joined
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

fn add() {
    *TOTAL.lock().unwrap() += 1; // DEADLOCK: waits for TOTAL, with line 26
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let adder = thread::spawn(add);
    dawdle();
    let total = TOTAL.lock().unwrap();
    adder.join().unwrap(); // DEADLOCK: waits for adder holding TOTAL, with line 12
    drop(total);
    println!("joined");
}
