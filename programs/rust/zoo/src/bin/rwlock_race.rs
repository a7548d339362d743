//! Two threads change a value while they hold the lock for reading only. Readers do not exclude
//! each other; the one who writes properly is excluded from both.
//
// EXPECT-STDOUT: changed
use std::cell::UnsafeCell;
use std::sync::RwLock;
use std::thread;

struct Value(UnsafeCell<u32>);

// SAFETY: this promise is broken: the value is changed under a shared lock.
unsafe impl Sync for Value {}

static VALUE: RwLock<Value> = RwLock::new(Value(UnsafeCell::new(0)));

fn change() {
    for _ in 0..5 {
        let value = VALUE.read().unwrap();
        // SAFETY: unsound on purpose.
        unsafe { *value.0.get() += 1 }; // RACE: VALUE with line 20
    }
}

fn main() {
    let first = thread::spawn(change);
    let second = thread::spawn(change);
    *VALUE.write().unwrap().0.get_mut() += 1; // NORACE: VALUE
    first.join().unwrap();
    second.join().unwrap();
    println!("changed");
}
