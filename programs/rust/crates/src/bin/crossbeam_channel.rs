//! crossbeam's channels: bounded with several producers and consumers, of no capacity, and
//! unbounded; boxes go through, and whoever receives one frees it.
//
// NORACE
// EXPECT-STDOUT: bounded 90
// EXPECT-STDOUT: none 45
// EXPECT-STDOUT: unbounded 780
use crossbeam::channel::{self, Receiver, Sender};
use std::thread;

/// Sends the numbers below `each` from every producer, and adds up what all consumers got.
fn run(
    producers: u32,
    each: u32,
    consumers: u32,
    ends: (Sender<Box<u32>>, Receiver<Box<u32>>),
) -> u32 {
    let (sender, receiver) = ends;
    thread::scope(|scope| {
        for _ in 0..producers {
            let sender = sender.clone();
            scope.spawn(move || {
                for i in 0..each {
                    sender.send(Box::new(i)).unwrap(); // NORACE: message
                }
            });
        }
        drop(sender);
        let consume = || receiver.iter().map(|message| *message).sum::<u32>(); // NORACE: message
        let threads: Vec<_> = (0..consumers).map(|_| scope.spawn(consume)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    })
}

fn main() {
    println!("bounded {}", run(2, 10, 2, channel::bounded(2)));
    println!("none {}", run(1, 10, 2, channel::bounded(0)));
    println!("unbounded {}", run(1, 40, 1, channel::unbounded()));
}
