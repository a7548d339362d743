//! A `OnceLock` that four threads want to fill at once: one does, the others wait and read. Stock
//! ThreadSanitizer can report the value here, because it does not see the part of std that waits.
//
// NORACE
// EXPECT-STDOUT: one winner: true
// EXPECT-STDOUT: sum 24
// EXPECT-STDOUT: set again: false
use std::sync::{Barrier, OnceLock};
use std::thread;

static TABLE: OnceLock<Vec<u32>> = OnceLock::new();

/// Meanwhile the others usually come to wait, but nothing makes them.
fn dawdle() {
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
}

fn main() {
    let together = Barrier::new(4);
    let together = &together;
    let fill = |me: u32| {
        move || {
            together.wait();
            let table = TABLE.get_or_init(|| {
                dawdle();
                vec![me, 1, 2, 3]
            });
            (table[0] == me, table[1..].iter().sum::<u32>()) // NORACE: TABLE
        }
    };
    let outcomes = thread::scope(|scope| {
        let threads = [10, 11, 12, 13].map(|me| scope.spawn(fill(me)));
        threads.map(|thread| thread.join().unwrap())
    });
    let winners = outcomes.iter().filter(|(won, _)| *won).count();
    println!("one winner: {}", winners == 1);
    println!("sum {}", outcomes.iter().map(|(_, sum)| sum).sum::<u32>());
    println!("set again: {}", TABLE.set(Vec::new()).is_ok());
}
