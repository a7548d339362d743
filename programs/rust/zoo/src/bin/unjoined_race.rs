//! A thread whose handle is dropped, and that may not have run when main returns.
//
// EXPECT-STDOUT: on its own
use std::thread;

static mut VALUE: i32 = 0;

fn main() {
    thread::spawn(|| unsafe { VALUE = 1 }); // RACE: VALUE with line 10
    let value = unsafe { VALUE }; // RACE: VALUE with line 9
    assert!(value < 2);
    println!("on its own");
}
