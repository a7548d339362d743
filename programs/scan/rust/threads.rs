// Threads: spawned, scoped, built, waited for, and not.
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

struct Bare(UnsafeCell<u32>);

// SAFETY: the promise is broken where the marks say so.
unsafe impl Sync for Bare {}
// SAFETY: as before.
unsafe impl Send for Bare {}

static mut COUNT: u32 = 0;
static mut ALONE: u32 = 0;
static mut LOOPED: u32 = 0;
static mut BUILT: u32 = 0;
static mut UNJOINED: u32 = 0;
static mut NESTED: u32 = 0;

struct Pointer(*mut u32);

// SAFETY: the promise is broken.
unsafe impl Send for Pointer {}

fn alone() {
    unsafe { ALONE += 1 }; // NORACE
}

fn spawned() {
    unsafe { COUNT = 1 }; // NORACE
    let other = thread::spawn(|| {
        unsafe { COUNT += 1 }; // RACE!
    });
    unsafe { COUNT += 1 }; // RACE!
    other.join().unwrap();
    unsafe { COUNT += 1 }; // NORACE
    let single = thread::spawn(alone);
    single.join().unwrap();
    unsafe { ALONE += 1 }; // NORACE
}

fn in_a_loop() {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(|| {
                unsafe { LOOPED += 1 }; // RACE!
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn scoped() {
    let mut own = 0;
    let cell = Bare(UnsafeCell::new(0));
    let cell = &cell;
    thread::scope(|scope| {
        scope.spawn(|| {
            own += 1; // NORACE
            unsafe { *cell.0.get() += 1 }; // RACE!
        });
        scope.spawn(|| {
            unsafe { *cell.0.get() += 1 }; // RACE!
        });
    });
    own += 1; // NORACE
    unsafe { *cell.0.get() += own }; // NORACE
}

fn built() {
    let builder = thread::Builder::new().name("built".into());
    let other = builder
        .spawn(|| {
            unsafe { BUILT += 1 }; // RACE!
        })
        .unwrap();
    unsafe { BUILT += 1 }; // RACE!
    other.join().unwrap();
}

fn shared() {
    let cell = Arc::new(Bare(UnsafeCell::new(0)));
    let same = Arc::clone(&cell);
    let other = thread::spawn(move || {
        unsafe { *same.0.get() += 1 }; // RACE!
    });
    unsafe { *cell.0.get() += 1 }; // RACE!
    other.join().unwrap();
    unsafe { *cell.0.get() += 1 }; // NORACE
}

fn raw() {
    let number = Box::into_raw(Box::new(0));
    let pointer = Pointer(number);
    let other = thread::spawn(move || {
        let pointer = pointer;
        unsafe { *pointer.0 += 1 }; // RACE!
    });
    unsafe { *number += 1 }; // RACE!
    other.join().unwrap();
    unsafe { *number += 1 }; // NORACE
}

fn moved() {
    let mut numbers = vec![1, 2, 3];
    numbers.push(4); // NORACE
    let other = thread::spawn(move || {
        numbers.push(5); // NORACE
        numbers.len()
    });
    other.join().unwrap();
}

fn nested() {
    let outer = thread::spawn(|| {
        let inner = thread::spawn(|| {
            unsafe { NESTED += 1 }; // NORACE
        });
        inner.join().unwrap();
        unsafe { NESTED += 1 }; // NORACE
    });
    outer.join().unwrap();
    unsafe { NESTED += 1 }; // NORACE
}

fn main() {
    spawned();
    in_a_loop();
    scoped();
    built();
    shared();
    raw();
    moved();
    nested();
    thread::spawn(|| {
        unsafe { UNJOINED += 1 }; // RACE!
    });
    unsafe { UNJOINED += 1 }; // RACE!
}
