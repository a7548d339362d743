//! RUSTSEC-2020-0131: an `RcuCell` may be shared between threads even if what is in it may not.

use std::cell::Cell;
use std::sync::Arc;

use rcu_cell::RcuCell;

fn main() {
    let shared = Arc::new(RcuCell::new(Some(Cell::new(0))));
    let other = Arc::clone(&shared);
    let thread = std::thread::spawn(move || other.read().unwrap().set(1));
    shared.read().unwrap().set(2);
    thread.join().unwrap();
    println!("ended");
}
