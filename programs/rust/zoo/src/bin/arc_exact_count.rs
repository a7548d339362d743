//! `get_mut` and `try_unwrap` look at the count itself: whoever is alone may write, and nobody else
//! does.
//
// NORACE
// EXPECT-STDOUT: never more than two
use std::sync::Arc;
use std::thread;

static mut WRITES: u32 = 0;

fn write() {
    // SAFETY: the writer has the only share, or the others wait for it to drop its own.
    unsafe { WRITES += 1 } // NORACE: WRITES
}

fn main() {
    let mut mine = Arc::new(0);
    let other = {
        let share = Arc::clone(&mine);
        thread::spawn(move || {
            write();
            drop(share);
        })
    };
    if let Some(number) = Arc::get_mut(&mut mine) {
        *number += 1; // NORACE: number
        write();
    } else if Arc::try_unwrap(mine).is_ok() {
        write();
    }
    other.join().unwrap();
    // SAFETY: the other thread has ended.
    assert!(unsafe { WRITES } <= 2); // NORACE: WRITES
    println!("never more than two");
}
