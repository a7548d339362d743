//! Two threads of a scope add to a number that nothing protects. Whoever drops the last share of a
//! thread's record ends it, and the scope waits for both; that orders neither before the other.
//
// EXPECT-STDOUT: counted
use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<u64>);

// SAFETY: this promise is broken: nothing protects the number.
unsafe impl Sync for Shared {}

impl Shared {
    fn add(&self) {
        // SAFETY: no, another thread may be there.
        unsafe { *self.0.get() += 1 } // RACE: number with line 16
    }
}

fn main() {
    let number = Shared(UnsafeCell::new(0));
    thread::scope(|scope| {
        scope.spawn(|| number.add());
        scope.spawn(|| number.add());
    });
    println!("counted");
}
