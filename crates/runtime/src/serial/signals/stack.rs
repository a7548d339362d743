//! Alternate stacks for handlers: each thread's own, though the kernel knows one per kernel thread.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::sys;
use crate::threads::Thread;

/// A stack that a thread has given for its handlers: a `stack_t`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Alternate {
    /// Where it begins.
    pub start: usize,
    /// `SS_DISABLE`, or zero.
    pub flags: i32,
    /// How long it is.
    pub bytes: usize,
}

impl Alternate {
    /// No stack.
    pub const NONE: Alternate = Alternate {
        start: 0,
        flags: libc::SS_DISABLE,
        bytes: 0,
    };
}

/// Where the one begins that the carrier has; 0: none.
static ON_CARRIER: AtomicUsize = AtomicUsize::new(0);
/// Handlers of signals other than faults run there.
static IS_USED: AtomicUsize = AtomicUsize::new(0);

/// A handler was installed that wants to run there. Faults end the program as a rule, whatever
/// stack that is on.
pub fn is_wanted_for(signal: i32) {
    if !matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        IS_USED.store(1, Ordering::Relaxed);
    }
}

fn set(stack: &Alternate) {
    let place = &raw const *stack as usize;
    sys::call(libc::SYS_sigaltstack, [place, 0, 0, 0, 0, 0]);
}

/// The running thread has given another.
pub fn alternate_changed(stack: &Alternate) {
    ON_CARRIER.store(stack.start, Ordering::Relaxed);
}

/// The running thread's context goes on, on the carrier.
///
/// # Safety
/// `me` is the running thread's record.
pub unsafe fn settle_in(me: *mut Thread) {
    // SAFETY: as the caller says.
    let own = unsafe { &(*me).task.alternate };
    let there = ON_CARRIER.load(Ordering::Relaxed);
    if there == own.start || there != 0 && IS_USED.load(Ordering::Relaxed) == 0 {
        return;
    }
    set(own);
    ON_CARRIER.store(own.start, Ordering::Relaxed);
}

/// The running thread is at home.
///
/// # Safety
/// `me` is the running thread's record.
pub unsafe fn open_home(me: *mut Thread) {
    // SAFETY: as the caller says.
    let own = unsafe { &(*me).task.alternate };
    if IS_USED.load(Ordering::Relaxed) != 0 {
        set(own);
    }
}
