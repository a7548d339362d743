//! Many producers, one consumer, an unbounded channel: boxes go through it, more than one block of
//! the channel's list holds, and the consumer frees what the producers allocated.
//
// NORACE
// EXPECT-STDOUT: 150 messages, sum 3675
use std::sync::mpsc;
use std::thread;

const PRODUCERS: u32 = 3;
const MESSAGES: u32 = 50;

fn main() {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..PRODUCERS {
        let sender = sender.clone();
        thread::spawn(move || {
            for i in 0..MESSAGES {
                sender.send(Box::new(i)).unwrap(); // NORACE: message
            }
        });
    }
    drop(sender);
    let (mut count, mut sum) = (0, 0);
    for message in receiver {
        count += 1;
        sum += *message; // NORACE: message
    }
    println!("{count} messages, sum {sum}");
}
