//! Atomic objects too large for an instruction: compilers call libatomic for them.
//!
//! They are done here under a spin lock chosen by address, and recorded as what they are: a lock
//! that belongs to the object is taken, the bytes are read and written, the lock is given back.

use core::ffi::c_int;

use deadheat_wire::Op;

use crate::hooks::{caller, trampoline};
use crate::record::event::{self, Sync};
use crate::sys::Spin;
use crate::watch::enforce;
use crate::{serial, threads};

trampoline! {
    "__atomic_load" => load;
    "__atomic_store" => store;
    "__atomic_exchange" => exchange;
    "__atomic_compare_exchange" => compare_exchange;
}

static LOCKS: [Spin; 64] = [const { Spin::new() }; 64];

/// Does something to an object while nobody else does.
fn exclusively<R>(object: usize, pc: usize, action: impl FnOnce() -> R) -> R {
    let visible = threads::visible();
    if visible {
        serial::point_before(Op::Acquire, object, 0, pc);
    }
    let turn = |op| visible.then(|| enforce::turn(op, object, pc));
    let done = |turn: Option<enforce::Turn>| turn.into_iter().for_each(|turn| turn.done(true));
    let acquires = turn(Op::Acquire);
    let lock = &LOCKS[(object >> 4) % LOCKS.len()];
    lock.lock();
    if visible {
        Sync::new(Op::Acquire, object, pc).record();
    }
    done(acquires);
    let result = action();
    let releases = turn(Op::Release);
    if visible {
        Sync::new(Op::Release, object, pc).record();
    }
    lock.unlock();
    done(releases);
    result
}

/// Copies bytes of the program, and records both sides.
unsafe fn copy(to: usize, from: usize, size: usize, pc: usize) {
    event::range(false, from, size, pc);
    event::range(true, to, size, pc);
    for i in 0..size {
        // SAFETY: the caller's ranges. Volatile, so that no call of `memcpy` comes of it.
        unsafe {
            ((to + i) as *mut u8).write_volatile(((from + i) as *const u8).read_volatile());
        }
    }
}

unsafe fn equal(left: usize, right: usize, size: usize) -> bool {
    // SAFETY: the caller's ranges.
    (0..size).all(|i| unsafe {
        ((left + i) as *const u8).read_volatile() == ((right + i) as *const u8).read_volatile()
    })
}

// SAFETY of all functions below: the arguments are the program's own, for this very function.

unsafe extern "C" fn load(size: usize, object: usize, result: usize, _order: c_int) {
    let pc = caller();
    exclusively(object, pc, || unsafe { copy(result, object, size, pc) });
}

unsafe extern "C" fn store(size: usize, object: usize, value: usize, _order: c_int) {
    let pc = caller();
    exclusively(object, pc, || unsafe { copy(object, value, size, pc) });
}

unsafe extern "C" fn exchange(
    size: usize,
    object: usize,
    value: usize,
    result: usize,
    _order: c_int,
) {
    let pc = caller();
    exclusively(object, pc, || unsafe {
        copy(result, object, size, pc);
        copy(object, value, size, pc);
    });
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    object: usize,
    expected: usize,
    desired: usize,
    _success: c_int,
    _failure: c_int,
) -> bool {
    let pc = caller();
    exclusively(object, pc, || unsafe {
        let same = equal(object, expected, size);
        if same {
            event::range(false, object, size, pc);
            copy(object, desired, size, pc);
        } else {
            copy(expected, object, size, pc);
        }
        same
    })
}
