//! Conditions of Rust's standard library: a word that counts notifications. A wait begins, with the lock still held, when the
//! word is looked at; who sleeps, sleeps until it is another.
//!
//! The word and the sleeping are ours, called by `crates/stdsync` in place of what the library does, so that a recording has the wait of
//! a condition and not a futex with numbers that nobody could do without.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::Op;

use crate::hooks::{caller, trampoline};
use crate::record::event::Sync;
use crate::record::{Mode, mode};
use crate::serial::endings::Kind;
use crate::serial::{self, Limit, Waited};
use crate::watch::enforce;
use crate::{sys, threads, watch};

trampoline! {
    "__deadheat_condition_enter" => enter;
    "__deadheat_condition_sleep" => sleep;
    "__deadheat_condition_notify" => notify;
}

fn word<'a>(condition: usize) -> &'a AtomicU32 {
    // SAFETY: the word of a condition of the program's that is being used.
    unsafe { &*(condition as *const AtomicU32) }
}

/// A thread begins to wait: what the word holds. It gives its lock back only now.
unsafe extern "C" fn enter(condition: usize) -> u32 {
    let pc = caller();
    if !threads::visible() {
        return word(condition).load(Ordering::Relaxed);
    }
    serial::point_before(Op::Wait, condition, 0, pc);
    let turn = enforce::turn(Op::Wait, condition, pc);
    let seen = word(condition).load(Ordering::Relaxed);
    Sync::new(Op::Wait, condition, pc).record();
    turn.done(true);
    seen
}

/// Sleeps while the word holds `seen`, until the monotonic clock shows `time` if there is one; 0 if that was so.
unsafe extern "C" fn sleep(condition: usize, seen: u32, time: usize) -> c_int {
    let pc = caller();
    if !threads::visible() {
        return c_int::from(sleep_really(condition, seen, time));
    }
    let (is_woken, limit) = match mode() {
        // SAFETY: the program's time, if there is one.
        Mode::Serial => unsafe { sleep_serially(condition, seen, time, pc) },
        _ if enforce::is_on() => (!enforce::next_is(Op::Timeout), Limit::None),
        _ => {
            let watched = mode() == Mode::Watch;
            if watched {
                watch::pause();
            }
            let is_woken = sleep_really(condition, seen, time);
            if watched {
                watch::resume();
            }
            let limit = match time {
                0 => Limit::None,
                _ => Limit::After(0),
            };
            (is_woken, limit)
        }
    };
    let op = if is_woken { Op::Wake } else { Op::Timeout };
    let turn = enforce::turn(op, condition, pc);
    limit.mark(Sync::new(op, condition, pc)).record();
    turn.done(true);
    c_int::from(is_woken)
}

/// Whether it was woken, and whether time could have ended the wait.
///
/// # Safety
/// `time` is 0 or points to a `timespec`.
unsafe fn sleep_serially(condition: usize, seen: u32, time: usize, pc: usize) -> (bool, Limit) {
    let limit = match time {
        0 => Limit::None,
        // SAFETY: as the caller says.
        _ => unsafe { Limit::until(libc::CLOCK_MONOTONIC, time) },
    };
    if word(condition).load(Ordering::Relaxed) != seen {
        // Somebody has notified since it began to wait.
        serial::gate(Op::Wake, condition, 0, pc);
        return (true, limit);
    }
    let unended = Sync::new(Op::WakeRequest, condition, pc);
    let waited = serial::wait_telling(condition, Kind::Condition, limit, unended);
    (waited != Waited::TimedOut, limit)
}

fn sleep_really(condition: usize, seen: u32, time: usize) -> bool {
    let operation = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
    let any = u32::MAX as usize;
    let args = [condition, operation as usize, seen as usize, time, 0, any];
    sys::call(libc::SYS_futex, args) != -(libc::ETIMEDOUT as isize)
}

/// Wakes one who waits, or all.
unsafe extern "C" fn notify(condition: usize, all: c_int) {
    let pc = caller();
    let (op, most) = match all {
        0 => (Op::Notify, 1),
        _ => (Op::NotifyAll, i32::MAX as usize),
    };
    let count = || word(condition).fetch_add(1, Ordering::Relaxed);
    if threads::visible() && mode() == Mode::Serial {
        serial::point_before(op, condition, 0, pc);
        Sync::new(op, condition, pc).record();
        count();
        serial::wake(condition, if all == 0 { 1 } else { usize::MAX });
        return;
    }
    let turn = threads::visible().then(|| {
        let turn = enforce::turn(op, condition, pc);
        Sync::new(op, condition, pc).record();
        turn
    });
    count();
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    let args = [condition, operation as usize, most, 0, 0, 0];
    sys::call(libc::SYS_futex, args);
    if let Some(turn) = turn {
        turn.done(true);
    }
}
