//! RUSTSEC-2020-0122: a `Cow` may go to another thread even if what it borrows may not be shared.

use std::cell::Cell;

use beef::Cow;

fn main() {
    let counts = [Cell::new(0)];
    let one: Cow<[Cell<u32>]> = Cow::borrowed(&counts);
    let other: Cow<[Cell<u32>]> = Cow::borrowed(&counts);
    std::thread::scope(|scope| {
        scope.spawn(move || one[0].set(one[0].get() + 1));
        scope.spawn(move || other[0].set(other[0].get() + 1));
    });
    println!("ended");
}
