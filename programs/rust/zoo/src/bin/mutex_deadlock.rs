//! Two mutexes taken in opposite orders. The thread is usually through before main begins; when
//! they overlap, each can hold its first mutex and wait for the other's.
//
// NORACE
// EXPECT-STDOUT: moved
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(10);
static B: Mutex<u32> = Mutex::new(10);

fn b_to_a() {
    let mut b = B.lock().unwrap();
    let mut a = A.lock().unwrap(); // DEADLOCK: waits for A holding B, with line 30
    *a += 1; // NORACE: A
    *b -= 1; // NORACE: B
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let other = thread::spawn(b_to_a);
    dawdle();
    let mut a = A.lock().unwrap();
    let mut b = B.lock().unwrap(); // DEADLOCK: waits for B holding A, with line 14
    *a -= 1; // NORACE: A
    *b += 1; // NORACE: B
    drop((a, b));
    other.join().unwrap();
    println!("moved");
}
