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

/// Threads at barriers in a parallel run, by the barrier's address: all are counted that share a number, and
/// whoever destroys one has patience only for so long.
static WITHIN: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
const PATIENCE: u64 = 100;

fn within(barrier: usize) -> &'static AtomicUsize {
    &WITHIN[barrier / 32 % WITHIN.len()]
}

/// The running thread comes to a barrier, in a parallel run.
pub fn arrive(barrier: usize) {
    within(barrier).fetch_add(1, Ordering::AcqRel);
}

/// It has left, and that is recorded.
pub fn leave(barrier: usize) {
    within(barrier).fetch_sub(1, Ordering::AcqRel);
}

/// The C library has destroyed a barrier, so all have left it; soon they have said so.
pub fn settle(barrier: usize) {
    if mode() == Mode::Serial || within(barrier).load(Ordering::Acquire) == 0 {
        return;
    }
    let since = sys::milliseconds();
    while within(barrier).load(Ordering::Acquire) > 0 && sys::milliseconds() - since < PATIENCE {
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
