//! Threads that a full barrier has let go and that have not left it: whoever destroys it waits for them, as
//! glibc does, until their events are
//! there as well.
//!
//! In a serial recording the turn's holder alone is here, and waits like any other. Otherwise threads are
//! counted from before their arrival on.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::record::{Mode, mode};
use crate::serial::endings::Kind;
use crate::serial::{self, Limit};
use crate::{sys, threads};

/// A barrier and how many have to leave it. Without room for one more, nobody waits for it.
static LEAVING: [[AtomicUsize; 2]; 32] = [const { [const { AtomicUsize::new(0) }; 2] }; 32];
/// The process that they are of: a fork leaves them behind.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn slot(barrier: usize) -> Option<&'static [AtomicUsize; 2]> {
    LEAVING
        .iter()
        .find(|slot| slot[0].load(Ordering::Relaxed) == barrier)
}

/// What is woken when the last has left.
fn object(barrier: usize) -> usize {
    barrier + 1
}

/// A barrier lets so many threads go, besides the one that is last to come.
pub fn begin(barrier: usize, count: usize) {
    let process = sys::getpid();
    if PROCESS.swap(process, Ordering::Relaxed) != process {
        LEAVING
            .iter()
            .for_each(|slot| slot[0].store(0, Ordering::Relaxed));
    }
    if count > 0
        && let Some(slot) = slot(barrier).or_else(|| slot(0))
    {
        if slot[0].swap(barrier, Ordering::Relaxed) != barrier {
            slot[1].store(0, Ordering::Relaxed);
        }
        slot[1].fetch_add(count, Ordering::Relaxed);
    }
}

/// One of them has left.
pub fn end(barrier: usize) {
    if let Some(slot) = slot(barrier)
        && slot[1].fetch_sub(1, Ordering::Relaxed) == 1
    {
        slot[0].store(0, Ordering::Relaxed);
        serial::wake(object(barrier), usize::MAX);
    }
}

/// Threads at barriers in a parallel run: a barrier's address and, in the lowest bits, how many are there.
/// 0: free. A barrier may stand in two places for a moment, so all of them count. With more barriers in use
/// at one time than there is room for, the others' threads are not counted.
static WITHIN: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
/// Addresses have 47 bits, the last three of which are 0.
const COUNT_BITS: u32 = 16;
const COUNTED: usize = (1 << COUNT_BITS) - 1;
/// Whoever destroys a barrier waits so long in milliseconds: an enforced order may hold up who leaves it.
const PATIENCE: u64 = 100;

fn key(barrier: usize) -> usize {
    barrier << COUNT_BITS
}

/// Replaces the first of the places that hold something of this key by what `change` says; false if none does.
fn update(of: usize, change: impl Fn(usize) -> usize) -> bool {
    WITHIN.iter().any(|place| {
        let update = place.fetch_update(Ordering::AcqRel, Ordering::Acquire, |held| {
            (held & !COUNTED == of && (of == 0) == (held == 0)).then(|| change(held))
        });
        update.is_ok()
    })
}

/// The running thread comes to a barrier, in a parallel run.
pub fn arrive(barrier: usize) {
    if !update(key(barrier), |held| held + 1) {
        update(0, |_| key(barrier) + 1);
    }
}

/// It has left, and that is recorded.
pub fn leave(barrier: usize) {
    update(key(barrier), |held| match held & COUNTED {
        1 => 0,
        _ => held - 1,
    });
}

/// How many are there.
fn within(barrier: usize) -> usize {
    let held = WITHIN.iter().map(|place| place.load(Ordering::Acquire));
    held.filter(|held| held & !COUNTED == key(barrier))
        .map(|held| held & COUNTED)
        .sum()
}

/// The C library has destroyed a barrier, so all have left it; soon they have said so.
pub fn settle(barrier: usize) {
    if mode() == Mode::Serial || within(barrier) == 0 {
        return;
    }
    let since = sys::milliseconds();
    while within(barrier) > 0 && sys::milliseconds() - since < PATIENCE {
        sys::yield_now();
    }
}

/// Waits until all have left.
pub fn wait(barrier: usize) {
    let is_serial = mode() == Mode::Serial && threads::visible();
    while is_serial && PROCESS.load(Ordering::Relaxed) == sys::getpid() && slot(barrier).is_some() {
        serial::wait(object(barrier), Kind::Barrier, Limit::None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_at_this_barrier_count() {
        // Two that would share a place if places were found by the address.
        let [one, other] = [0x7F00_0000_1000, 0x7F00_0000_1000 + 32 * 64];
        arrive(one);
        arrive(other);
        arrive(other);
        assert_eq!([within(one), within(other)], [1, 2]);
        leave(one);
        assert_eq!([within(one), within(other)], [0, 2]);
        leave(other);
        leave(other);
        assert_eq!(within(other), 0);

        // More barriers than there is room for, one after the other: each is counted.
        for number in 0..3 * WITHIN.len() {
            let barrier = 0x7F00_0010_0000 + 32 * number;
            arrive(barrier);
            assert_eq!(within(barrier), 1, "barrier {number}");
            leave(barrier);
        }
    }

    #[test]
    fn threads_come_and_go_at_once() {
        let barriers = [0x7F00_0020_0000, 0x7F00_0020_0020, 0x7F00_0020_0040];
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    for round in 0..10_000 {
                        let barrier = barriers[(number + round) % barriers.len()];
                        arrive(barrier);
                        assert!(within(barrier) >= 1);
                        leave(barrier);
                    }
                });
            }
        });
        assert_eq!(barriers.map(within), [0; 3]);
    }
}
