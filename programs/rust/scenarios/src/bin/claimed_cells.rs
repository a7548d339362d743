//! Workers claim cells of an array by adding to an atomic index: every cell has one owner.
//
// NORACE
// EXPECT-STDOUT: [1, 1, 1, 1]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CELLS: usize = 4;
static NEXT: AtomicUsize = AtomicUsize::new(0);
static mut OWNED: [u32; CELLS] = [0; CELLS];

fn work() {
    loop {
        let mine = NEXT.fetch_add(1, Ordering::Relaxed);
        if mine >= CELLS {
            return;
        }
        // SAFETY: each cell is claimed by one thread; main looks when both have ended.
        unsafe { (&raw mut OWNED).cast::<u32>().add(mine).write(1) }; // NORACE: OWNED
    }
}

fn main() {
    let other = thread::spawn(work);
    work();
    other.join().unwrap();
    // SAFETY: each cell is claimed by one thread; main looks when both have ended.
    println!("{:?}", unsafe { OWNED }); // NORACE: OWNED
}
