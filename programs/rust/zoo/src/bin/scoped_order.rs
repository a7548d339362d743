//! Threads of a scope, one after the other: a mutex, a join, and the end of a scope each order what
//! they write.
//
// NORACE
// EXPECT-STDOUT: 6
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Shared(UnsafeCell<u64>);

// SAFETY: whoever adds is alone: by the mutex, by a join, or by the end of a scope.
unsafe impl Sync for Shared {}

impl Shared {
    fn add(&self) {
        // SAFETY: as above.
        unsafe { *self.0.get() += 1 } // NORACE: number
    }
}

fn main() {
    let number = Shared(UnsafeCell::new(0));
    let alone = Mutex::new(());
    let add = || {
        let _alone = alone.lock().unwrap();
        number.add();
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    thread::scope(|scope| {
        scope.spawn(|| number.add()).join().unwrap();
        scope.spawn(|| number.add());
    });
    thread::scope(|scope| {
        scope.spawn(|| number.add());
    });
    number.add();
    println!("{}", number.0.into_inner());
}
