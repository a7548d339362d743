//! Threads that panic: `join` hands their message over, a scope reports that one of its threads
//! did, and a panic that is caught inside a thread stays there. Locals are dropped on the way.
//
// NORACE
// EXPECT-STDOUT: joined: out of luck
// EXPECT-STDOUT: scope panicked: true
// EXPECT-STDOUT: caught inside: true
// EXPECT-STDOUT: dropped 3
use std::panic;
use std::sync::Mutex;
use std::thread;

static DROPPED: Mutex<u32> = Mutex::new(0);

struct Local;

impl Drop for Local {
    fn drop(&mut self) {
        *DROPPED.lock().unwrap() += 1; // NORACE: DROPPED
    }
}

fn unlucky() {
    let _local = Local;
    panic!("out of luck");
}

fn main() {
    let message = thread::spawn(unlucky).join().unwrap_err();
    println!("joined: {}", message.downcast_ref::<&str>().unwrap());
    let scope = panic::catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(unlucky);
        });
    });
    println!("scope panicked: {}", scope.is_err());
    let inside = thread::spawn(|| panic::catch_unwind(unlucky).is_err());
    println!("caught inside: {}", inside.join().unwrap());
    println!("dropped {}", DROPPED.lock().unwrap());
}
