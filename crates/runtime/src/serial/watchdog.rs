//! For what was not foreseen: a thread that has the turn and takes no step, because it is
//! blocked in a call that is not intercepted, or waits in uninstrumented code for another.
//!
//! After the time that the options name, the turn is taken from it and another thread goes on;
//! it comes back in line at its next step. From then on the recording depends on real time,
//! which the user is told once.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use super::scheduler::STEPS;
use super::{signals, turn};
use crate::intercept::real;
use crate::local::local;
use crate::threads::Thread;
use crate::{message, options, sys};

/// Starts the watchdog, if it is wanted.
pub fn start() {
    let mut handle = 0;
    if options::WATCHDOG.get() > 0 {
        // No signal of the program's comes to it, not even before its first step.
        let mask = signals::mask();
        signals::block_signals();
        // SAFETY: a place for the handle, default attributes, a function of the right type.
        unsafe {
            real::pthread_create(&mut handle, core::ptr::null(), watch, core::ptr::null_mut())
        };
        signals::set_mask(mask);
    }
}

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    // SAFETY: this thread's own state.
    unsafe { (*local()).inside = 1 };
    signals::block_signals();
    static SLEEP: AtomicU32 = AtomicU32::new(0);
    let patience = options::WATCHDOG.get() * 1000;
    let mut last = (u64::MAX, core::ptr::null_mut());
    let mut since = sys::milliseconds();
    loop {
        sys::futex_wait(&SLEEP, 0, (patience / 4).max(1));
        let now = (STEPS.load(Ordering::Relaxed), turn::current());
        if now != last || turn::waits() {
            last = now;
            since = sys::milliseconds();
        } else if sys::milliseconds() - since >= patience {
            overtake(now.1);
            since = sys::milliseconds();
        }
    }
}

/// Takes the turn from a thread that does nothing with it.
fn overtake(thread: *mut Thread) {
    static SAID: AtomicU32 = AtomicU32::new(0);
    if thread.is_null() {
        return;
    }
    if super::cut_short(true) {
        sys::exit_group(4);
    }
    // SAFETY: the record of the thread that has the turn is in use.
    let id = unsafe { (*thread).id };
    if turn::take_from(thread) && SAID.swap(1, Ordering::Relaxed) == 0 {
        message::say(format_args!(
            "T{id} took no step for {} s, so others go on without it: it may be blocked in a call \
             that is not intercepted. The recording is good, but may differ from run to run",
            options::WATCHDOG.get()
        ));
    }
}
