//! What signal handlers do that others may wait for: raise a semaphore, write to a pipe.
//!
//! A handler may have interrupted a hook between two words, so it writes nothing itself. What it
//! did is kept here, with its place in the order, until a thread comes by that can write it
//! down: in a parallel recording the handler's own, at its next event; in a serial one whoever
//! has the turn, before the next synchronisation.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::event::Sync;
use super::{Mode, mode, next_seq};
use crate::local::local;

const MOST: usize = 64;

struct Slot {
    /// 0: free, 1: being filled, 2: full, 3: being emptied.
    state: AtomicU32,
    op: AtomicU32,
    thread: AtomicU32,
    object: AtomicUsize,
    pc: AtomicUsize,
    seq: AtomicU64,
}

static SLOTS: [Slot; MOST] = [const {
    Slot {
        state: AtomicU32::new(0),
        op: AtomicU32::new(0),
        thread: AtomicU32::new(0),
        object: AtomicUsize::new(0),
        pc: AtomicUsize::new(0),
        seq: AtomicU64::new(0),
    }
}; MOST];
static FULL: AtomicU32 = AtomicU32::new(0);

/// Keeps what the running thread does, if a signal handler of the program is running in it. With
/// more than there is room for, the rest is not recorded.
pub fn keep(op: Op, object: usize, pc: usize) {
    // SAFETY: the thread's own state; a known thread's record is in use.
    let thread = unsafe {
        let local = local();
        if (*local).handlers == 0 || (*local).thread.is_null() || mode() == Mode::Off {
            return;
        }
        (*(*local).thread).id
    };
    let claim = |slot: &&Slot| {
        slot.state
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    };
    if let Some(slot) = SLOTS.iter().find(claim) {
        slot.op.store(op as u32, Ordering::Relaxed);
        slot.thread.store(thread, Ordering::Relaxed);
        slot.object.store(object, Ordering::Relaxed);
        slot.pc.store(pc, Ordering::Relaxed);
        slot.seq.store(next_seq(), Ordering::Relaxed);
        slot.state.store(2, Ordering::Release);
        FULL.fetch_add(1, Ordering::Release);
        // SAFETY: as above. Without room in its buffer the thread comes by at its next event.
        unsafe { (*local()).interrupted[1] = (*local()).interrupted[0] };
    }
}

/// Hands out what was kept, of one thread or of all: the thread, the event and its place in the
/// order.
#[inline]
pub fn take(thread: Option<u32>, action: impl FnMut(u32, Sync, u64)) {
    if FULL.load(Ordering::Relaxed) != 0 {
        take_kept(thread, false, action);
    }
}

/// Hands out what one thread has received.
#[inline]
pub fn take_received(thread: u32, mut action: impl FnMut(Sync)) {
    if FULL.load(Ordering::Relaxed) != 0 {
        take_kept(Some(thread), true, |_, sync, _| action(sync));
    }
}

/// Calls `action` for every thread whose handler gave something to `object` that was not handed
/// out yet.
#[inline]
pub fn givers(object: usize, mut action: impl FnMut(u32)) {
    if FULL.load(Ordering::Acquire) == 0 {
        return;
    }
    for slot in &SLOTS {
        // What is being handed out may not be known yet to whom it is handed.
        let is_there = slot.state.load(Ordering::Acquire) >= 2;
        if is_there && slot.object.load(Ordering::Relaxed) == object {
            action(slot.thread.load(Ordering::Relaxed));
        }
    }
}

#[cold]
fn take_kept(thread: Option<u32>, received: bool, mut action: impl FnMut(u32, Sync, u64)) {
    for slot in &SLOTS {
        let by = slot.thread.load(Ordering::Relaxed);
        if slot.state.load(Ordering::Acquire) != 2 || thread.is_some_and(|thread| thread != by) {
            continue;
        }
        if received && slot.op.load(Ordering::Relaxed) != Op::Receive as u32 {
            continue;
        }
        let full = slot
            .state
            .compare_exchange(2, 3, Ordering::Acquire, Ordering::Relaxed);
        if full.is_err() {
            continue;
        }
        let number = slot.op.load(Ordering::Relaxed) as u8;
        let op = Op::from_number(number).unwrap_or(Op::Send);
        let object = slot.object.load(Ordering::Relaxed);
        let sync = Sync::new(op, object, slot.pc.load(Ordering::Relaxed));
        let seq = slot.seq.load(Ordering::Relaxed);
        action(by, sync, seq);
        slot.state.store(0, Ordering::Release);
        FULL.fetch_sub(1, Ordering::Relaxed);
    }
}
