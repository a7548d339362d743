//! `try_read` and `try_write` against a reader and against a writer in another thread, and readers
//! in two threads at once, which a barrier proves.
//
// NORACE
// EXPECT-STDOUT: beside a reader: read true, write false
// EXPECT-STDOUT: beside a writer: read false, write false
// EXPECT-STDOUT: value 7
use std::sync::{Barrier, RwLock};
use std::thread;

static VALUE: RwLock<u32> = RwLock::new(0);

/// Whether another thread can read, and write, at this moment.
fn possible() -> (bool, bool) {
    let ask = || (VALUE.try_read().is_ok(), VALUE.try_write().is_ok());
    thread::spawn(ask).join().unwrap()
}

fn main() {
    let reader = VALUE.read().unwrap();
    let (read, write) = possible();
    println!("beside a reader: read {read}, write {write}");
    drop(reader);

    let mut writer = VALUE.write().unwrap();
    *writer = 7; // NORACE: VALUE
    let (read, write) = possible();
    println!("beside a writer: read {read}, write {write}");
    drop(writer);

    let both_inside = Barrier::new(2);
    let read_together = || {
        let value = VALUE.read().unwrap();
        both_inside.wait();
        *value // NORACE: VALUE
    };
    thread::scope(|scope| {
        let other = scope.spawn(read_together);
        assert_eq!(read_together(), other.join().unwrap());
    });
    println!("value {}", VALUE.read().unwrap());
}
