//! An `unpark` that comes first leaves a token, and the next `park` returns at once; two tokens are
//! one. `park_timeout` needs none. A token for another thread stays until that thread parks,
//! however late: here after a message that was sent after the token was left.
//
// NORACE
// EXPECT-STDOUT: token used
// EXPECT-STDOUT: time is up
// EXPECT-STDOUT: token kept
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    let me = thread::current();
    me.unpark();
    me.unpark();
    thread::park();
    println!("token used");

    thread::park_timeout(Duration::from_millis(1));
    println!("time is up");

    let (sender, receiver) = mpsc::sync_channel(1);
    let sleeper = thread::spawn(move || {
        while receiver.try_recv().is_err() {
            thread::yield_now();
        }
        thread::park();
    });
    sleeper.thread().unpark();
    sender.send(()).unwrap();
    sleeper.join().unwrap();
    println!("token kept");
}
