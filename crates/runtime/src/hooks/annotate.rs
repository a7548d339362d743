//! What a program says about itself: `<sanitizer/tsan_interface.h>` and the `Annotate*` family.
//!
//! Release and acquire become sends and receives, annotated locks are locks. Requests to ignore
//! accesses are accepted and not followed: a trace has what happened, and what to report is
//! decided later. Fibers run on the trace's thread that switches to them.

use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::Op;

use super::{caller, trampoline};
use crate::record::event::{self, Kind};
use crate::record::facts;
use crate::{intercept, serial, sys, threads};

trampoline! {
    "__tsan_acquire" => acquire;
    "__tsan_release" => release;
    "__tsan_mutex_create" => mutex_create;
    "__tsan_mutex_destroy" => mutex_destroy;
    "__tsan_mutex_pre_lock" => mutex_pre_lock;
    "__tsan_mutex_post_lock" => mutex_post_lock;
    "__tsan_mutex_pre_unlock" => mutex_pre_unlock;
    "AnnotateHappensBefore" => annotate_before;
    "WTFAnnotateHappensBefore" => annotate_before;
    "AnnotateCondVarSignal" => annotate_before;
    "AnnotateCondVarSignalAll" => annotate_before;
    "AnnotatePCQPut" => annotate_before;
    "AnnotateHappensAfter" => annotate_after;
    "WTFAnnotateHappensAfter" => annotate_after;
    "AnnotateCondVarWait" => annotate_after;
    "AnnotatePCQGet" => annotate_after;
    "AnnotateRWLockCreate" => annotate_lock_create;
    "AnnotateRWLockCreateStatic" => annotate_lock_create;
    "AnnotateRWLockDestroy" => annotate_lock_destroy;
    "AnnotateRWLockAcquired" => annotate_lock_acquired;
    "AnnotateRWLockReleased" => annotate_lock_released;
    "AnnotateThreadName" => annotate_thread_name;
}

const MUTEX_READ_LOCK: u32 = 1 << 3;
const MUTEX_TRY_LOCK: u32 = 1 << 4;
const MUTEX_TRY_LOCK_FAILED: u32 = 1 << 5;

unsafe extern "C" fn acquire(object: usize) {
    event::sync(Op::Receive, object, caller());
}

unsafe extern "C" fn release(object: usize) {
    event::sync(Op::Send, object, caller());
}

unsafe extern "C" fn mutex_create(lock: usize, _flags: u32) {
    event::life(Op::Init, Kind::Lock, lock, caller());
}

unsafe extern "C" fn mutex_destroy(lock: usize, _flags: u32) {
    event::life(Op::Destroy, Kind::Lock, lock, caller());
}

/// The lock's own code runs between here and `mutex_post_lock`, seen like any other.
unsafe extern "C" fn mutex_pre_lock(_lock: usize, flags: u32) {
    if flags & MUTEX_TRY_LOCK == 0 && threads::visible() {
        serial::point();
    }
}

unsafe extern "C" fn mutex_post_lock(lock: usize, flags: u32, _recursion: i32) {
    let pc = caller();
    let op = match flags & MUTEX_READ_LOCK {
        0 => Op::Acquire,
        _ => Op::ReadAcquire,
    };
    if flags & MUTEX_TRY_LOCK_FAILED == 0 {
        event::sync(op, lock, pc);
    } else if threads::visible() {
        intercept::refused(op, lock, pc, libc::EBUSY);
    }
}

unsafe extern "C" fn mutex_pre_unlock(lock: usize, flags: u32) -> i32 {
    let reading = flags & MUTEX_READ_LOCK != 0;
    event::sync(
        if reading {
            Op::ReadRelease
        } else {
            Op::Release
        },
        lock,
        caller(),
    );
    0
}

unsafe extern "C" fn annotate_before(_file: *const u8, _line: i32, object: usize) {
    event::sync(Op::Send, object, caller());
}

unsafe extern "C" fn annotate_after(_file: *const u8, _line: i32, object: usize) {
    event::sync(Op::Receive, object, caller());
}

unsafe extern "C" fn annotate_lock_create(_file: *const u8, _line: i32, lock: usize) {
    event::life(Op::Init, Kind::Lock, lock, caller());
}

unsafe extern "C" fn annotate_lock_destroy(_file: *const u8, _line: i32, lock: usize) {
    event::life(Op::Destroy, Kind::Lock, lock, caller());
}

unsafe extern "C" fn annotate_lock_acquired(_: *const u8, _: i32, lock: usize, writing: usize) {
    event::sync(
        if writing != 0 {
            Op::Acquire
        } else {
            Op::ReadAcquire
        },
        lock,
        caller(),
    );
}

unsafe extern "C" fn annotate_lock_released(_: *const u8, _: i32, lock: usize, writing: usize) {
    event::sync(
        if writing != 0 {
            Op::Release
        } else {
            Op::ReadRelease
        },
        lock,
        caller(),
    );
}

unsafe extern "C" fn annotate_thread_name(_: *const u8, _: i32, name: *const core::ffi::c_char) {
    if threads::visible() && !name.is_null() {
        // SAFETY: the program passes a C string; the thread is known.
        unsafe { facts::thread_name(threads::my_id(), core::ffi::CStr::from_ptr(name).to_bytes()) };
    }
}

/// Functions that a program may call and that change nothing here.
macro_rules! accepted {
    ($($name:ident)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(non_snake_case, dead_code)]
        extern "C" fn $name() -> usize {
            0
        }
    )* };
}

accepted! {
    __tsan_mutex_post_unlock __tsan_mutex_pre_signal __tsan_mutex_post_signal
    __tsan_mutex_pre_divert __tsan_mutex_post_divert
    __tsan_check_no_mutexes_held __tsan_flush_memory __tsan_on_thread_idle
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    __tsan_switch_to_fiber __tsan_destroy_fiber __tsan_set_fiber_name
    __tsan_external_register_tag __tsan_external_register_header __tsan_external_assign_tag
    __tsan_get_current_report __tsan_get_report_data __tsan_get_report_tag
    __tsan_get_report_stack __tsan_get_report_mop __tsan_get_report_loc
    __tsan_get_report_loc_object_type __tsan_get_report_mutex __tsan_get_report_thread
    __tsan_get_report_unique_tid __tsan_locate_address __tsan_get_alloc_stack
    __tsan_java_init __tsan_java_fini __tsan_java_alloc __tsan_java_free __tsan_java_move
    __tsan_java_find __tsan_java_finalize __tsan_java_mutex_lock __tsan_java_mutex_unlock
    __tsan_java_mutex_read_lock __tsan_java_mutex_read_unlock __tsan_java_mutex_lock_rec
    __tsan_java_mutex_unlock_rec __tsan_java_acquire __tsan_java_release
    __tsan_java_release_store
    AnnotateBenignRace AnnotateBenignRaceSized WTFAnnotateBenignRaceSized
    AnnotateEnableRaceDetection AnnotateExpectRace AnnotateFlushExpectedRaces
    AnnotateFlushState AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd
    AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd AnnotateIgnoreSyncBegin
    AnnotateIgnoreSyncEnd AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized
    AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar AnnotateNewMemory AnnotateNoOp
    AnnotatePCQCreate AnnotatePCQDestroy AnnotatePublishMemoryRange
    AnnotateUnpublishMemoryRange AnnotateTraceMemory RunningOnValgrind
}

#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_snake_case, dead_code)]
extern "C" fn ValgrindSlowdown() -> f64 {
    1.0
}

/// Any address that is not null will do: fibers are not told apart.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __tsan_get_current_fiber() -> usize {
    crate::local::local() as usize
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __tsan_create_fiber(_flags: u32) -> usize {
    crate::local::local() as usize
}

/// A barrier that no analysis sees, for tests: `[generation, waiting, count]`.
#[repr(C)]
struct InvisibleBarrier {
    generation: AtomicU32,
    waiting: AtomicU32,
    count: AtomicU32,
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __tsan_testonly_barrier_init(barrier: *mut u64, count: u32) {
    // SAFETY: the caller reserves two words, more than the three numbers need.
    let barrier = unsafe { &*barrier.cast::<InvisibleBarrier>() };
    barrier.generation.store(0, Ordering::SeqCst);
    barrier.waiting.store(0, Ordering::SeqCst);
    barrier.count.store(count, Ordering::SeqCst);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __tsan_testonly_barrier_wait(barrier: *mut u64) {
    // SAFETY: as above.
    let barrier = unsafe { &*barrier.cast::<InvisibleBarrier>() };
    let generation = barrier.generation.load(Ordering::SeqCst);
    if barrier.waiting.fetch_add(1, Ordering::SeqCst) + 1 == barrier.count.load(Ordering::SeqCst) {
        barrier.waiting.store(0, Ordering::SeqCst);
        barrier.generation.fetch_add(1, Ordering::SeqCst);
        sys::futex_wake(&barrier.generation, u32::MAX >> 1);
        return;
    }
    while barrier.generation.load(Ordering::SeqCst) == generation {
        if !serial::yield_turn() {
            sys::futex_wait(&barrier.generation, generation, 0);
        }
    }
}

/// How deep the shadow stack is, for tests.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __tsan_testonly_shadow_stack_current_size() -> usize {
    threads::stack_depth()
}
