//! Two mutexes taken in opposite orders by threads of which the second starts when the first has
//! been joined: they never meet.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: moved
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(10);
static B: Mutex<u32> = Mutex::new(10);

fn main() {
    let b_to_a = thread::spawn(|| {
        let mut b = B.lock().unwrap();
        *A.lock().unwrap() += 1; // NORACE: A
        *b -= 1; // NORACE: B
    });
    b_to_a.join().unwrap();
    let a_to_b = thread::spawn(|| {
        let mut a = A.lock().unwrap();
        *B.lock().unwrap() += 1; // NORACE: B
        *a -= 1; // NORACE: A
    });
    a_to_b.join().unwrap();
    println!("moved");
}
