//! An array is cut into pieces by hand with raw pointers, and the pieces overlap by one: the last
//! place of the first piece is the first of the second.
//
// EXPECT-STDOUT: pieces of 3
use std::thread;

const PIECE: usize = 3;

struct Piece(*mut u32);

// SAFETY: this promise is broken: the pieces overlap.
unsafe impl Send for Piece {}

impl Piece {
    fn double(self) {
        for i in 0..PIECE {
            // SAFETY: inside the array, but another thread may be there.
            unsafe { *self.0.add(i) *= 2 }; // RACE: numbers[2] with line 18
        }
    }
}

fn main() {
    let mut numbers = [1; 2 * PIECE - 1];
    let start = &raw mut numbers as *mut u32;
    let first = Piece(start);
    // SAFETY: inside the array.
    let second = Piece(unsafe { start.add(PIECE - 1) });
    thread::scope(|scope| {
        scope.spawn(move || first.double());
        scope.spawn(move || second.double());
    });
    println!("pieces of {PIECE}");
}
