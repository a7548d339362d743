//! The first initialisation panics and poisons the `Once`: a later `call_once` panics too, and
//! `call_once_force` learns of it and initialises again.
//
// NORACE
// EXPECT-STDOUT: first: panicked
// EXPECT-STDOUT: second: panicked
// EXPECT-STDOUT: forced after poison: true
// EXPECT-STDOUT: completed: true
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static START: Once = Once::new();
static WAS_POISONED: AtomicBool = AtomicBool::new(false);

fn outcome(thread: thread::JoinHandle<()>) -> &'static str {
    match thread.join() {
        Ok(()) => "fine",
        Err(_) => "panicked",
    }
}

fn main() {
    let first = thread::spawn(|| START.call_once(|| panic!("no luck")));
    println!("first: {}", outcome(first));
    let second = thread::spawn(|| START.call_once(|| unreachable!("it is poisoned")));
    println!("second: {}", outcome(second));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                START.call_once_force(|state| {
                    WAS_POISONED.store(state.is_poisoned(), Ordering::Relaxed);
                });
            });
        }
    });
    println!(
        "forced after poison: {}",
        WAS_POISONED.load(Ordering::Relaxed)
    );
    println!("completed: {}", START.is_completed());
}
