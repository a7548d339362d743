//! The classic: a `static mut` counter that two threads count up without a lock.
//
// EXPECT-STDOUT: counted
use std::thread;

static mut TOTAL: u32 = 0;

fn count() {
    for _ in 0..10 {
        // SAFETY: unsound on purpose.
        unsafe { TOTAL += 1 }; // RACE: TOTAL with line 11
    }
}

fn main() {
    let first = thread::spawn(count);
    let second = thread::spawn(count);
    first.join().unwrap();
    second.join().unwrap();
    println!("counted");
}
