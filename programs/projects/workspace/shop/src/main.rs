//! Sells at the prices that are given.

fn main() {
    let prices: Vec<i64> = std::env::args()
        .skip(1)
        .map(|price| price.parse().unwrap())
        .collect();
    println!("{}", shop::sell(&prices));
}
