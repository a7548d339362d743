//! Green: the kernel thread that runs all contexts, and the way home from it.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

use super::super::context::{self, ARRIVALS, Context};
use super::super::explore::server;
use super::super::scheduler::scheduler;
use super::super::signals;
use super::arrivals::{arrivals, wait_for_arrival, wait_for_arrivals};
use super::{CURRENT, give_to, home_of, robust, wait_until_gone, wake_home};
use crate::intercept::real;
use crate::local::local;
use crate::threads::Thread;
use crate::{message, sys};

/// The carrier's own context, and what it has to do after a switch.
struct Carrier(UnsafeCell<Context>);
// SAFETY: only the carrier uses it.
unsafe impl Sync for Carrier {}
static CARRIER: Carrier = Carrier(UnsafeCell::new(Context::new()));
/// A thread whose home takes over once its context is no longer running here.
static GOES_HOME: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// That thread is at its end, and must be gone before anybody else runs.
static FOR_GOOD: AtomicU32 = AtomicU32::new(0);

/// The kernel thread that is the carrier now.
static TID: AtomicI32 = AtomicI32::new(0);

/// The same for others.
pub fn tid() -> i32 {
    TID.load(Ordering::Relaxed)
}

/// Starts a carrier; false if there is no kernel thread for it.
pub fn start() -> bool {
    let mut handle = 0;
    // SAFETY: a place for the handle, default attributes, and a function of the right type.
    let result = unsafe {
        real::pthread_create(
            &mut handle,
            core::ptr::null(),
            carrier,
            core::ptr::null_mut(),
        )
    };
    if result != 0 {
        message::say(format_args!(
            "no kernel thread to run contexts on; threads pass a token"
        ));
    }
    result == 0
}

/// The carrier: runs whoever has the turn; comes back here when nobody can run.
extern "C" fn carrier(_: *mut c_void) -> *mut c_void {
    // SAFETY: the carrier's own state; contexts that are run are parked, as waited for.
    unsafe {
        (*local()).inside = 1;
        TID.store(sys::gettid(), Ordering::Relaxed);
        let first = CURRENT.load(Ordering::Acquire);
        let mut next = match first.is_null() {
            false => {
                wait_for_arrival(first);
                first
            }
            // Takes the place of a carrier that the watchdog found stuck.
            true => {
                signals::carrier_starts();
                match scheduler().next(true) {
                    Some(next) => next,
                    None => return core::ptr::null_mut(),
                }
            }
        };
        loop {
            give_to(next);
            context::switch(CARRIER.0.get(), &raw const (*next).task.context);
            after_switch();
            loop {
                let seen = arrivals();
                if CURRENT.load(Ordering::Acquire).is_null() {
                    break;
                }
                wait_for_arrivals(seen);
            }
            next = match scheduler().next(true) {
                Some(next) => next,
                // As glibc does when a program's last thread ends.
                None => libc::exit(0),
            };
        }
    }
}

/// Saves the context at home and sleeps until it is this kernel thread's again.
///
/// # Safety
/// `me` is the caller's own record, and its context may run elsewhere from here on.
pub unsafe fn park_at_home(me: *mut Thread) {
    // SAFETY: the caller's own context.
    unsafe {
        let context = &raw mut (*me).task.context;
        (*context).prepare();
        context::park(context, &raw const (*context).token, &ARRIVALS);
    }
}

/// Leaves the context to whoever may run it, and lets this kernel thread sleep for ever: it was
/// the carrier, and another has taken its place.
///
/// # Safety
/// `me` is the caller's own record.
pub unsafe fn abandon(me: *mut Thread) {
    // SAFETY: the caller's own context.
    unsafe {
        let context = &raw mut (*me).task.context;
        (*context).prepare();
        context::park(context, core::ptr::null(), &ARRIVALS);
    }
}

/// What the context that was just switched to does first: lets the one before go home.
pub fn after_switch() {
    let thread = GOES_HOME.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if thread.is_null() {
        return;
    }
    let for_good = FOR_GOOD.swap(0, Ordering::AcqRel) != 0;
    // SAFETY: the record is in use until its thread has ended, and that is now.
    unsafe {
        if for_good && server::copy() != 0 {
            let list = context::robust_list(&(*thread).task.context);
            robust::pass_on(list, (*thread).tid.load(Ordering::Relaxed));
        }
        // Whoever may still join keeps glibc's record of the thread, in which the kernel says that it has ended.
        let is_kept = (*thread).handle.load(Ordering::Relaxed) != 0;
        wake_home(thread);
        if for_good && is_kept && server::copy() != 0 {
            let number = context::number(&(*thread).task.context);
            let mut left = number.load(Ordering::Acquire);
            while left != 0 {
                sys::futex_wait_shared(number, left, 1000);
                left = number.load(Ordering::Acquire);
            }
        } else if for_good {
            wait_until_gone(home_of(thread));
        }
    }
}

/// Gives the carrier to whoever is next; the caller goes on at home. `for_good`: to end there.
///
/// # Safety
/// The caller has the turn, and is on the carrier.
pub unsafe fn go_home(me: *mut Thread, for_good: bool) {
    FOR_GOOD.store(u32::from(for_good), Ordering::Release);
    GOES_HOME.store(me, Ordering::Release);
    // SAFETY: whoever is next can run, so its context is saved; the carrier's own is, too.
    unsafe {
        let to = match scheduler().next(false) {
            Some(next) => {
                give_to(next);
                &raw const (*next).task.context
            }
            None => {
                CURRENT.store(core::ptr::null_mut(), Ordering::Release);
                CARRIER.0.get().cast_const()
            }
        };
        context::switch(&raw mut (*me).task.context, to);
    }
}

/// The caller goes on at home, and keeps the turn: nobody is on the carrier until it ends, or puts the turn down.
///
/// # Safety
/// The caller has the turn, and is on the carrier.
pub unsafe fn go_home_with_turn(me: *mut Thread) {
    GOES_HOME.store(me, Ordering::Release);
    // SAFETY: the carrier wakes home and waits until nobody has the turn.
    unsafe { context::switch(&raw mut (*me).task.context, CARRIER.0.get()) };
}
