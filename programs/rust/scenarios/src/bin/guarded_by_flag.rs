//! A value without a lock of its own, written before a flag is set under a mutex and read only by who has
//! seen the flag there.
//
// NORACE
// EXPECT-STDOUT: done
use std::sync::Mutex;
use std::thread;

static mut VALUE: u32 = 0;
static READY: Mutex<bool> = Mutex::new(false);

fn write() {
    // SAFETY: who has seen the flag reads after the write, nobody else reads.
    unsafe { VALUE = 1 }; // NORACE: VALUE
    *READY.lock().unwrap() = true;
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let writer = thread::spawn(write);
    dawdle();
    let ready = *READY.lock().unwrap();
    if ready {
        // SAFETY: who has seen the flag reads after the write, nobody else reads.
        let seen = unsafe { VALUE }; // NORACE: VALUE
        assert_eq!(seen, 1);
    }
    writer.join().unwrap();
    println!("done");
}
