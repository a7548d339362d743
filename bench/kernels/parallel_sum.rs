//! A parallel sum as rayon's, by hand: scoped threads take chunks of a slice by an atomic counter,
//! map and add the elements, and add what they found to a total under a mutex.
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const LENGTH: usize = 1 << 18;
const CHUNK: usize = 512;
const THREADS: usize = 4;

/// One step of a small pseudo-random generator.
fn scramble(number: u64) -> u64 {
    let number = number ^ (number << 13);
    let number = number ^ (number >> 7);
    number ^ (number << 17)
}

/// Adds up all numbers of the slice, scrambled, each chunk by whoever takes it.
fn pass(numbers: &[u64]) -> u64 {
    let chunks: Vec<&[u64]> = numbers.chunks(CHUNK).collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new(0u64);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut sum = 0u64;
                    for number in chunk.iter() {
                        sum = sum.wrapping_add(scramble(*number));
                    }
                    let mut total = total.lock().unwrap();
                    *total = total.wrapping_add(sum);
                }
            });
        }
    });
    total.into_inner().unwrap()
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let numbers: Vec<u64> = (1..=LENGTH as u64).collect();
    let mut sum = 0u64;
    for _ in 0..rounds * 10 {
        sum = sum.wrapping_add(pass(&numbers));
    }
    println!("{sum}");
}
