//! Squares on three threads, sorted afterwards.
//
// NORACE
// EXPECT-STDOUT: [0, 1, 4, 9, 16]

fn main() {
    let mut squares = tested::work_off(3, (0..5).collect(), |job: u32| job * job);
    squares.sort_unstable();
    println!("{squares:?}");
}
