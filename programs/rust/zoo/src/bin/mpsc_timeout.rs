//! Receiving with a time limit: nothing comes and the time runs out; something comes; nobody is
//! left who could send.
//
// NORACE
// EXPECT-STDOUT: empty at first: true
// EXPECT-STDOUT: Err(Timeout)
// EXPECT-STDOUT: Ok(5)
// EXPECT-STDOUT: Err(Disconnected)
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let long = Duration::from_secs(600);
    println!(
        "empty at first: {}",
        receiver.try_recv() == Err(TryRecvError::Empty)
    );
    println!("{:?}", receiver.recv_timeout(Duration::from_millis(2)));
    let sending = thread::spawn(move || sender.send(5).unwrap());
    println!("{:?}", receiver.recv_timeout(long));
    sending.join().unwrap();
    println!("{:?}", receiver.recv_timeout(long));
}
