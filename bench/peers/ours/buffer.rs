//! The algorithm with the standard library's types, as a program.

mod algorithm {
    use std::sync::{Arc, Condvar, Mutex};
    use std::thread;

    include!("../algorithms/buffer.rs");
}

fn main() {
    let is_broken = std::env::args().nth(1).is_some_and(|word| word == "broken");
    algorithm::run(is_broken);
}
