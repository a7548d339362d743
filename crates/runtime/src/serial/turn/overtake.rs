//! Taking the turn from a thread that does nothing with it.

use core::sync::atomic::Ordering;

use super::super::scheduler::scheduler;
use super::{CLAIMED, CURRENT, carrier, is_green, token};
use crate::sys;
use crate::threads::Thread;

/// For the watchdog: takes the turn from a thread that is outside of the runtime, and hands it
/// to another; false if there is none, or if it is inside after all. From one that is known to
/// be blocked (`is_blocked`) it is taken in any case: others may come back and have it.
pub fn take_from(thread: *mut Thread, is_blocked: bool) -> bool {
    // SAFETY: the record of the turn's holder is in use. Until the holder enters the runtime the
    // scheduler is ours: it looks at `CURRENT` after it has raised `inside`, we look at `inside`
    // after we have changed `CURRENT`, and `membarrier` keeps its two steps apart.
    unsafe {
        let local = (*thread).local;
        if local.is_null() || !is_blocked && !scheduler().somebody_else() {
            return false;
        }
        let claimed =
            CURRENT.compare_exchange(thread, CLAIMED, Ordering::AcqRel, Ordering::Acquire);
        if claimed.is_err() {
            return false;
        }
        barrier_for_all();
        if (&raw const (*local).inside).read_volatile() != 0 {
            // It is on its way in or out. If it has seen the claim it waits for the turn.
            CURRENT.store(thread, Ordering::Release);
            return false;
        }
        scheduler().leave(thread);
        if is_green() {
            let lost_on = &(*thread).task.lost_on;
            lost_on.store(carrier::tid(), Ordering::Relaxed);
            CURRENT.store(core::ptr::null_mut(), Ordering::Release);
            if !carrier::start() {
                lost_on.store(0, Ordering::Relaxed);
                scheduler().come_back(thread);
                CURRENT.store(thread, Ordering::Release);
                return false;
            }
            return true;
        }
        token::hand_over_or_put_down();
        true
    }
}

/// Makes all threads of the process see what this one has stored, and the other way round.
fn barrier_for_all() {
    const PRIVATE_EXPEDITED: usize = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;
    sys::call(
        libc::SYS_membarrier,
        [REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0],
    );
    sys::call(libc::SYS_membarrier, [PRIVATE_EXPEDITED, 0, 0, 0, 0, 0]);
}
