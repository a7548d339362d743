//! Four threads of a scope take a mutex by turns, and each adds once to a number that nothing protects. Who
//! comes to wait for the mutex, and who finds it free again just before, depends on the schedule.
//
// EXPECT-STDOUT: total 120
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Shared(UnsafeCell<u64>);

// SAFETY: this promise is broken: nothing protects the number.
unsafe impl Sync for Shared {}

impl Shared {
    fn add(&self) {
        // SAFETY: no, another thread may be there.
        unsafe { *self.0.get() += 1 } // RACE: number with line 17
    }
}

fn main() {
    let number = Shared(UnsafeCell::new(0));
    let total = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..30 {
                    *total.lock().unwrap() += 1; // NORACE: total
                }
                number.add();
            });
        }
    });
    println!("total {}", total.lock().unwrap());
}
