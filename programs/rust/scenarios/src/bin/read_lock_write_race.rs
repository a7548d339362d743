//! A hit counter beside a table is counted up under the table's read lock, which others share. A write lock in
//! between usually orders the two.
//
// EXPECT-STDOUT: done
use std::sync::RwLock;
use std::thread;

static TABLE: RwLock<u32> = RwLock::new(1);
static mut HITS: u32 = 0;

fn look_up() {
    let table = TABLE.read().unwrap();
    assert!(*table > 0);
    // SAFETY: unsound on purpose.
    unsafe { HITS += 1 }; // RACE: HITS with line 15
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let first = thread::spawn(look_up);
    dawdle();
    *TABLE.write().unwrap() += 1;
    look_up();
    first.join().unwrap();
    println!("done");
}
