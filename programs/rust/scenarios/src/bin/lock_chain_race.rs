//! A value is written before a first lock and read behind a second one; a thread in the middle took both, one
//! after the other, and in most runs that orders the ends. Nothing makes the three come in this order.
//
// EXPECT-STDOUT: done
use std::sync::Mutex;
use std::thread;

static mut VALUE: u32 = 0;
static FIRST: Mutex<u32> = Mutex::new(0);
static SECOND: Mutex<u32> = Mutex::new(0);

fn write() {
    // SAFETY: unsound on purpose.
    unsafe { VALUE = 1 }; // RACE: VALUE with line 37
    *FIRST.lock().unwrap() += 1;
}

fn middle() {
    *FIRST.lock().unwrap() += 1;
    *SECOND.lock().unwrap() += 1;
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let writer = thread::spawn(write);
    dawdle();
    let between = thread::spawn(middle);
    dawdle();
    *SECOND.lock().unwrap() += 1;
    // SAFETY: unsound on purpose.
    let seen = unsafe { VALUE }; // RACE: VALUE with line 14
    writer.join().unwrap();
    between.join().unwrap();
    assert!(seen <= 1);
    println!("done");
}
