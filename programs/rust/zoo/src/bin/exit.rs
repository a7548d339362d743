//! A thread ends the whole process with an exit code while main waits for it.
//
// NORACE
// EXPECT-STDOUT: leaving
// EXPECT-EXIT: 7
use std::process;
use std::thread;

fn main() {
    let leaver = thread::spawn(|| {
        println!("leaving");
        process::exit(7);
    });
    leaver.join().unwrap();
}
