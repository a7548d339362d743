//! rayon with two threads: a parallel sum, a sort by recursive `join`, and a scope whose tasks
//! write to their own places.
//
// NORACE
// EXPECT-STDOUT: sum 19900
// EXPECT-STDOUT: sorted: true
// EXPECT-STDOUT: [0, 1, 4, 9]
use rayon::prelude::*;

/// Sorts by merging two sorted halves.
fn sort(numbers: &[u32]) -> Vec<u32> {
    if numbers.len() < 2 {
        return numbers.to_vec();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (left, right) = rayon::join(|| sort(left), || sort(right));
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut merged = Vec::with_capacity(numbers.len());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        merged.extend(if one <= other {
            left.next()
        } else {
            right.next()
        });
    }
    merged.extend(left.chain(right)); // NORACE: merged
    merged
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    pool.build_global().unwrap();
    let numbers: Vec<u32> = (0..200).collect();
    println!("sum {}", numbers.par_iter().sum::<u32>()); // NORACE: numbers

    let shuffled: Vec<u32> = (0..16).map(|i| i * 7 % 16).collect();
    println!("sorted: {}", sort(&shuffled).is_sorted());

    let mut squares = [0; 4];
    rayon::scope(|scope| {
        for (i, square) in squares.iter_mut().enumerate() {
            scope.spawn(move |_| *square = i * i); // NORACE: squares
        }
    });
    println!("{squares:?}"); // NORACE: squares
}
