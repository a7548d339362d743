//! Bounded channels: one with two places, whose producers wait for room; and one with none, where
//! sender and receiver meet, so that what was written before the send is seen after the receive.
//
// NORACE
// EXPECT-STDOUT: bounded sum 570
// EXPECT-STDOUT: met 10 times
// EXPECT-STDOUT: full: true
use std::sync::mpsc::{self, TrySendError};
use std::thread;

fn bounded() -> u32 {
    let (sender, receiver) = mpsc::sync_channel(2);
    thread::scope(|scope| {
        for _ in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || (0..20).for_each(|i| sender.send(i).unwrap()));
        }
        drop(sender);
        receiver.iter().sum()
    })
}

fn meetings() -> u32 {
    let (sender, receiver) = mpsc::sync_channel(0);
    let sending = thread::spawn(move || {
        for i in 0..10 {
            sender.send(Box::new(i)).unwrap(); // NORACE: message
        }
    });
    let mut met = 0;
    while let Ok(message) = receiver.recv() {
        met += u32::from(*message < 10); // NORACE: message
    }
    sending.join().unwrap();
    met
}

fn main() {
    println!("bounded sum {}", bounded());
    println!("met {} times", meetings());
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.try_send(1).unwrap();
    println!(
        "full: {}",
        matches!(sender.try_send(2), Err(TrySendError::Full(2)))
    );
    drop(receiver);
}
