//! Each thread holds a mutex and wants the table, one for reading and one for writing, while the other
//! holds the table and wants the mutex.
//
// NORACE
// EXPECT-STDOUT: done
use std::sync::{Mutex, RwLock};
use std::thread;

static JOURNAL: Mutex<u32> = Mutex::new(0);
static TABLE: RwLock<u32> = RwLock::new(0);

fn journal_then_table() {
    let mut journal = JOURNAL.lock().unwrap();
    let table = TABLE.read().unwrap(); // DEADLOCK: waits for TABLE holding JOURNAL, with line 29
    *journal += *table;
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let other = thread::spawn(journal_then_table);
    dawdle();
    let mut table = TABLE.write().unwrap();
    let journal = JOURNAL.lock().unwrap(); // DEADLOCK: waits for JOURNAL holding TABLE, with line 14
    *table += *journal;
    drop((table, journal));
    other.join().unwrap();
    println!("done");
}
