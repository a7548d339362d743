//! Either end of a channel can go away first. A waiting receiver wakes up when the last sender
//! goes; a sender gets its message back when the receiver has gone; what nobody received is
//! dropped.
//
// NORACE
// EXPECT-STDOUT: receiver woke up: true
// EXPECT-STDOUT: message came back: 3
// EXPECT-STDOUT: dropped unread: 4
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let waiting = thread::spawn(move || receiver.recv().is_err());
    let last = sender.clone();
    drop(sender);
    thread::spawn(move || drop(last)).join().unwrap();
    println!("receiver woke up: {}", waiting.join().unwrap());

    let (sender, receiver) = mpsc::sync_channel(0);
    let waiting = thread::spawn(move || sender.send(3).unwrap_err().0);
    drop(receiver);
    println!("message came back: {}", waiting.join().unwrap());

    let (sender, receiver) = mpsc::channel();
    let token = Arc::new(());
    let sending = {
        let token = Arc::clone(&token);
        thread::spawn(move || (0..4).for_each(|_| sender.send(Arc::clone(&token)).unwrap()))
    };
    sending.join().unwrap();
    let alive = Arc::strong_count(&token);
    drop(receiver);
    println!("dropped unread: {}", alive - Arc::strong_count(&token));
}
