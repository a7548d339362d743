//! The turn: who has it, and how it is handed on.
//!
//! *Green*: all contexts run on the carrier, and handing on is a jump (see [`super::context`]).
//! *Real*: every thread stays on its own kernel thread and sleeps until its token is set.
//! Either way a thread that makes a call without the turn is on its own kernel thread meanwhile.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

use super::context::{self, ARRIVALS, Context};
use super::scheduler::scheduler;
use crate::intercept::real;
use crate::local::local;
use crate::message;
use crate::sys::{self, Spin};
use crate::threads::Thread;

/// Who has the turn; null while nobody can run.
static CURRENT: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// What [`CURRENT`] is while the watchdog decides; no record lies there.
const CLAIMED: *mut Thread = core::ptr::dangling_mut();
static GREEN: AtomicU32 = AtomicU32::new(0);
/// Real threads: guards the moment in which the turn is put down or taken up.
static IDLE: Spin = Spin::new();

/// The carrier's own context, and what it has to do after a switch.
struct Carrier(UnsafeCell<Context>);
// SAFETY: only the carrier uses it.
unsafe impl Sync for Carrier {}
static CARRIER: Carrier = Carrier(UnsafeCell::new(Context::new()));
/// A thread whose home takes over once its context is no longer running here.
static GOES_HOME: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// That thread is at its end, and must be gone before anybody else runs.
static FOR_GOOD: AtomicU32 = AtomicU32::new(0);

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
    if green && start_carrier() {
        GREEN.store(1, Ordering::Relaxed);
        // SAFETY: the carrier waits for this context.
        unsafe {
            mask_changed(me);
            block_signals();
            park_at_home(me);
        }
        after_switch();
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

fn start_carrier() -> bool {
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
        let first = CURRENT.load(Ordering::Acquire);
        let mut next = match first.is_null() {
            false => {
                wait_for_arrival(first);
                first
            }
            // Takes the place of a carrier that the watchdog found stuck.
            true => {
                CARRIER_MASK.store(mask(), Ordering::Relaxed);
                match scheduler().next(true) {
                    Some(next) => next,
                    None => return core::ptr::null_mut(),
                }
            }
        };
        loop {
            (*next).task.context.parked.store(0, Ordering::Relaxed);
            CURRENT.store(next, Ordering::Release);
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

fn set_mask(mask: u64) {
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

/// How often a thread came back so far.
pub fn arrivals() -> u32 {
    ARRIVALS.load(Ordering::Acquire)
}

/// The turn's holder waits for others to come back; the watchdog leaves it alone.
static WAITS: AtomicU32 = AtomicU32::new(0);

/// Waits until there are more arrivals than `seen`.
pub fn wait_for_arrivals(seen: u32) {
    WAITS.store(1, Ordering::Relaxed);
    while arrivals() == seen {
        sys::futex_wait(&ARRIVALS, seen, 0);
    }
    WAITS.store(0, Ordering::Relaxed);
}

/// Whether the turn's holder waits for others to come back.
pub fn waits() -> bool {
    WAITS.load(Ordering::Relaxed) != 0
}

/// Who has the turn.
pub fn current() -> *mut Thread {
    CURRENT.load(Ordering::Acquire)
}

/// For the watchdog: takes the turn from a thread that is outside of the runtime, and hands it
/// to another; false if there is none, or if it is inside after all.
pub fn take_from(thread: *mut Thread) -> bool {
    // SAFETY: the record of the turn's holder is in use. Until the holder enters the runtime the
    // scheduler is ours: it looks at `CURRENT` after it has raised `inside`, we look at `inside`
    // after we have changed `CURRENT`, and `membarrier` keeps its two steps apart.
    unsafe {
        let local = (*thread).local;
        if local.is_null() || !scheduler().somebody_else() {
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
            CURRENT.store(core::ptr::null_mut(), Ordering::Release);
            if !start_carrier() {
                scheduler().come_back(thread);
                CURRENT.store(thread, Ordering::Release);
                return false;
            }
            return true;
        }
        hand_over_or_put_down();
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

/// Waits until a thread's context is there to be run.
///
/// # Safety
/// The record is in use.
pub unsafe fn wait_for_arrival(thread: *mut Thread) {
    loop {
        let seen = arrivals();
        // SAFETY: as the caller says.
        if unsafe { (*thread).task.context.parked.load(Ordering::Acquire) } != 0 {
            return;
        }
        sys::futex_wait(&ARRIVALS, seen, 0);
    }
}

/// Saves the context at home and sleeps until it is this kernel thread's again.
unsafe fn park_at_home(me: *mut Thread) {
    // SAFETY: the caller's own context.
    unsafe {
        let context = &raw mut (*me).task.context;
        (*context).prepare();
        context::park(context, &raw const (*context).token, &ARRIVALS);
    }
}

/// What the context that was just switched to does first: lets the one before go home.
fn after_switch() {
    let thread = GOES_HOME.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if thread.is_null() {
        return;
    }
    let for_good = FOR_GOOD.swap(0, Ordering::AcqRel) != 0;
    // SAFETY: the record is in use until its thread has ended, and that is now.
    unsafe {
        let tid = (*thread).tid.load(Ordering::Relaxed) as i32;
        wake_home(thread);
        if for_good {
            wait_until_gone(tid);
        }
    }
}

/// The context that runs from here on wants other signals than the one before.
unsafe fn take_mask(me: *mut Thread) {
    // SAFETY: the running thread's own record.
    let mask = unsafe { (*me).task.mask };
    if CARRIER_MASK.load(Ordering::Relaxed) != mask {
        set_mask(mask);
        CARRIER_MASK.store(mask, Ordering::Relaxed);
    }
}

unsafe fn wake_home(thread: *mut Thread) {
    // SAFETY: the record is in use.
    unsafe {
        (*thread).task.context.token.store(1, Ordering::Release);
        sys::futex_wake(&(*thread).task.context.token, 1);
    }
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
        // SAFETY: the caller's own context.
        unsafe {
            if sys::gettid() == (*me).tid.load(Ordering::Relaxed) as i32 {
                // At home, unwinding out of a call that was cancelled.
                park_at_home(me);
            } else {
                // This kernel thread was the carrier; another has taken its place. The context
                // is left for that one, and the kernel thread sleeps for ever.
                let context = &raw mut (*me).task.context;
                (*context).prepare();
                context::park(context, core::ptr::null(), &ARRIVALS);
            }
        }
        after_switch();
        // SAFETY: as above.
        unsafe { take_mask(me) };
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
        (*next).task.context.parked.store(0, Ordering::Relaxed);
        CURRENT.store(next, Ordering::Release);
        if is_green() {
            context::switch(&raw mut (*me).task.context, &raw const (*next).task.context);
            after_switch();
            take_mask(me);
        } else {
            wake_home(next);
            sleep_until_token(me);
        }
    }
}

/// Real threads: sleeps until the turn is handed over.
unsafe fn sleep_until_token(me: *mut Thread) {
    // SAFETY: the caller's own record.
    let token = unsafe { &(*me).task.context.token };
    while token.swap(0, Ordering::AcqRel) == 0 {
        sys::futex_wait(token, 0, 0);
    }
    wait_until_gone(ENDING.swap(0, Ordering::AcqRel) as i32);
}

/// Real threads: the kernel thread that handed on the turn and is about to end.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// Waits until a kernel thread is gone: glibc's end of a thread gives memory back, so others run
/// after it, or the addresses of their blocks would depend on luck; and only then does the
/// kernel pass on the robust mutexes that it held. (The first thread stays until the process
/// ends.)
fn wait_until_gone(tid: i32) {
    while tid != 0 && tid != sys::getpid() as i32 && sys::thread_exists(tid) {
        sys::yield_now();
    }
}

/// Gives up the turn; the caller goes on without, on its own kernel thread.
pub fn leave(me: *mut Thread) {
    // SAFETY: we have the turn, and hand it on.
    unsafe {
        scheduler().leave(me);
        put_down(me);
    }
}

unsafe fn put_down(me: *mut Thread) {
    // SAFETY: as the caller says; see `switch`.
    unsafe {
        if is_green() {
            GOES_HOME.store(me, Ordering::Release);
            let to = match scheduler().next(false) {
                Some(next) => {
                    (*next).task.context.parked.store(0, Ordering::Relaxed);
                    CURRENT.store(next, Ordering::Release);
                    &raw const (*next).task.context
                }
                None => {
                    CURRENT.store(core::ptr::null_mut(), Ordering::Release);
                    CARRIER.0.get().cast_const()
                }
            };
            // Goes on at home.
            context::switch(&raw mut (*me).task.context, to);
            return;
        }
        hand_over_or_put_down();
    }
}

/// Real threads: hands the turn to whoever the scheduler chooses; to nobody if nobody can run.
unsafe fn hand_over_or_put_down() {
    // SAFETY: the caller has the turn; the lock keeps those who come back from picking it up.
    unsafe {
        IDLE.lock();
        match scheduler().next(false) {
            Some(next) => {
                (*next).task.context.parked.store(0, Ordering::Relaxed);
                CURRENT.store(next, Ordering::Release);
                wake_home(next);
            }
            None => CURRENT.store(core::ptr::null_mut(), Ordering::Release),
        }
        IDLE.unlock();
    }
}

/// Comes back from a call; returns with the turn.
pub fn come_back(me: *mut Thread) {
    // SAFETY: the caller's own record and context.
    unsafe {
        if is_green() {
            park_at_home(me);
            after_switch();
            take_mask(me);
            return;
        }
        announce(me);
        sleep_until_token(me);
    }
}

/// Real threads: says that `me` can run; if nobody has the turn, it is handed to whoever the
/// scheduler chooses.
unsafe fn announce(me: *mut Thread) {
    // SAFETY: the caller's own record; the lock makes sure that only one picks up the turn.
    unsafe {
        IDLE.lock();
        (*me).task.context.parked.store(1, Ordering::Release);
        ARRIVALS.fetch_add(1, Ordering::AcqRel);
        sys::futex_wake(&ARRIVALS, u32::MAX >> 1);
        if CURRENT.load(Ordering::Acquire).is_null()
            && let Some(next) = scheduler().next(false)
        {
            (*next).task.context.parked.store(0, Ordering::Relaxed);
            CURRENT.store(next, Ordering::Release);
            wake_home(next);
        }
        IDLE.unlock();
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
            block_signals();
            park_at_home(me);
            after_switch();
            take_mask(me);
        } else {
            (*me).task.context.parked.store(1, Ordering::Release);
            ARRIVALS.fetch_add(1, Ordering::AcqRel);
            sys::futex_wake(&ARRIVALS, u32::MAX >> 1);
            sleep_until_token(me);
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
        if is_green() && sys::gettid() == (*me).tid.load(Ordering::Relaxed) as i32 {
            // At home already: the carrier picks up the turn.
            CURRENT.store(core::ptr::null_mut(), Ordering::Release);
            ARRIVALS.fetch_add(1, Ordering::AcqRel);
            sys::futex_wake(&ARRIVALS, u32::MAX >> 1);
            return;
        }
        if is_green() {
            FOR_GOOD.store(1, Ordering::Release);
        } else if scheduler().is_empty() {
            // As glibc does when a program's last thread ends; it counts our own threads, too.
            libc::exit(0);
        } else {
            ENDING.store((*me).tid.load(Ordering::Relaxed), Ordering::Release);
        }
        put_down(me);
    }
}

/// The first thread ends by `pthread_exit`, which ends the kernel thread: so it goes home for
/// that, and keeps the turn until its end.
pub fn go_home_with_turn(me: *mut Thread) {
    if is_green() {
        GOES_HOME.store(me, Ordering::Release);
        // SAFETY: the carrier wakes home and waits until nobody has the turn.
        unsafe { context::switch(&raw mut (*me).task.context, CARRIER.0.get()) };
    }
}
