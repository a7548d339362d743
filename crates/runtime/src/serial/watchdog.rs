//! For what was not foreseen: a thread that has the turn and takes no step, because it is
//! blocked in a call that is not intercepted, or waits in uninstrumented code for another.
//!
//! After the time that the options name, the turn is taken from it and another thread goes on;
//! it comes back in line at its next step. From then on the recording depends on real time,
//! which the user is told once. A wait in the kernel that only another thread can end (a futex,
//! as libgomp calls it) is seen by looking at the kernel thread, and the time is not waited for
//! once nothing else of the process runs that may end it.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use super::scheduler::STEPS;
use super::{rest, signals, turn};
use crate::intercept::real;
use crate::local::local;
use crate::threads::Thread;
use crate::{message, options, sys};

/// Starts the watchdog, if it is wanted.
pub fn start() {
    let mut handle = 0;
    if options::WATCHDOG.get() > 0 {
        // A signal for the program must not find it, not even before its first step: it starts with what its creator blocks.
        let mask = signals::mask();
        signals::block_signals();
        // SAFETY: a place for the handle, default attributes, a function of the right type.
        unsafe {
            real::pthread_create(&mut handle, core::ptr::null(), watch, core::ptr::null_mut())
        };
        signals::set_mask(mask);
    }
}

/// How long to sleep between two looks whether there was a step, in milliseconds.
const LOOK: u64 = 25;
/// The same for so many looks after a thread was found blocked.
const LOOK_OFTEN: u64 = 1;
const OFTEN: u32 = 200;
/// How many carriers may be lost so: one that is overtaken sleeps for the rest of the run.
const MOST_LOST: u32 = 100;
/// How long nobody has the turn in an enforced schedule until it has failed, in milliseconds: all wait for each other.
const NOBODY: u64 = 500;

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    // SAFETY: this thread's own state.
    unsafe { (*local()).inside = 1 };
    static SLEEP: AtomicU32 = AtomicU32::new(0);
    let patience = options::WATCHDOG.get() * 1000;
    let mut last = (u64::MAX, core::ptr::null_mut());
    let mut since = sys::milliseconds();
    let (mut wait, mut often, mut lost) = (None, 0_u32, 0);
    loop {
        sys::futex_wait(&SLEEP, 0, if often > 0 { LOOK_OFTEN } else { LOOK });
        often = often.saturating_sub(1);
        let now = (STEPS.load(Ordering::Relaxed), turn::current());
        if now != last || turn::waits() {
            (last, wait) = (now, None);
            since = sys::milliseconds();
            continue;
        }
        let before = core::mem::replace(&mut wait, turn::sleeps(now.1));
        let still = sys::milliseconds() - since;
        let is_out_of_patience = still >= patience;
        let is_cheap = !turn::is_green() || lost < MOST_LOST;
        let is_asleep = wait.is_some() && wait == before && is_cheap && rest::is_reached();
        if is_asleep && overtake(now.1, true) {
            often = OFTEN;
            lost += 1;
        } else if is_out_of_patience && overtake(now.1, false) {
            // Others go on.
        } else if now.1.is_null() && !turn::is_green() && still >= patience.min(NOBODY) {
            turn::nobody_comes(is_out_of_patience);
        }
        if is_out_of_patience {
            since = sys::milliseconds();
        }
    }
}

/// Takes the turn from a thread that does nothing with it, if it has it.
fn overtake(thread: *mut Thread, is_blocked: bool) -> bool {
    static SAID: AtomicU32 = AtomicU32::new(0);
    if thread.is_null() {
        return false;
    }
    if !is_blocked && super::cut_short(true) {
        sys::exit_group(4);
    }
    // SAFETY: the record of the thread that has the turn is in use.
    let id = unsafe { (*thread).id };
    let is_taken = turn::take_from(thread, is_blocked);
    if is_taken && SAID.swap(1, Ordering::Relaxed) == 0 {
        say(id, is_blocked);
    }
    is_taken
}

fn say(id: u32, is_blocked: bool) {
    const GOOD: &str = "The recording is good, but may differ from run to run";
    match is_blocked {
        true => message::say(format_args!(
            "T{id} waits for others in a call that is not intercepted, so they go on without it. {GOOD}"
        )),
        false => message::say(format_args!(
            "T{id} took no step for {} s, so others go on without it: it may be blocked in a call \
             that is not intercepted. {GOOD}",
            options::WATCHDOG.get()
        )),
    }
}
