//! One thread adds under the mutex; the other goes around it through a raw pointer
//! that was taken from the guard and kept.
//
// EXPECT-STDOUT: added
use std::sync::Mutex;
use std::thread;

struct Kept(*mut u32);

// SAFETY: this promise is broken: the pointer outlives the guard.
unsafe impl Send for Kept {}

impl Kept {
    fn add(self) {
        // SAFETY: unsound on purpose.
        unsafe { *self.0 += 1 }; // RACE: total with line 27
    }
}

fn main() {
    let total = Mutex::new(0);
    let mut guard = total.lock().unwrap();
    let kept = Kept(&raw mut *guard);
    drop(guard);
    thread::scope(|scope| {
        scope.spawn(move || kept.add());
        *total.lock().unwrap() += 1; // RACE: total with line 16
    });
    println!("added");
}
