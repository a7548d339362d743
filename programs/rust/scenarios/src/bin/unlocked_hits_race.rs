//! A hit counter beside a table is counted up before the table's read lock is taken. A write lock in between
//! usually orders the two who count.
//
// EXPECT-STDOUT: done
use std::sync::RwLock;
use std::thread;

static TABLE: RwLock<u32> = RwLock::new(1);
static mut HITS: u32 = 0;

fn look_up() {
    // SAFETY: unsound on purpose.
    unsafe { HITS += 1 }; // RACE: HITS with line 13
    let table = TABLE.read().unwrap();
    assert!(*table > 0);
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let first = thread::spawn(look_up);
    dawdle();
    *TABLE.write().unwrap() = 1;
    look_up();
    first.join().unwrap();
    println!("done");
}
