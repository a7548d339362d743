//! Mutexes of all kinds, read-write locks and spin locks.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use deadheat_wire::{Op, TRIED};

use super::{Taking, give, real, refused};
use crate::hooks::{caller, trampoline};
use crate::local::{Inside, local};
use crate::record::event::{self, Kind, Sync};
use crate::record::facts;
use crate::serial::{self, Limit};
use crate::watch::enforce;
use crate::{sys, threads};

trampoline! {
    "pthread_mutex_init" => mutex_init;
    "pthread_mutex_destroy" => mutex_destroy;
    "pthread_mutex_lock" => mutex_lock;
    "pthread_mutex_trylock" => mutex_trylock;
    "pthread_mutex_timedlock" => mutex_timedlock;
    "pthread_mutex_clocklock" => mutex_clocklock;
    "pthread_mutex_unlock" => mutex_unlock;
    "pthread_rwlock_init" => rwlock_init;
    "pthread_rwlock_destroy" => rwlock_destroy;
    "pthread_rwlock_rdlock" => rwlock_rdlock;
    "pthread_rwlock_tryrdlock" => rwlock_tryrdlock;
    "pthread_rwlock_timedrdlock" => rwlock_timedrdlock;
    "pthread_rwlock_clockrdlock" => rwlock_clockrdlock;
    "pthread_rwlock_wrlock" => rwlock_wrlock;
    "pthread_rwlock_trywrlock" => rwlock_trywrlock;
    "pthread_rwlock_timedwrlock" => rwlock_timedwrlock;
    "pthread_rwlock_clockwrlock" => rwlock_clockwrlock;
    "pthread_rwlock_unlock" => rwlock_unlock;
    "pthread_spin_init" => spin_init;
    "pthread_spin_destroy" => spin_destroy;
    "pthread_spin_lock" => spin_lock;
    "pthread_spin_trylock" => spin_trylock;
    "pthread_spin_unlock" => spin_unlock;
}

/// Records an object's life if the real function succeeded.
fn noted(op: Op, object: usize, pc: usize, result: c_int) -> c_int {
    if result == 0 {
        event::life(op, Kind::Lock, object, pc);
    }
    result
}

pub(super) unsafe extern "C" fn mutex_init(lock: usize, attr: usize) -> c_int {
    let pc = caller();
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    noted(Op::Init, lock, pc, unsafe {
        real::pthread_mutex_init(lock, attr)
    })
}

pub(super) unsafe extern "C" fn mutex_destroy(lock: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Destroy, lock, 0, pc);
    // SAFETY: see `mutex_init`.
    let result = noted(Op::Destroy, lock, pc, unsafe {
        real::pthread_mutex_destroy(lock)
    });
    if result == 0 && threads::visible() {
        bequeathed(lock, pc);
    }
    result
}

/// Whether the recording says that.
static IS_SAID: AtomicBool = AtomicBool::new(false);

/// A mutex that was destroyed is taken: that fails, and says so. Whoever notices comes after it was destroyed.
fn take_destroyed(lock: usize, pc: usize) -> c_int {
    serial::gate(Op::Receive, lock + LEGACY, 0, pc);
    inherited(lock, pc);
    if !serial::is_misused() && !IS_SAID.swap(true, Ordering::Relaxed) {
        let _inside = Inside::enter();
        facts::note(deadheat_wire::DESTROYED);
    }
    libc::EINVAL
}

/// The number by which glibc knows the running thread.
fn own_number() -> i32 {
    // SAFETY: the thread's own state; a known thread has a record.
    unsafe {
        let thread = (*local()).thread;
        match thread.is_null() {
            true => sys::gettid(),
            false => (*thread).tid.load(core::sync::atomic::Ordering::Relaxed) as i32,
        }
    }
}

/// Whether the running thread has a read-write lock for writing: the C library answers `EDEADLK` if
/// it wants it once more.
fn is_writer(lock: usize) -> bool {
    // SAFETY: an initialised read-write lock of the program is larger than this.
    let writer = unsafe { ((lock + RWLOCK_WRITER) as *const i32).read_volatile() };
    writer != 0 && writer == own_number()
}

/// Where in a mutex that is the channel lies on which whoever destroys it sends, and an owner of a robust one that
/// ends without unlocking.
const LEGACY: usize = 8;

/// A thread ends with this robust mutex locked: whoever takes it next is told, and what was done
/// before is before that.
pub fn bequeathed(lock: usize, pc: usize) {
    Sync::new(Op::Send, lock + LEGACY, pc).record();
}

/// The running thread has a mutex whose owner ended without unlocking.
pub fn inherited(lock: usize, pc: usize) {
    Sync::new(Op::Receive, lock + LEGACY, pc).record();
}

/// What glibc keeps in a mutex, as far as it matters here.
#[repr(C)]
struct MutexState {
    word: i32,
    count: u32,
    owner: i32,
    users: u32,
    kind: i32,
}

impl MutexState {
    const RECURSIVE: i32 = 1;
    const ERRORCHECK: i32 = 2;
    const ROBUST: i32 = 16;
    /// The owner of a robust mutex that was unlocked before it was made consistent.
    const NOT_RECOVERABLE: i32 = i32::MAX - 1;

    /// The state of the program's mutex at this address.
    fn of(lock: usize) -> Self {
        // SAFETY: an initialised mutex of the program is at least this large.
        unsafe { (lock as *const MutexState).read_volatile() }
    }

    /// Whether it was destroyed, which glibc remembers: no kind has this number.
    fn is_destroyed(lock: usize) -> bool {
        MutexState::of(lock).kind == -1
    }

    /// Whether the running thread has it. The number is the kernel's for the thread's *home*,
    /// which glibc keeps in the thread's own memory.
    fn is_mine(&self) -> bool {
        self.owner == own_number()
    }

    /// Whether locking it would answer at once: because the thread has it already, or because nobody can have it any more. (glibc's
    /// `pthread_mutex_trylock` says so, too, but leaves the mutex locked.)
    fn answers_at_once(lock: usize) -> bool {
        let state = MutexState::of(lock);
        let is_checked = state.kind & 3 == Self::ERRORCHECK && state.is_mine();
        let is_lost = state.kind & Self::ROBUST != 0 && state.owner == Self::NOT_RECOVERABLE;
        is_checked || is_lost && state.word == 0
    }

    /// Whether unlocking it would be refused.
    fn refuses_unlock(lock: usize) -> bool {
        let state = MutexState::of(lock);
        let checked = matches!(state.kind & 3, Self::RECURSIVE | Self::ERRORCHECK)
            || state.kind & Self::ROBUST != 0;
        checked && !state.is_mine()
    }
}

fn take_mutex(lock: usize, pc: usize, limit: Limit, block: impl FnOnce() -> c_int) -> c_int {
    if threads::visible() {
        if MutexState::is_destroyed(lock) {
            return take_destroyed(lock, pc);
        }
        if MutexState::answers_at_once(lock) {
            return block();
        }
    }
    let taking = Taking {
        object: lock,
        pc,
        op: Op::Acquire,
        request: Some(Op::Request),
        limit,
    };
    // SAFETY: see `mutex_init`.
    taking.run(|| unsafe { real::pthread_mutex_trylock(lock) }, block)
}

pub(super) unsafe extern "C" fn mutex_lock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_mutex(lock, caller(), Limit::None, || unsafe {
        real::pthread_mutex_lock(lock)
    })
}

pub(super) unsafe extern "C" fn mutex_timedlock(lock: usize, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_mutex(
        lock,
        caller(),
        unsafe { Limit::until(libc::CLOCK_REALTIME, time) },
        || unsafe { real::pthread_mutex_timedlock(lock, time) },
    )
}

unsafe extern "C" fn mutex_clocklock(lock: usize, clock: c_int, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_mutex(
        lock,
        caller(),
        unsafe { Limit::until(clock, time) },
        || unsafe { real::pthread_mutex_clocklock(lock, clock, time) },
    )
}

/// An attempt that never blocks. One in vain is recorded too: somebody had the lock just then.
pub(super) fn attempt(op: Op, lock: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !threads::visible() {
        return real();
    }
    serial::point_before(op, lock, 0, pc);
    let turn = enforce::turn(op, lock, pc);
    let result = {
        let _inside = Inside::enter();
        real()
    };
    let is_taken = result == 0 || result == libc::EOWNERDEAD;
    if result == libc::EOWNERDEAD {
        inherited(lock, pc);
    }
    if is_taken {
        Sync::new(op, lock, pc).with(TRIED).record();
    } else {
        refused(op, lock, pc, result);
    }
    turn.done(is_taken);
    result
}

pub(super) unsafe extern "C" fn mutex_trylock(lock: usize) -> c_int {
    let pc = caller();
    if threads::visible() && MutexState::is_destroyed(lock) {
        return take_destroyed(lock, pc);
    }
    // SAFETY: see `mutex_init`.
    attempt(Op::Acquire, lock, pc, || unsafe {
        real::pthread_mutex_trylock(lock)
    })
}

pub(super) unsafe extern "C" fn mutex_unlock(lock: usize) -> c_int {
    let pc = caller();
    super::condition::finish_cancelled_wait(lock, pc);
    if threads::visible() && MutexState::refuses_unlock(lock) {
        // SAFETY: see `mutex_init`.
        return unsafe { real::pthread_mutex_unlock(lock) };
    }
    // SAFETY: see `mutex_init`.
    give(Op::Release, lock, pc, || unsafe {
        real::pthread_mutex_unlock(lock)
    })
}

unsafe extern "C" fn rwlock_init(lock: usize, attr: usize) -> c_int {
    let pc = caller();
    // SAFETY: see `mutex_init`.
    noted(Op::Init, lock, pc, unsafe {
        real::pthread_rwlock_init(lock, attr)
    })
}

unsafe extern "C" fn rwlock_destroy(lock: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Destroy, lock, 0, pc);
    // SAFETY: see `mutex_init`.
    noted(Op::Destroy, lock, pc, unsafe {
        real::pthread_rwlock_destroy(lock)
    })
}

fn take_read(lock: usize, pc: usize, limit: Limit, block: impl FnOnce() -> c_int) -> c_int {
    if threads::visible() && is_writer(lock) {
        return block();
    }
    let (op, request) = (Op::ReadAcquire, Some(Op::ReadRequest));
    let taking = Taking {
        object: lock,
        pc,
        op,
        request,
        limit,
    };
    // SAFETY: see `mutex_init`.
    taking.run(|| unsafe { real::pthread_rwlock_tryrdlock(lock) }, block)
}

fn take_write(lock: usize, pc: usize, limit: Limit, block: impl FnOnce() -> c_int) -> c_int {
    if threads::visible() && is_writer(lock) {
        return block();
    }
    let taking = Taking {
        object: lock,
        pc,
        op: Op::Acquire,
        request: Some(Op::Request),
        limit,
    };
    // SAFETY: see `mutex_init`.
    taking.run(|| unsafe { real::pthread_rwlock_trywrlock(lock) }, block)
}

unsafe extern "C" fn rwlock_rdlock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_read(lock, caller(), Limit::None, || unsafe {
        real::pthread_rwlock_rdlock(lock)
    })
}

unsafe extern "C" fn rwlock_timedrdlock(lock: usize, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_read(
        lock,
        caller(),
        unsafe { Limit::until(libc::CLOCK_REALTIME, time) },
        || unsafe { real::pthread_rwlock_timedrdlock(lock, time) },
    )
}

unsafe extern "C" fn rwlock_clockrdlock(lock: usize, clock: c_int, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_read(
        lock,
        caller(),
        unsafe { Limit::until(clock, time) },
        || unsafe { real::pthread_rwlock_clockrdlock(lock, clock, time) },
    )
}

unsafe extern "C" fn rwlock_tryrdlock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    attempt(Op::ReadAcquire, lock, caller(), || unsafe {
        real::pthread_rwlock_tryrdlock(lock)
    })
}

unsafe extern "C" fn rwlock_wrlock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_write(lock, caller(), Limit::None, || unsafe {
        real::pthread_rwlock_wrlock(lock)
    })
}

unsafe extern "C" fn rwlock_timedwrlock(lock: usize, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_write(
        lock,
        caller(),
        unsafe { Limit::until(libc::CLOCK_REALTIME, time) },
        || unsafe { real::pthread_rwlock_timedwrlock(lock, time) },
    )
}

unsafe extern "C" fn rwlock_clockwrlock(lock: usize, clock: c_int, time: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    take_write(
        lock,
        caller(),
        unsafe { Limit::until(clock, time) },
        || unsafe { real::pthread_rwlock_clockwrlock(lock, clock, time) },
    )
}

unsafe extern "C" fn rwlock_trywrlock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    attempt(Op::Acquire, lock, caller(), || unsafe {
        real::pthread_rwlock_trywrlock(lock)
    })
}

/// glibc keeps the number of a writer's kernel thread at this offset, and zero for readers.
const RWLOCK_WRITER: usize = 24;

unsafe extern "C" fn rwlock_unlock(lock: usize) -> c_int {
    // SAFETY: an initialised read-write lock of the program is larger than this.
    let writer = unsafe { ((lock + RWLOCK_WRITER) as *const i32).read_volatile() };
    let op = if writer != 0 {
        Op::Release
    } else {
        Op::ReadRelease
    };
    // SAFETY: see `mutex_init`.
    give(op, lock, caller(), || unsafe {
        real::pthread_rwlock_unlock(lock)
    })
}

unsafe extern "C" fn spin_init(lock: usize, shared: c_int) -> c_int {
    let pc = caller();
    // SAFETY: see `mutex_init`.
    noted(Op::Init, lock, pc, unsafe {
        real::pthread_spin_init(lock, shared)
    })
}

unsafe extern "C" fn spin_destroy(lock: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Destroy, lock, 0, pc);
    // SAFETY: see `mutex_init`.
    noted(Op::Destroy, lock, pc, unsafe {
        real::pthread_spin_destroy(lock)
    })
}

unsafe extern "C" fn spin_lock(lock: usize) -> c_int {
    let (op, request) = (Op::Acquire, Some(Op::Request));
    let taking = Taking {
        object: lock,
        pc: caller(),
        op,
        request,
        limit: Limit::None,
    };
    // SAFETY: see `mutex_init`.
    taking.run(
        || unsafe { real::pthread_spin_trylock(lock) },
        || unsafe { real::pthread_spin_lock(lock) },
    )
}

unsafe extern "C" fn spin_trylock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    attempt(Op::Acquire, lock, caller(), || unsafe {
        real::pthread_spin_trylock(lock)
    })
}

unsafe extern "C" fn spin_unlock(lock: usize) -> c_int {
    // SAFETY: see `mutex_init`.
    give(Op::Release, lock, caller(), || unsafe {
        real::pthread_spin_unlock(lock)
    })
}
