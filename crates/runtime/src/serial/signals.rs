//! Which signals a thread does not want: each thread's own, though all run on one kernel thread.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::sys;
use crate::threads::Thread;

/// A kernel thread whose context runs elsewhere handles no signals but the C library's own two,
/// which every thread must answer.
pub fn block_signals() {
    const CANCEL_AND_SETXID: u64 = 0b11 << 31;
    set_mask(!CANCEL_AND_SETXID);
}

/// Which signals the running kernel thread does not want.
pub fn mask() -> u64 {
    let mut mask = 0u64;
    let how = libc::SIG_BLOCK as usize;
    sys::call(
        libc::SYS_rt_sigprocmask,
        [how, 0, &raw mut mask as usize, 8, 0, 0],
    );
    mask
}

/// Changes that.
pub fn set_mask(mask: u64) {
    let how = libc::SIG_SETMASK as usize;
    sys::call(
        libc::SYS_rt_sigprocmask,
        [how, &raw const mask as usize, 0, 8, 0, 0],
    );
}

/// Green: which signals the carrier does not want at the moment. The kernel keeps that per
/// kernel thread; it is each context's own, so it is changed with the context if need be.
static CARRIER_MASK: AtomicU64 = AtomicU64::new(0);

/// The running thread has changed which signals it does not want.
pub fn mask_changed(me: *mut Thread) {
    let now = mask();
    // SAFETY: the running thread's own record.
    unsafe { (*me).task.mask = now };
    CARRIER_MASK.store(now, Ordering::Relaxed);
}

/// A new carrier starts with whatever signals its creator did not want.
pub fn carrier_starts() {
    CARRIER_MASK.store(mask(), Ordering::Relaxed);
}

/// The context that runs from here on wants other signals than the one before.
///
/// # Safety
/// `me` is the running thread's record.
pub unsafe fn take_mask(me: *mut Thread) {
    // SAFETY: the running thread's own record.
    let mask = unsafe { (*me).task.mask };
    if CARRIER_MASK.load(Ordering::Relaxed) != mask {
        set_mask(mask);
        CARRIER_MASK.store(mask, Ordering::Relaxed);
    }
}
