//! RUSTSEC-2022-0006: the iterator of `ThreadLocal` reads entries that other threads are adding.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use thread_local::ThreadLocal;

fn main() {
    let counts: Arc<ThreadLocal<Mutex<Cell<u32>>>> = Arc::new(ThreadLocal::new());
    let adding = Arc::clone(&counts);
    let thread = std::thread::spawn(move || {
        let mine = adding.get_or(|| Mutex::new(Cell::new(0)));
        mine.lock().unwrap().set(1);
    });
    let so_far: u32 = counts.iter().map(|one| one.lock().unwrap().get()).sum();
    thread.join().unwrap();
    assert!(so_far <= 1);
    println!("ended");
}
