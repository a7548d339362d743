//! A static that is computed by whoever needs it first: four threads do at the same time, and three
//! of them wait for the fourth.
//
// NORACE
// EXPECT-STDOUT: computed 1 times
// EXPECT-STDOUT: sum 400
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, LazyLock};
use std::thread;

static TIMES: AtomicU32 = AtomicU32::new(0);
static SQUARES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    TIMES.fetch_add(1, Ordering::Relaxed);
    // Meanwhile the others usually come to wait, but nothing makes them.
    for _ in 0..5 {
        thread::spawn(|| ()).join().unwrap();
    }
    (0..20).map(|i| i * i).collect()
});

fn main() {
    let together = Barrier::new(4);
    let look = || {
        together.wait();
        SQUARES[10] // NORACE: SQUARES
    };
    let sum = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(look));
        threads
            .map(|thread| thread.join().unwrap())
            .iter()
            .sum::<u32>()
    });
    println!("computed {} times", TIMES.load(Ordering::Relaxed));
    println!("sum {sum}");
}
