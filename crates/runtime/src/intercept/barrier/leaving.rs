//! Threads that a full barrier has let go and that have not left it: whoever destroys it waits for them, as glibc does. In serial
//! recordings only, where the turn's holder alone is here.

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

/// Waits until all have left.
pub fn wait(barrier: usize) {
    let is_serial = mode() == Mode::Serial && threads::visible();
    while is_serial && PROCESS.load(Ordering::Relaxed) == sys::getpid() && slot(barrier).is_some() {
        serial::wait(object(barrier), Kind::Barrier, Limit::None);
    }
}
