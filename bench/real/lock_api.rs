//! RUSTSEC-2020-0070: a mapped read guard may go to another thread even if what it guards may not be shared.

use std::cell::Cell;

use parking_lot::{RwLock, RwLockReadGuard};

fn main() {
    let lock = RwLock::new((Cell::new(0), 7));
    let one = RwLockReadGuard::map(lock.read(), |pair| &pair.0);
    let other = RwLockReadGuard::map(lock.read(), |pair| &pair.0);
    std::thread::scope(|scope| {
        scope.spawn(move || one.set(one.get() + 1));
        scope.spawn(move || other.set(other.get() + 1));
    });
    println!("ended");
}
