//! A thread whose handle is dropped, and that may not have run when main returns.
use std::thread;

static mut VALUE: i32 = 0;

fn main() {
    thread::spawn(|| unsafe { VALUE = 1 }); // RACE: VALUE with line 8
    let value = unsafe { VALUE }; // RACE: VALUE with line 7
    assert!(value < 2);
}
