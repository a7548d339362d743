//! parking_lot's `Condvar` and `Once`: a ball goes back and forth between two threads, one wait
//! runs out of time, and four threads initialise once.
//
// NORACE
// EXPECT-STDOUT: nobody came: true
// EXPECT-STDOUT: passed 20 times
// EXPECT-STDOUT: initialised 1 times
use parking_lot::{Condvar, Mutex, Once};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const PASSES: u32 = 20;

static BALL: Mutex<u32> = Mutex::new(0);
static PASSED: Condvar = Condvar::new();
static START: Once = Once::new();
static TIMES: AtomicU32 = AtomicU32::new(0);

/// Passes the ball on whenever the count says that it is this side's turn.
fn play(side: u32) {
    let mut ball = BALL.lock();
    for _ in 0..PASSES / 2 {
        while *ball % 2 != side {
            PASSED.wait(&mut ball);
        }
        *ball += 1; // NORACE: BALL
        PASSED.notify_one();
    }
}

fn main() {
    let mut ball = BALL.lock();
    let never = |ball: &mut u32| *ball == 0;
    let waited = PASSED.wait_while_for(&mut ball, never, Duration::from_millis(2));
    println!("nobody came: {}", waited.timed_out());
    drop(ball);

    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
    println!("passed {} times", *BALL.lock());

    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                START.call_once(|| {
                    TIMES.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
    });
    println!("initialised {} times", TIMES.load(Ordering::Relaxed));
}
