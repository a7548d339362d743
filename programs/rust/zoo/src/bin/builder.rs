//! Threads with names and stack sizes of their own; a thread knows its name, and the one that sets
//! none has none.
//
// NORACE
// EXPECT-STDOUT: worker 0: 0
// EXPECT-STDOUT: worker 1: 5050
// EXPECT-STDOUT: nobody: 5050
// EXPECT-STDOUT: main
use std::thread;

/// Adds up the numbers to `n` the deep way.
fn sum(n: u32) -> u32 {
    if n == 0 { 0 } else { n + sum(n - 1) }
}

fn describe(n: u32) -> String {
    let me = thread::current();
    format!("{}: {}", me.name().unwrap_or("nobody"), sum(n))
}

fn main() {
    let workers = [0, 1].map(|i| {
        let builder = thread::Builder::new().name(format!("worker {i}"));
        let builder = builder.stack_size(256 * 1024);
        builder.spawn(move || describe(100 * i)).unwrap()
    });
    for worker in workers {
        println!("{}", worker.join().unwrap());
    }
    println!("{}", thread::spawn(|| describe(100)).join().unwrap());
    println!("{}", thread::current().name().unwrap_or("nobody"));
}
