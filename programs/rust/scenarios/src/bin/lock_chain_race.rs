//! A value is written before a first lock and read behind a second one; a thread in the middle took both, one
//! after the other, and in most runs that orders the ends. Nothing makes the three come in this order.
//
// EXPECT-STDOUT: done
use std::sync::Mutex;
use std::thread;

static mut VALUE: u32 = 0;
static FIRST: Mutex<bool> = Mutex::new(false);
static SECOND: Mutex<bool> = Mutex::new(false);

fn write() {
    // SAFETY: unsound on purpose.
    unsafe { VALUE = 1 }; // RACE: VALUE with line 39
    *FIRST.lock().unwrap() = true;
}

fn middle() {
    dawdle();
    *FIRST.lock().unwrap() = true;
    *SECOND.lock().unwrap() = true;
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let writer = thread::spawn(write);
    let between = thread::spawn(middle);
    dawdle();
    dawdle();
    dawdle();
    *SECOND.lock().unwrap() = true;
    // SAFETY: unsound on purpose.
    let seen = unsafe { VALUE }; // RACE: VALUE with line 14
    writer.join().unwrap();
    between.join().unwrap();
    assert!(seen <= 1);
    println!("done");
}
