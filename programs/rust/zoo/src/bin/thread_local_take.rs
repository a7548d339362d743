//! Thread-locals that are initialised at first use, replaced and taken: `LocalKey::set`, `replace`,
//! `take` and `with_borrow_mut`, in two threads that do not disturb each other.
//
// NORACE
// EXPECT-STDOUT: ["fresh", "first 1", "first 2"] then []
// EXPECT-STDOUT: ["fresh", "second 1", "second 2"] then []
use std::cell::{Cell, RefCell};
use std::thread;

thread_local! {
    static NOTES: RefCell<Vec<String>> = RefCell::new(vec!["fresh".to_owned()]);
    static STEP: Cell<u32> = const { Cell::new(0) };
}

fn note(name: &str) -> String {
    for _ in 0..2 {
        let step = STEP.replace(STEP.get() + 1) + 1; // NORACE: STEP
        NOTES.with_borrow_mut(|notes| notes.push(format!("{name} {step}"))); // NORACE: NOTES
    }
    STEP.set(0);
    let taken = NOTES.take();
    format!("{taken:?} then {:?}", NOTES.take())
}

fn main() {
    for thread in ["first", "second"].map(|name| thread::spawn(move || note(name))) {
        println!("{}", thread.join().unwrap());
    }
}
