//! Weak shares: a thread upgrades one while another drops the last strong share. Either it gets the
//! whole value or nothing; afterwards there is nothing.
//
// NORACE
// EXPECT-STDOUT: whole or nothing: true
// EXPECT-STDOUT: gone: true
use std::sync::{Arc, Barrier, Weak};
use std::thread;

fn main() {
    let together = &Barrier::new(2);
    let strong = Arc::new(vec![1, 2, 3]);
    let weak = Arc::downgrade(&strong);
    let looker: Weak<Vec<u32>> = weak.clone();
    let fine = thread::scope(|scope| {
        scope.spawn(move || {
            together.wait();
            drop(strong);
        });
        let looking = scope.spawn(move || {
            together.wait();
            looker.upgrade().is_none_or(|value| *value == [1, 2, 3]) // NORACE: value
        });
        looking.join().unwrap()
    });
    println!("whole or nothing: {fine}");
    println!("gone: {}", weak.upgrade().is_none());
}
