//! Each thread reads one table and then wants to write the other, in opposite directions. A writer
//! has to wait for readers, so the shared holds close a cycle just as exclusive ones would.
//
// NORACE
// EXPECT-STDOUT: copied
use std::sync::RwLock;
use std::thread;

static A: RwLock<u32> = RwLock::new(1);
static B: RwLock<u32> = RwLock::new(2);

fn b_to_a() {
    let b = B.read().unwrap();
    let mut a = A.write().unwrap(); // DEADLOCK: waits for A holding B, with line 29
    *a = *b; // NORACE: A, B
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
    let a = A.read().unwrap();
    let mut b = B.write().unwrap(); // DEADLOCK: waits for B holding A, with line 14
    *b = *a; // NORACE: A, B
    drop((a, b));
    other.join().unwrap();
    println!("copied");
}
