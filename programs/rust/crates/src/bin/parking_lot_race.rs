//! One thread adds under parking_lot's mutex; the other reaches the value through `data_ptr` and
//! does not lock.
//
// EXPECT-STDOUT: added
use parking_lot::Mutex;
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

fn careful() {
    for _ in 0..5 {
        *TOTAL.lock() += 1; // RACE: TOTAL with line 18
    }
}

fn careless() {
    // SAFETY: unsound on purpose.
    unsafe { *TOTAL.data_ptr() += 1 }; // RACE: TOTAL with line 12
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(careful);
        scope.spawn(careless);
    });
    println!("added");
}
