//! A thread reads under the lock and asks to read once more. That is fine, unless a writer has come
//! to wait in between: std's lock then makes new readers wait for the writer, who waits for the old
//! ones.
//
// NORACE
// EXPECT-STDOUT: read twice
use std::sync::RwLock;
use std::thread;

static VALUE: RwLock<u32> = RwLock::new(1);

fn write() {
    *VALUE.write().unwrap() += 1; // DEADLOCK: waits for VALUE, with line 27
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let writer = thread::spawn(write);
    dawdle();
    let first = VALUE.read().unwrap();
    let again = VALUE.read().unwrap(); // DEADLOCK: waits for VALUE holding VALUE, with line 13
    assert_eq!(*first, *again); // NORACE: VALUE
    drop((first, again));
    writer.join().unwrap();
    println!("read twice");
}
