//! Condition variables.
//!
//! A wait is recorded as release of the lock, wait, (others run,) wake or timeout, acquisition
//! of the lock. In a serial recording the waiting itself is ours: glibc's condition is not used.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::{Taking, real};
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event::{self, Kind, Sync};
use crate::record::{Mode, mode};
use crate::serial::endings;
use crate::serial::{self, Limit, Waited};
use crate::watch::enforce;
use crate::{threads, watch};

trampoline! {
    "pthread_cond_init" => cond_init;
    "pthread_cond_destroy" => cond_destroy;
    "pthread_cond_wait" => cond_wait;
    "pthread_cond_timedwait" => cond_timedwait;
    "pthread_cond_clockwait" => cond_clockwait;
    "pthread_cond_signal" => cond_signal;
    "pthread_cond_broadcast" => cond_broadcast;
}

pub(super) unsafe extern "C" fn cond_init(condition: usize, attr: usize) -> c_int {
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    unsafe { real::pthread_cond_init(condition, attr) }
}

pub(super) unsafe extern "C" fn cond_destroy(condition: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Destroy, condition, 0, pc);
    event::life(Op::Destroy, Kind::Condition, condition, pc);
    // SAFETY: see `cond_init`. In a serial recording glibc never saw a waiter.
    unsafe { real::pthread_cond_destroy(condition) }
}

fn wait(
    condition: usize,
    lock: usize,
    pc: usize,
    limit: Limit,
    block: impl FnOnce() -> c_int,
) -> c_int {
    if !threads::visible() {
        return block();
    }
    if mode() == Mode::Serial {
        return match limit == Limit::None && is_shared(condition) {
            true => wait_with_others(condition, lock, pc, block),
            false => wait_serially(condition, lock, pc, limit),
        };
    }
    if enforce::is_on() {
        return wait_by_plan(condition, lock, pc);
    }
    Sync::new(Op::Release, lock, pc).record();
    Sync::new(Op::Wait, condition, pc).record();
    // SAFETY: the thread's own state.
    unsafe { (*local()).cancelled_wait = [condition, lock] };
    let watched = mode() == Mode::Watch;
    if watched {
        watch::pause();
    }
    let result = block();
    // SAFETY: as above.
    unsafe { (*local()).cancelled_wait = [0; 2] };
    if watched {
        watch::resume();
    }
    let woken = if result == libc::ETIMEDOUT {
        Op::Timeout
    } else {
        Op::Wake
    };
    limit.mark(Sync::new(woken, condition, pc)).record();
    Sync::new(Op::Acquire, lock, pc).record();
    result
}

/// Waits as an enforced schedule says: glibc's condition is not used. If the schedule is over before the wait is, it ends
/// without a notification.
fn wait_by_plan(condition: usize, lock: usize, pc: usize) -> c_int {
    let turn = enforce::turn_to_wait(lock, pc);
    Sync::new(Op::Release, lock, pc).record();
    // SAFETY: the program holds the lock, as for the real function.
    let result = unsafe { real::pthread_mutex_unlock(lock) };
    turn.done(true);
    if result != 0 {
        return result;
    }
    let turn = enforce::turn(Op::Wait, condition, pc);
    Sync::new(Op::Wait, condition, pc).record();
    turn.done(true);
    let woken = match enforce::next_is(Op::Timeout) {
        true => Op::Timeout,
        false => Op::Wake,
    };
    let turn = enforce::turn(woken, condition, pc);
    Sync::new(woken, condition, pc).record();
    turn.done(true);
    let (op, request) = (Op::Acquire, Some(Op::Request));
    let taking = Taking {
        object: lock,
        pc,
        op,
        request,
        limit: Limit::None,
    };
    // SAFETY: the program's own lock.
    let locked = taking.run(
        || unsafe { real::pthread_mutex_trylock(lock) },
        || unsafe { real::pthread_mutex_lock(lock) },
    );
    match (locked, woken) {
        (0, Op::Timeout) => libc::ETIMEDOUT,
        (result, _) => result,
    }
}

/// A thread that is cancelled while it waits never returns from there: glibc takes the lock
/// again and unwinds. The first a recording sees of it is that a cleanup handler unlocks.
pub fn finish_cancelled_wait(lock: usize, pc: usize) {
    // SAFETY: the thread's own state.
    let [condition, waited_with] = unsafe { (*local()).cancelled_wait };
    if condition != 0 && waited_with == lock {
        // SAFETY: as above.
        unsafe { (*local()).cancelled_wait = [0; 2] };
        if mode() == Mode::Watch {
            watch::resume();
        }
        event::sync(Op::Wake, condition, pc);
        event::sync(Op::Acquire, lock, pc);
    }
}

/// The same when watching: the first hook of the program's code that is called in a thread that
/// waits shows that it was cancelled. Signal handlers run while it waits, too.
#[cold]
pub fn notice_cancelled_wait(pc: usize) {
    // SAFETY: the thread's own state.
    let ([condition, lock], handlers) = unsafe { ((*local()).cancelled_wait, (*local()).handlers) };
    if condition != 0 && handlers == 0 {
        finish_cancelled_wait(lock, pc);
    }
}

/// How long a wait is that another process may end, in nanoseconds. Then it ends without a notification, as POSIX allows, and the
/// program looks for itself.
const SLICE: u64 = 2_000_000;

fn wait_serially(condition: usize, lock: usize, pc: usize, limit: Limit) -> c_int {
    serial::point_before(Op::Release, lock, 0, pc);
    // Asked while the lock is held: whoever has ended by now has done all it ever does before the program last looked.
    let asked = limit;
    let limit = match limit {
        Limit::After(time) if time > SLICE && is_shared(condition) && endings::others_live() => {
            Limit::After(SLICE)
        }
        _ => limit,
    };
    // SAFETY: the program holds the lock, as for the real function.
    let result = unsafe { real::pthread_mutex_unlock(lock) };
    if result != 0 {
        return result;
    }
    Sync::new(Op::Release, lock, pc).record();
    Sync::new(Op::Wait, condition, pc).record();
    serial::wake(lock, usize::MAX);
    let waited = match serial::wait(condition, endings::Kind::Condition, limit) {
        Waited::TimedOut if limit != asked => Waited::Idle,
        waited => waited,
    };
    let limit = asked;
    let woken = match waited {
        Waited::TimedOut | Waited::Cancelled => Op::Timeout,
        Waited::Woken | Waited::Idle | Waited::Interrupted | Waited::Restarted => Op::Wake,
    };
    if waited == Waited::Cancelled {
        // What `pthread_cancel` has sent.
        // SAFETY: the thread is known, or it would not wait here.
        let handle = unsafe { threads::my_handle() };
        Sync::new(Op::Receive, handle, pc).record();
    }
    limit.mark(Sync::new(woken, condition, pc)).record();
    let (op, request) = (Op::Acquire, Some(Op::Request));
    let taking = Taking {
        object: lock,
        pc,
        op,
        request,
        limit: Limit::None,
    };
    // SAFETY: the program's own lock.
    let locked = taking.run(
        || unsafe { real::pthread_mutex_trylock(lock) },
        || unsafe { real::pthread_mutex_lock(lock) },
    );
    if waited == Waited::Cancelled {
        // SAFETY: a cancellation point, with the lock held, as POSIX wants it.
        unsafe { real::pthread_testcancel() };
    }
    match (locked, waited) {
        (0, Waited::TimedOut) => libc::ETIMEDOUT,
        (result, _) => result,
    }
}

/// glibc keeps how a condition was initialised in bits at this offset.
const FLAGS: usize = 36;

fn flags(condition: usize) -> u32 {
    // SAFETY: an initialised condition of the program is larger than this.
    unsafe { ((condition + FLAGS) as *const u32).read_volatile() }
}

/// Whether other processes may use it.
fn is_shared(condition: usize) -> bool {
    const SHARED: u32 = 1;
    flags(condition) & SHARED != 0
}

/// Waits for a condition that another process may notify, in a serial recording: the C library knows of it, so it is asked, without the turn.
fn wait_with_others(
    condition: usize,
    lock: usize,
    pc: usize,
    block: impl FnOnce() -> c_int,
) -> c_int {
    serial::point_before(Op::Release, lock, 0, pc);
    Sync::new(Op::Release, lock, pc).record();
    Sync::new(Op::Wait, condition, pc).record();
    serial::wake(lock, usize::MAX);
    let result = serial::away(block);
    Sync::new(Op::Wake, condition, pc).record();
    Sync::new(Op::Acquire, lock, pc).record();
    result
}

pub(super) unsafe extern "C" fn cond_wait(condition: usize, lock: usize) -> c_int {
    // SAFETY: see `cond_init`.
    wait(condition, lock, caller(), Limit::None, || unsafe {
        real::pthread_cond_wait(condition, lock)
    })
}

/// The clock that a condition was initialised with.
fn clock_of(condition: usize) -> c_int {
    const MONOTONIC: u32 = 2;
    if flags(condition) & MONOTONIC != 0 {
        libc::CLOCK_MONOTONIC
    } else {
        libc::CLOCK_REALTIME
    }
}

pub(super) unsafe extern "C" fn cond_timedwait(
    condition: usize,
    lock: usize,
    time: usize,
) -> c_int {
    let pc = caller();
    // SAFETY: see `cond_init`.
    let limit = unsafe { Limit::until(clock_of(condition), time) };
    // SAFETY: as above.
    wait(condition, lock, pc, limit, || unsafe {
        real::pthread_cond_timedwait(condition, lock, time)
    })
}

unsafe extern "C" fn cond_clockwait(
    condition: usize,
    lock: usize,
    clock: c_int,
    time: usize,
) -> c_int {
    // SAFETY: see `cond_init`.
    wait(
        condition,
        lock,
        caller(),
        unsafe { Limit::until(clock, time) },
        || unsafe { real::pthread_cond_clockwait(condition, lock, clock, time) },
    )
}

/// Conditions that threads have notified which take no part in the recording, libc's own.
static NOTIFIED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// One of them, once.
pub fn notified() -> Option<usize> {
    let taken = |slot: &AtomicUsize| match slot.load(Ordering::Relaxed) {
        0 => 0,
        _ => slot.swap(0, Ordering::AcqRel),
    };
    NOTIFIED.iter().map(taken).find(|condition| *condition != 0)
}

/// A thread of libc's own, or a signal handler, notifies a condition in a serial recording.
fn notify_from_outside(condition: usize) {
    if mode() != Mode::Serial {
        return;
    }
    let put = |slot: &AtomicUsize| {
        slot.compare_exchange(0, condition, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    };
    if NOTIFIED.iter().any(put) {
        serial::wake_from_outside();
    }
}

fn notify(
    condition: usize,
    op: Op,
    count: usize,
    pc: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if !threads::visible() {
        let result = real();
        notify_from_outside(condition);
        return result;
    }
    if mode() == Mode::Serial {
        serial::point_before(op, condition, 0, pc);
        Sync::new(op, condition, pc).record();
        let woken = serial::wake(condition, count);
        return match is_shared(condition) && woken < count {
            true => real(),
            false => 0,
        };
    }
    let turn = enforce::turn(op, condition, pc);
    Sync::new(op, condition, pc).record();
    let result = real();
    turn.done(true);
    result
}

pub(super) unsafe extern "C" fn cond_signal(condition: usize) -> c_int {
    // SAFETY: see `cond_init`.
    notify(condition, Op::Notify, 1, caller(), || unsafe {
        real::pthread_cond_signal(condition)
    })
}

pub(super) unsafe extern "C" fn cond_broadcast(condition: usize) -> c_int {
    // SAFETY: see `cond_init`.
    notify(condition, Op::NotifyAll, usize::MAX, caller(), || unsafe {
        real::pthread_cond_broadcast(condition)
    })
}
