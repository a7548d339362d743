//! Scoped threads borrow from main's stack: halves of an array to write, and a sum to read. Main
//! reads both after the scope, which waits also for the thread that nobody joins.
//
// NORACE
// EXPECT-STDOUT: [2, 4, 6, 8, 10, 12]
// EXPECT-STDOUT: joined 21, not joined 21
use std::thread;

fn main() {
    let mut numbers = [1, 2, 3, 4, 5, 6];
    let mut unjoined = 0;
    let joined = thread::scope(|scope| {
        let numbers = &numbers;
        scope.spawn(|| unjoined = numbers.iter().sum()); // NORACE: unjoined
        scope.spawn(|| numbers.iter().sum::<u32>()).join().unwrap()
    });
    thread::scope(|scope| {
        let (left, right) = numbers.split_at_mut(3);
        for half in [left, right] {
            scope.spawn(|| half.iter_mut().for_each(|number| *number *= 2)); // NORACE: numbers
        }
    });
    println!("{numbers:?}"); // NORACE: numbers
    println!("joined {joined}, not joined {unjoined}"); // NORACE: unjoined
}
