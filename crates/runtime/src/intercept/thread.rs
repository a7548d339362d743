//! Creation, end and names of threads.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::Op;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::local::{Inside, local};
use crate::record::event::{self, Sync};
use crate::record::{self, Mode, facts, mode};
use crate::serial::{self, Limit, Waited, signals};
use crate::threads::{self, Thread};
use crate::watch::{self, enforce};

trampoline! {
    "pthread_create" => create;
    "pthread_join" => join;
    "pthread_tryjoin_np" => tryjoin;
    "pthread_timedjoin_np" => timedjoin;
    "pthread_clockjoin_np" => clockjoin;
    "pthread_detach" => detach;
    "pthread_exit" => exit;
    "pthread_cancel" => cancel;
    "pthread_setcanceltype" => set_cancel_type;
    "pthread_setname_np" => setname;
}

pub type Function = extern "C" fn(*mut c_void) -> *mut c_void;

/// What a new thread needs to know. Lies in its record.
#[derive(Clone, Copy)]
pub struct Start {
    function: Function,
    argument: *mut c_void,
    /// The signals that its creator does not want. It starts without any: a handler that ran
    /// before the thread is known could not be recorded.
    mask: u64,
}

pub(super) unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    attr: *const libc::pthread_attr_t,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    let pc = caller();
    record::start(); // A library's constructor may be earlier than ours.
    let thread = if threads::visible() {
        let planned = serial::planned_thread();
        let _inside = Inside::enter();
        threads::register_as(planned)
    } else {
        core::ptr::null_mut()
    };
    if thread.is_null() {
        // SAFETY: (here and below) the arguments are the program's own, for this very function.
        return unsafe { real::pthread_create(handle, attr, function, argument) };
    }
    let serial = mode() == Mode::Serial;
    let number = |thread: *mut Thread| {
        // SAFETY: a fresh record.
        unsafe { (*thread).id as usize }
    };
    // The C library stores the handle before the new thread starts. An enforced schedule stops
    // the creator there.
    let stored = [handle as usize, size_of::<libc::pthread_t>()];
    let is_left_out = event::is_left_out(pc);
    if !serial {
        event::range(true, stored[0], stored[1], pc);
    } else if serial::is_enforced() && !is_left_out {
        serial::announce_range(true, stored[0], stored[1], pc);
    } else {
        serial::point_before(Op::Fork, number(thread), 0, pc);
    }
    // SAFETY: the record is fresh, and this thread is known.
    let result = unsafe {
        let mask = signals::mask();
        (*thread).start = Some(Start {
            mask,
            function,
            argument,
        });
        let detached = is_detached(attr);
        facts::thread((*thread).id, threads::my_id(), pc);
        let turn = enforce::turn(Op::Fork, number(thread), pc);
        turn.creates(&mut *thread);
        if mode() == Mode::Watch {
            let _inside = Inside::enter();
            (*thread).set_origin(threads::my_id(), watch::creation(pc));
        }
        if !serial {
            Sync::new(Op::Fork, number(thread), pc).record();
        }
        signals::block_signals();
        let result = real::pthread_create(handle, attr, thread_main, thread.cast());
        signals::set_mask(mask);
        turn.done(result == 0);
        if result == 0 {
            // A detached thread may be gone: its handle means nothing then.
            let own = if detached { 0 } else { *handle as usize };
            if own != 0 {
                (*thread).handle.store(own, Ordering::Release);
            }
            if serial {
                // It waits for its first turn.
                if !is_left_out {
                    serial::announced_range(true, stored[0], stored[1], pc);
                }
                Sync::new(Op::Fork, number(thread), pc).record();
                serial::adopt(thread);
            }
            if detached {
                (*thread).is_detached.store(true, Ordering::Release);
                threads::drop_claim(thread);
            }
        } else {
            threads::drop_claim(thread);
            threads::drop_claim(thread);
        }
        threads::drop_claim(thread);
        result
    };
    if serial && result == 0 {
        serial::point();
    }
    result
}

fn is_detached(attr: *const libc::pthread_attr_t) -> bool {
    unsafe extern "C" {
        fn pthread_attr_getdetachstate(
            attr: *const libc::pthread_attr_t,
            state: *mut c_int,
        ) -> c_int;
    }
    let mut state = 0;
    // SAFETY: an attribute of the program, and a place for the answer.
    !attr.is_null()
        && unsafe { pthread_attr_getdetachstate(attr, &mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// Where every thread of the program starts.
extern "C" fn thread_main(thread: *mut c_void) -> *mut c_void {
    let thread = thread.cast::<Thread>();
    // SAFETY: `create` passes this thread's record, and has filled it in.
    unsafe {
        let Some(Start {
            function,
            argument,
            mask,
        }) = (*thread).start
        else {
            return core::ptr::null_mut();
        };
        (*local()).inside += 1;
        let now = mode();
        if now == Mode::Serial {
            (*thread).task.stack_begins(&raw const thread as usize);
            serial::arrive_as_new(thread);
        }
        threads::attach(thread, now, false);
        set_exit_key();
        let turn = enforce::turn(Op::Begin, (*thread).id as usize, 0);
        event::thread_begin(function as usize);
        turn.done(true);
        event::new_stack(threads::own_stack());
        (*local()).inside -= 1;
        if !serial::is_green() {
            signals::set_mask(mask);
        }
        function(argument)
    }
}

/// A key whose destructor runs at a thread's end, however it ends. The C library calls it up to
/// four times; it waits for the last, so that other keys' destructors are still seen.
static EXIT_KEY: AtomicU32 = AtomicU32::new(0);
static KEY_STATE: AtomicU32 = AtomicU32::new(0);
const ROUNDS: usize = 4;

/// Makes the key, before any thread can end.
pub fn arm_exit_key() {
    if KEY_STATE.swap(1, Ordering::AcqRel) == 0 {
        let mut key = 0;
        // SAFETY: a place for the key, and a destructor of the right type.
        unsafe { libc::pthread_key_create(&mut key, Some(at_exit)) };
        EXIT_KEY.store(key, Ordering::Release);
    }
}

/// Makes the running thread's end known.
pub fn set_exit_key() {
    // SAFETY: the key was created before any thread.
    unsafe { libc::pthread_setspecific(EXIT_KEY.load(Ordering::Acquire), ROUNDS as *const c_void) };
}

unsafe extern "C" fn at_exit(round: *mut c_void) {
    let left = round as usize - 1;
    if left > 0 {
        // SAFETY: the key is ours.
        unsafe {
            libc::pthread_setspecific(EXIT_KEY.load(Ordering::Acquire), left as *const c_void)
        };
        return;
    }
    let inside = Inside::enter();
    threads::detach();
    core::mem::forget(inside); // Whatever still runs in this thread is the C library's.
}

/// Records that a thread's end was waited for.
fn joined(thread: *mut Thread, pc: usize) {
    if thread.is_null() {
        return;
    }
    // SAFETY: the record is kept until its claims are dropped; this is the joiner's.
    unsafe {
        if threads::visible() {
            Sync::new(Op::Join, (*thread).id as usize, pc).record();
        }
        (*thread).handle.store(0, Ordering::Release);
        threads::drop_claim(thread);
    }
}

/// Waits until an enforced schedule has the running thread join another. A thread that was never seen has no part in one.
fn before_join(thread: *mut Thread, pc: usize) -> Option<enforce::Turn> {
    if thread.is_null() || !enforce::is_on() || !threads::visible() {
        return None;
    }
    // SAFETY: the record is kept for whoever may join.
    let number = enforce::number_of(unsafe { &*thread });
    Some(enforce::turn(Op::Join, number as usize, pc))
}

/// Joins: in a serial recording the scheduler waits, and the C library only collects.
fn join_with(
    handle: libc::pthread_t,
    place: *mut *mut c_void,
    limit: Limit,
    pc: usize,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let thread = threads::by_handle(handle as usize);
    // SAFETY: records in the list are in use.
    let is_joinable = unsafe { thread.as_ref() }
        .is_some_and(|thread| !thread.is_detached.load(Ordering::Acquire));
    let is_serial = threads::visible() && mode() == Mode::Serial && is_joinable;
    if is_serial {
        // SAFETY: the record is kept for whoever may join.
        serial::point_before(Op::Join, unsafe { (*thread).id } as usize, 0, pc);
        let refused = serial::refuses_join(thread);
        if refused != 0 {
            return refused;
        }
        serial::joins(thread, true);
        let ended = wait_for_end(thread, limit, pc);
        serial::joins(thread, false);
        if !ended {
            return libc::ETIMEDOUT;
        }
    }
    let turn = before_join(thread, pc);
    let result = match is_serial {
        // It has ended, whatever the real clock shows.
        // SAFETY: see `create`.
        true => unsafe { real::pthread_join(handle, place) },
        false => block(),
    };
    if result == 0 {
        joined(thread, pc);
        if let Some(turn) = turn {
            turn.done(true);
        }
        if !place.is_null() {
            event::range(true, place as usize, size_of::<usize>(), pc);
        }
    }
    result
}

/// Waits for a thread's end in a serial recording; false if time was up before.
fn wait_for_end(thread: *mut Thread, limit: Limit, pc: usize) -> bool {
    while !serial::has_ended(thread) {
        match serial::wait_for_end(thread, limit, pc) {
            Waited::Cancelled => {
                // Whoever is cancelled joins nobody, and another may.
                serial::joins(thread, false);
                act_on_cancellation(pc);
                serial::joins(thread, true);
            }
            Waited::TimedOut => return serial::has_ended(thread),
            _ => {}
        }
    }
    true
}

/// The running thread was cancelled in a call that is a cancellation point: it ends here, unless it
/// does not let itself be cancelled.
pub fn act_on_cancellation(pc: usize) {
    // What `pthread_cancel` has sent.
    // SAFETY: the thread is known, or it would not wait.
    let handle = unsafe { threads::my_handle() };
    Sync::new(Op::Receive, handle, pc).record();
    // SAFETY: a cancellation point of the program.
    unsafe { real::pthread_testcancel() };
}

pub(super) unsafe extern "C" fn join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    // SAFETY: see `create`.
    join_with(handle, result, Limit::None, caller(), || unsafe {
        real::pthread_join(handle, result)
    })
}

/// The time limit of a join; none if the program gives none.
unsafe fn limit_of(clock: c_int, time: *const libc::timespec) -> Limit {
    match time.is_null() {
        true => Limit::None,
        // SAFETY: the program's own time.
        false => unsafe { Limit::until(clock, time as usize) },
    }
}

unsafe extern "C" fn timedjoin(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    time: *const libc::timespec,
) -> c_int {
    let pc = caller();
    // SAFETY: see `create`.
    let limit = unsafe { limit_of(libc::CLOCK_REALTIME, time) };
    // SAFETY: see `create`.
    join_with(handle, result, limit, pc, || unsafe {
        real::pthread_timedjoin_np(handle, result, time)
    })
}

unsafe extern "C" fn clockjoin(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
) -> c_int {
    let pc = caller();
    // SAFETY: see `create`.
    let limit = unsafe { limit_of(clock, time) };
    // SAFETY: see `create`.
    join_with(handle, result, limit, pc, || unsafe {
        real::pthread_clockjoin_np(handle, result, clock, time)
    })
}

unsafe extern "C" fn tryjoin(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    let pc = caller();
    let thread = threads::by_handle(handle as usize);
    if threads::visible() {
        serial::point_before(Op::Join, 0, 0, pc);
    }
    let turn = match enforce::next_is(Op::Join) {
        true => before_join(thread, pc),
        false => None,
    };
    // SAFETY: see `create`.
    let attempt = || unsafe { real::pthread_tryjoin_np(handle, result) };
    let joined_now = match &turn {
        Some(turn) => turn.insist(attempt),
        None => attempt(),
    };
    if joined_now == 0 {
        joined(thread, pc);
    }
    if let Some(turn) = turn {
        turn.done(joined_now == 0);
    }
    joined_now
}

pub(super) unsafe extern "C" fn detach(handle: libc::pthread_t) -> c_int {
    let thread = threads::by_handle(handle as usize);
    // SAFETY: see `create`; the record is kept until its claims are dropped.
    unsafe {
        let result = real::pthread_detach(handle);
        if result == 0 && !thread.is_null() {
            (*thread).is_detached.store(true, Ordering::Release);
            (*thread).handle.store(0, Ordering::Release);
            threads::drop_claim(thread);
        }
        result
    }
}

/// Has the C library load what it unwinds threads with, if it has not yet: it would load it with the
/// loader's lock, and others who need that lock must not get the turn meanwhile.
fn load_unwinder() {
    static IS_LOADED: AtomicU32 = AtomicU32::new(0);
    if mode() == Mode::Serial && IS_LOADED.swap(1, Ordering::Relaxed) == 0 {
        let _inside = Inside::enter();
        let mut caller = core::ptr::null_mut();
        // SAFETY: there is room for one caller.
        unsafe { libc::backtrace(&raw mut caller, 1) };
    }
}

pub(super) unsafe extern "C" fn exit(result: *mut c_void) -> usize {
    if threads::visible() {
        serial::before_exit();
        load_unwinder();
    }
    // SAFETY: see `create`.
    unsafe { real::pthread_exit(result) }
}

unsafe extern "C" fn cancel(handle: libc::pthread_t) -> c_int {
    let pc = caller();
    let thread = threads::by_handle(handle as usize);
    let is_serial = threads::visible() && mode() == Mode::Serial && !thread.is_null();
    if is_serial {
        serial::point_before(Op::Send, handle as usize, 0, pc);
    }
    let result = {
        // It may load what threads are unwound with: nobody else goes on while the loader has its lock.
        let _inside = Inside::enter();
        // SAFETY: see `create`.
        unsafe { real::pthread_cancel(handle) }
    };
    if result == 0 && !thread.is_null() {
        serial::cancelled(thread);
    }
    // Only now is it through.
    if result == 0 && is_serial {
        // SAFETY: the record is kept as long as the program may use the handle.
        let number = unsafe { (*thread).id };
        let sent = Sync::new(Op::Send, handle as usize, pc);
        sent.with(u64::from(number) + 1).record();
    }
    result
}

/// In a serial recording a thread that may be cancelled at any time is cancelled at its next event, when it
/// has the turn: the C library would unwind the kernel thread that the context is not on.
unsafe extern "C" fn set_cancel_type(kind: c_int, old: *mut c_int) -> c_int {
    const DEFERRED: c_int = 0;
    const ASYNCHRONOUS: c_int = 1;
    let pc = caller();
    let is_serial = threads::visible() && mode() == Mode::Serial;
    if !is_serial || !matches!(kind, DEFERRED | ASYNCHRONOUS) {
        // SAFETY: see `create`.
        return unsafe { real::pthread_setcanceltype(kind, old as usize) };
    }
    let was = serial::set_asynchronous(kind == ASYNCHRONOUS);
    if !old.is_null() {
        // SAFETY: a place of the program's for the answer.
        unsafe { old.write(if was { ASYNCHRONOUS } else { DEFERRED }) };
    }
    serial::heed_cancellation(pc);
    0
}

unsafe extern "C" fn setname(handle: libc::pthread_t, name: *const c_char) -> c_int {
    let thread = threads::by_handle(handle as usize);
    if !thread.is_null() && mode() != Mode::Off {
        // SAFETY: the record is in use; the program passes a C string.
        unsafe { facts::thread_name((*thread).id, real::c_string(name)) };
    }
    // SAFETY: see `create`.
    unsafe { real::pthread_setname_np(handle, name) }
}
