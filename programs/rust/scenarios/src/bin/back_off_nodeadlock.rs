//! Two mutexes in opposite orders, but the second is only tried for, and the first let go of when that fails.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 2
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);

fn add(first: &Mutex<u32>, second: &Mutex<u32>) {
    loop {
        let mut one = first.lock().unwrap();
        if let Ok(mut other) = second.try_lock() {
            *one += 1;
            *other += 1;
            return;
        }
        drop(one);
        thread::yield_now();
    }
}

fn main() {
    let other = thread::spawn(|| add(&B, &A));
    add(&A, &B);
    other.join().unwrap();
    println!("{}", *A.lock().unwrap());
}
