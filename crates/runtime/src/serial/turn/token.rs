//! Real: every thread sleeps on its own kernel thread until its token is set.

use core::sync::atomic::{AtomicU32, Ordering};

use super::super::scheduler::scheduler;
use super::{CURRENT, arrivals, give_to, wait_until_gone, wake_home};
use crate::sys::{self, Spin};
use crate::threads::Thread;

/// Guards the moment in which the turn is put down or taken up.
static IDLE: Spin = Spin::new();

/// Sleeps until the turn is handed over.
///
/// # Safety
/// `me` is the caller's own record.
pub unsafe fn sleep_until_token(me: *mut Thread) {
    // SAFETY: the caller's own record.
    let token = unsafe { &(*me).task.context.token };
    while token.swap(0, Ordering::AcqRel) == 0 {
        sys::futex_wait(token, 0, 0);
    }
    wait_until_gone(ENDING.swap(0, Ordering::AcqRel) as i32);
}

/// The kernel thread that handed on the turn and is about to end.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// The caller will hand on the turn and end.
pub fn ends(tid: u32) {
    ENDING.store(tid, Ordering::Release);
}

/// Hands the turn to whoever the scheduler chooses; to nobody if nobody can run.
///
/// # Safety
/// The caller has the turn.
pub unsafe fn hand_over_or_put_down() {
    // SAFETY: the caller has the turn; the lock keeps those who come back from picking it up.
    unsafe {
        IDLE.lock();
        match scheduler().next(false) {
            Some(next) => {
                give_to(next);
                wake_home(next);
            }
            None => CURRENT.store(core::ptr::null_mut(), Ordering::Release),
        }
        IDLE.unlock();
    }
}

/// Says that `me` can run; if nobody has the turn, it is handed to whoever the
/// scheduler chooses.
///
/// # Safety
/// `me` is the caller's own record.
pub unsafe fn announce(me: *mut Thread) {
    // SAFETY: the caller's own record; the lock makes sure that only one picks up the turn.
    unsafe {
        IDLE.lock();
        (*me).task.context.parked.store(1, Ordering::Release);
        arrivals::announce();
        if CURRENT.load(Ordering::Acquire).is_null()
            && let Some(next) = scheduler().next(false)
        {
            give_to(next);
            wake_home(next);
        }
        IDLE.unlock();
    }
}

/// For the watchdog: nobody has had the turn for a while (`long`: for as long as it is patient), as nobody could run when it
/// was put down.
pub fn nobody_comes(long: bool) {
    IDLE.lock();
    if CURRENT.load(Ordering::Acquire).is_null() {
        // SAFETY: nobody has the turn, and whoever comes back waits for the lock.
        unsafe { scheduler().nobody_comes(long) };
    }
    IDLE.unlock();
}
