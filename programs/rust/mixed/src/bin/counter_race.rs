//! A counter of C's that a thread of Rust's counts up in C, under C's mutex, while main does it in
//! Rust without: the race lies between the two languages.
//
// EXPECT-STDOUT: counted
use std::ffi::c_int;
use std::thread;

unsafe extern "C" {
    static mut shared_total: c_int;
    fn count_in_c();
}

fn main() {
    let other = thread::spawn(|| {
        // SAFETY: the function can be called from any thread.
        unsafe { count_in_c() };
    });
    for _ in 0..5 {
        // SAFETY: unsound on purpose.
        unsafe { shared_total += 1 }; // RACE: shared_total with line 13 of counter_race.c
    }
    other.join().unwrap();
    println!("counted");
}
