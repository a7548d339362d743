//! Main panics while another thread waits for a message that never comes: the process ends with
//! Rust's exit code for that.
//
// NORACE
// EXPECT-STDOUT: about to fail
// EXPECT-EXIT: 101
use std::sync::mpsc;
use std::thread;

fn main() {
    let (_sender, receiver) = mpsc::channel::<()>();
    let (ready, is_ready) = mpsc::channel();
    thread::spawn(move || {
        ready.send(()).unwrap();
        let _ = receiver.recv();
    });
    is_ready.recv().unwrap();
    println!("about to fail");
    panic!("main fails"); // FAILURE
}
