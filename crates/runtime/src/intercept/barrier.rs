//! Barriers.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::descriptor::blocking;
use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event::{self, Kind, Sync};
use crate::record::{Mode, mode};
use crate::watch::enforce;
use crate::{serial, threads};

mod leaving;

trampoline! {
    "pthread_barrier_init" => barrier_init;
    "pthread_barrier_destroy" => barrier_destroy;
    "pthread_barrier_wait" => barrier_wait;
    "__deadheat_barrier_enter" => enter;
    "__deadheat_barrier_exit" => exit;
}

/// The barrier that a thread is just coming to, if it is not the C library's.
static FOREIGN: AtomicUsize = AtomicUsize::new(0);

/// Whether a barrier that a thread comes to is not the C library's: how many wait there is not known.
pub fn is_foreign(barrier: usize) -> bool {
    FOREIGN.load(Ordering::Relaxed) == barrier
}

/// A thread comes to a barrier that is not the C library's.
unsafe extern "C" fn enter(barrier: usize) {
    FOREIGN.store(barrier, Ordering::Relaxed);
    event::sync(Op::BarrierEnter, barrier, caller());
    FOREIGN.store(0, Ordering::Relaxed);
}

/// A thread leaves it.
unsafe extern "C" fn exit(barrier: usize) {
    event::sync(Op::BarrierExit, barrier, caller());
}

unsafe extern "C" fn barrier_init(barrier: usize, attr: usize, count: u32) -> c_int {
    let pc = caller();
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    let result = unsafe { real::pthread_barrier_init(barrier, attr, count) };
    if result == 0 && threads::visible() {
        let made = Sync::life(Op::Init, Kind::Barrier, barrier, pc);
        // Of one that is shared with other processes nobody knows who comes to it.
        match is_shared(barrier) {
            true => made.record(),
            false => made.with(u64::from(count)).record(),
        }
    }
    result
}

unsafe extern "C" fn barrier_destroy(barrier: usize) -> c_int {
    let pc = caller();
    leaving::wait(barrier);
    serial::gate(Op::Destroy, barrier, 0, pc);
    if mode() == Mode::Serial {
        event::life(Op::Destroy, Kind::Barrier, barrier, pc);
    }
    // SAFETY: see `barrier_init`.
    let result = unsafe { real::pthread_barrier_destroy(barrier) };
    if mode() != Mode::Serial {
        leaving::settle(barrier);
        event::life(Op::Destroy, Kind::Barrier, barrier, pc);
    }
    result
}

/// glibc keeps the number of threads that a barrier waits for at this offset, and behind it whether processes share it.
const BARRIER_COUNT: usize = 8;
const BARRIER_SHARED: usize = 12;

/// What glibc keeps at an offset of a barrier.
fn word_of(barrier: usize, offset: usize) -> u32 {
    // SAFETY: an initialised barrier of the program is larger than this.
    unsafe { ((barrier + offset) as *const u32).read_volatile() }
}

/// Whether processes share it.
fn is_shared(barrier: usize) -> bool {
    word_of(barrier, BARRIER_SHARED) != 0
}

/// Waits at a barrier at which other processes may arrive: in a serial recording without the turn, and the C library counts. Those who come are not all seen, so to
/// a recording it is no barrier: whoever comes sends, and whoever goes receives.
fn wait_with_others(barrier: usize, pc: usize) -> c_int {
    let channel = barrier + BARRIER_COUNT;
    serial::point_before(Op::Send, channel, 0, pc);
    event::sync(Op::Send, channel, pc);
    // SAFETY: see `barrier_init`.
    let result = blocking(|| unsafe { real::pthread_barrier_wait(barrier) });
    event::sync(Op::Receive, channel, pc);
    result
}

unsafe extern "C" fn barrier_wait(barrier: usize) -> c_int {
    let pc = caller();
    if !threads::visible() {
        // SAFETY: see `barrier_init`.
        return unsafe { real::pthread_barrier_wait(barrier) };
    }
    if is_shared(barrier) {
        return wait_with_others(barrier, pc);
    }
    if mode() == Mode::Serial {
        serial::point_before(Op::BarrierEnter, barrier, 0, pc);
        Sync::new(Op::BarrierEnter, barrier, pc).record();
        let count = word_of(barrier, BARRIER_COUNT);
        let is_last = serial::arrive(barrier, count);
        if is_last {
            leaving::begin(barrier, count as usize - 1);
        }
        Sync::new(Op::BarrierExit, barrier, pc).record();
        if is_last {
            return libc::PTHREAD_BARRIER_SERIAL_THREAD;
        }
        leaving::end(barrier);
        return 0;
    }
    leaving::arrive(barrier);
    let turn = enforce::turn(Op::BarrierEnter, barrier, pc);
    Sync::new(Op::BarrierEnter, barrier, pc).record();
    turn.done(true);
    // SAFETY: see `barrier_init`.
    let result = unsafe { real::pthread_barrier_wait(barrier) };
    let turn = enforce::turn(Op::BarrierExit, barrier, pc);
    Sync::new(Op::BarrierExit, barrier, pc).record();
    turn.done(true);
    leaving::leave(barrier);
    result
}
