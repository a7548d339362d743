//! A box goes through a slot under a mutex with a condition; the thread that takes it has it alone.
//
// NORACE
// EXPECT-STDOUT: 3
use std::sync::{Condvar, Mutex};
use std::thread;

static SLOT: Mutex<Option<Box<u32>>> = Mutex::new(None);
static FILLED: Condvar = Condvar::new();

fn take() -> Box<u32> {
    let slot = SLOT.lock().unwrap();
    let mut slot = FILLED.wait_while(slot, |slot| slot.is_none()).unwrap();
    slot.take().unwrap()
}

fn main() {
    let taker = thread::spawn(|| {
        let mut mine = take();
        *mine += 2; // NORACE: *mine
        *mine // NORACE: *mine
    });
    *SLOT.lock().unwrap() = Some(Box::new(1)); // NORACE: *mine
    FILLED.notify_one();
    println!("{}", taker.join().unwrap());
}
