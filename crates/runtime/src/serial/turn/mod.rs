//! The turn: who has it, and how it is handed on.
//!
//! *Green*: all contexts run on the carrier, and handing on is a jump (see [`super::context`]).
//! *Real*: every thread stays on its own kernel thread and sleeps until its token is set.
//! Either way a thread that makes a call without the turn is on its own kernel thread meanwhile.

mod arrivals;
mod carrier;
mod overtake;
mod robust;
mod token;

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering, compiler_fence};

pub use arrivals::{
    announce, arrivals, pause, wait_for_arrival, wait_for_arrivals, wait_for_arrivals_until, waits,
};
pub use overtake::take_from;
pub use token::nobody_comes;

use super::explore::server;
use super::kernel_wait::KernelWait;
use super::scheduler::scheduler;
use super::{context, signals};
use crate::local::local;
use crate::sys;
use crate::threads::Thread;

/// Who has the turn; null while nobody can run.
static CURRENT: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// What [`CURRENT`] is while the watchdog decides; no record lies there.
const CLAIMED: *mut Thread = core::ptr::dangling_mut();
static GREEN: AtomicU32 = AtomicU32::new(0);

/// Whether contexts run on the carrier.
pub fn is_green() -> bool {
    GREEN.load(Ordering::Relaxed) != 0
}

/// Starts with the running thread having the turn.
pub fn start(green: bool) {
    // SAFETY: the thread's own record.
    let me = unsafe { (*local()).thread };
    CURRENT.store(me, Ordering::Release);
    // SAFETY: as above.
    unsafe { (*me).tid.store(sys::gettid() as u32, Ordering::Relaxed) };
    if green && carrier::start() {
        GREEN.store(1, Ordering::Relaxed);
        // SAFETY: the carrier waits for this context.
        unsafe {
            signals::first_thread(me);
            signals::block_signals();
            carrier::park_at_home(me);
        }
        carrier::after_switch();
    }
}

/// In a forked process there is one kernel thread, and it runs the only context. It has no home
/// to go back to, so from here on it passes for a real thread.
pub fn restart_in_child() {
    GREEN.store(0, Ordering::Relaxed);
    // SAFETY: the thread's own record.
    unsafe {
        let me = (*local()).thread;
        (*me).tid.store(sys::gettid() as u32, Ordering::Relaxed);
        CURRENT.store(me, Ordering::Release);
    }
}

/// Who has the turn.
pub fn current() -> *mut Thread {
    CURRENT.load(Ordering::Acquire)
}

/// Returns once the turn is the caller's: at once, but for a thread that the watchdog overtook.
#[inline(always)]
pub fn hold(me: *mut Thread) {
    compiler_fence(Ordering::SeqCst); // After the caller has raised `inside`.
    if CURRENT.load(Ordering::Relaxed) != me {
        overtaken(me);
    }
}

#[cold]
#[inline(never)]
fn overtaken(me: *mut Thread) {
    // The watchdog may be deciding.
    while CURRENT.load(Ordering::Acquire) == CLAIMED {
        sys::yield_now();
    }
    if CURRENT.load(Ordering::Acquire) == me {
        return;
    }
    if is_green() {
        // SAFETY: the caller's own context and record.
        unsafe {
            (*me).task.lost_on.store(0, Ordering::Relaxed);
            if is_home(me) {
                // Unwinding out of a call that was cancelled, or a jump out of a handler.
                signals::close_home();
                carrier::park_at_home(me);
            } else {
                carrier::abandon(me);
            }
            arrived(me);
        }
    } else {
        come_back(me);
    }
}

/// Hands the turn to `next`; returns when `me` gets it back.
pub fn switch(me: *mut Thread, next: *mut Thread) {
    if me == next {
        CURRENT.store(me, Ordering::Release);
        return;
    }
    // SAFETY: we have the turn; `next` can run, so its context is saved or its thread sleeps.
    unsafe {
        give_to(next);
        if is_green() {
            context::switch(&raw mut (*me).task.context, &raw const (*next).task.context);
            arrived(me);
        } else {
            wake_home(next);
            token::sleep_until_token(me);
        }
    }
}

/// Gives up the turn; the caller goes on without, on its own kernel thread.
pub fn leave(me: *mut Thread) {
    // SAFETY: we have the turn, and hand it on.
    unsafe {
        scheduler().leave(me);
        if is_green() {
            carrier::go_home(me, false);
        } else {
            token::hand_over_or_put_down();
        }
    }
}

/// Comes back from a call; returns with the turn.
pub fn come_back(me: *mut Thread) {
    // SAFETY: the caller's own record and context.
    unsafe {
        if is_green() {
            carrier::park_at_home(me);
            arrived(me);
        } else {
            token::announce(me);
            token::sleep_until_token(me);
        }
    }
}

/// A new thread, before its first step.
///
/// # Safety
/// `me` is the caller's own record.
pub unsafe fn arrive_as_new(me: *mut Thread) {
    // SAFETY: as the caller says.
    unsafe {
        (*me).tid.store(sys::gettid() as u32, Ordering::Relaxed);
        if is_green() {
            signals::block_signals();
            carrier::park_at_home(me);
            arrived(me);
        } else {
            (*me).task.context.parked.store(1, Ordering::Release);
            arrivals::announce();
            token::sleep_until_token(me);
        }
    }
}

/// The running thread has ended: hands the turn on and goes home, to end there.
///
/// # Safety
/// The caller has the turn and was counted out.
pub unsafe fn leave_for_good(me: *mut Thread) {
    // SAFETY: as the caller says.
    unsafe {
        if is_green() && is_home(me) {
            // The carrier picks up the turn.
            CURRENT.store(core::ptr::null_mut(), Ordering::Release);
            arrivals::announce();
        } else if is_green() {
            carrier::go_home(me, true);
        } else if scheduler().is_empty() {
            // As glibc does when a program's last thread ends; it counts our own threads, too.
            libc::exit(0);
        } else {
            token::ends((*me).tid.load(Ordering::Relaxed));
            token::hand_over_or_put_down();
        }
    }
}

/// Goes home and keeps the turn. The first thread ends by `pthread_exit` there, which ends the kernel thread.
pub fn go_home_with_turn(me: *mut Thread) {
    if is_green() {
        // SAFETY: the caller has the turn.
        unsafe { carrier::go_home_with_turn(me) };
    }
}

/// Comes back from there: puts the turn down, and returns when it gets it again.
pub fn come_back_with_turn(me: *mut Thread) {
    // SAFETY: the caller has the turn, so nobody else uses the scheduler. The carrier looks whether it is put down when somebody
    // arrives, which parking says.
    unsafe { scheduler().leave(me) };
    CURRENT.store(core::ptr::null_mut(), Ordering::Release);
    come_back(me);
}

/// Green: the context that was just switched to settles in.
unsafe fn arrived(me: *mut Thread) {
    carrier::after_switch();
    // SAFETY: the running thread's own record.
    unsafe { signals::settle_in(me) };
}

/// How the turn's holder sleeps in the kernel, if it does. Contexts may be on the carrier or at home: it sleeps if both do, as the other one always does.
pub fn sleeps(thread: *mut Thread) -> Option<[KernelWait; 2]> {
    if thread.is_null() || thread == CLAIMED {
        return None;
    }
    // SAFETY: the record of the turn's holder is in use.
    unsafe { sleeps_on(thread, carrier::tid()) }
}

/// The same of a thread that is in a call without the turn.
///
/// # Safety
/// The record is in use.
pub unsafe fn sleeps_away(thread: *mut Thread) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let lost_on = (*thread).task.lost_on.load(Ordering::Relaxed);
        let home = home_of(thread);
        sleeps_on(thread, if lost_on == 0 { home } else { lost_on }).is_some()
    }
}

/// The same of one that is at home, or on this carrier.
unsafe fn sleeps_on(thread: *mut Thread, carrier: i32) -> Option<[KernelWait; 2]> {
    // SAFETY: the record is in use.
    let home = KernelWait::of(unsafe { home_of(thread) })?;
    match is_green() {
        true => Some([home, KernelWait::of(carrier)?]),
        false => Some([home; 2]),
    }
}

/// Whether a thread runs on its own kernel thread.
unsafe fn is_home(me: *mut Thread) -> bool {
    // SAFETY: the running thread's own record.
    sys::gettid() == unsafe { home_of(me) }
}

/// A thread's own kernel thread: the one that it was born with, unless a copy of the program has made another.
pub unsafe fn home_of(thread: *mut Thread) -> i32 {
    // SAFETY: the record is in use.
    unsafe {
        match (*thread).task.home {
            0 => (*thread).tid.load(Ordering::Relaxed) as i32,
            made => made,
        }
    }
}

/// Whether the running thread is on the carrier.
pub fn is_on_carrier() -> bool {
    // SAFETY: the thread's own record.
    is_green() && unsafe { !is_home((*local()).thread) }
}

/// Makes a thread that can run the one that has the turn.
unsafe fn give_to(next: *mut Thread) {
    // SAFETY: the record is in use.
    unsafe { (*next).task.context.parked.store(0, Ordering::Relaxed) };
    CURRENT.store(next, Ordering::Release);
}

/// Lets the kernel thread that a thread was born with go on with it.
unsafe fn wake_home(thread: *mut Thread) {
    // SAFETY: the record is in use; its context is saved.
    unsafe {
        if (*thread).task.copy != server::copy() {
            (*thread).task.copy = server::copy();
            let home = &raw mut (*thread).task.home;
            context::revive(&(*thread).task.context, home);
            return;
        }
        (*thread).task.context.token.store(1, Ordering::Release);
        sys::futex_wake(&(*thread).task.context.token, 1);
    }
}

/// Waits until a kernel thread is gone: glibc's end of a thread gives memory back, so others run
/// after it, or the addresses of their blocks would depend on luck; and only then does the
/// kernel pass on the robust mutexes that it held. (The first thread stays until the process
/// ends.)
fn wait_until_gone(tid: i32) {
    while tid != 0 && tid != sys::getpid() as i32 && sys::thread_exists(tid) {
        sys::yield_now();
    }
}

/// Whether the running thread lets itself be cancelled.
pub fn can_be_cancelled() -> bool {
    unsafe extern "C" {
        fn pthread_setcancelstate(state: i32, old: *mut i32) -> i32;
    }
    const ENABLED: i32 = 0;
    const DISABLED: i32 = 1;
    let mut old = ENABLED;
    // SAFETY: two places for answers; the state is put back.
    unsafe {
        pthread_setcancelstate(DISABLED, &mut old);
        pthread_setcancelstate(old, core::ptr::null_mut());
    }
    old == ENABLED
}
