//! Opposite orders of two mutexes, but main nests its own only when a condition has told it that the thread is
//! through.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: done
use std::sync::{Condvar, Mutex};
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);
static THROUGH: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn a_then_b() {
    {
        let mut a = A.lock().unwrap();
        *a += *B.lock().unwrap();
    }
    *THROUGH.lock().unwrap() = true;
    CHANGED.notify_one();
}

fn main() {
    let other = thread::spawn(a_then_b);
    let through = THROUGH.lock().unwrap();
    drop(CHANGED.wait_while(through, |through| !*through).unwrap());
    {
        let mut b = B.lock().unwrap();
        *b += *A.lock().unwrap();
    }
    other.join().unwrap();
    println!("done");
}
