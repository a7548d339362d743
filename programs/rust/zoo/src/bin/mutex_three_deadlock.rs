//! Three threads around a table: each takes the fork at its left and then the one at its right. The
//! threads start some time apart, so it usually goes well.
//
// NORACE
// EXPECT-STDOUT: all have eaten
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);
static C: Mutex<u32> = Mutex::new(0);

fn first() {
    let mut left = A.lock().unwrap();
    *left += *B.lock().unwrap(); // DEADLOCK: waits for B holding A, with lines 20, 25
}

fn second() {
    let mut left = B.lock().unwrap();
    *left += *C.lock().unwrap(); // DEADLOCK: waits for C holding B, with lines 15, 25
}

fn third() {
    let mut left = C.lock().unwrap();
    *left += *A.lock().unwrap(); // DEADLOCK: waits for A holding C, with lines 15, 20
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let philosophers: [fn(); 3] = [first, second, third];
    let threads = philosophers.map(|eat| {
        let thread = thread::spawn(eat);
        dawdle();
        thread
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("all have eaten");
}
