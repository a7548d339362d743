//! Numbers of processes and kernel threads in a run that is to be the same as another: what the program is told
//! is what it was told then, and what it does with such a number is done to whom it means now.

use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use super::take;

/// How many numbers are remembered. Later ones are told as they are.
const MOST: usize = 1024;

/// The number that the program was told, and the one that is true.
struct Pair {
    told: AtomicI32,
    real: AtomicI32,
}

static PAIRS: [Pair; MOST] = [const {
    Pair {
        told: AtomicI32::new(0),
        real: AtomicI32::new(0),
    }
}; MOST];
/// How many pairs there are. Threads that have the turn add to them; anybody may read.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What the running thread is told where `real` is true.
pub fn tell(kind: u32, real: i32) -> i32 {
    let told = take(kind, || known(real) as u64) as i32;
    if told != real && known(real) != told {
        remember(told, real);
    }
    told
}

/// What the program knows a process or kernel thread by.
pub fn known(real: i32) -> i32 {
    let pair = pairs().find(|pair| pair.real.load(Ordering::Relaxed) == real);
    pair.map_or(real, |pair| pair.told.load(Ordering::Relaxed))
}

/// Whom the program means by a number. A negative one means a group of processes.
pub fn meant(told: i32) -> i32 {
    if told < -1 {
        return -meant(told.saturating_neg());
    }
    let pair = pairs().find(|pair| pair.told.load(Ordering::Relaxed) == told);
    pair.map_or(told, |pair| pair.real.load(Ordering::Relaxed))
}

/// The newest first: numbers are used again.
fn pairs() -> impl Iterator<Item = &'static Pair> {
    PAIRS[..COUNT.load(Ordering::Acquire)].iter().rev()
}

fn remember(told: i32, real: i32) {
    let count = COUNT.load(Ordering::Relaxed);
    if let Some(pair) = PAIRS.get(count) {
        pair.told.store(told, Ordering::Relaxed);
        pair.real.store(real, Ordering::Relaxed);
        COUNT.store(count + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_mean_whom_they_mean_now() {
        assert_eq!((known(100), meant(7), meant(-7)), (100, 7, -7));
        remember(7, 100);
        assert_eq!((known(100), meant(7), meant(-7)), (7, 100, -100));
        assert_eq!((meant(0), meant(-1), meant(8)), (0, -1, 8));
        remember(7, 200);
        assert_eq!((meant(7), known(100)), (200, 7));
        assert_eq!(meant(i32::MIN), -i32::MAX);
    }
}
