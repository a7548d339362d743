//! Stand-ins for the C library's functions that create, order, block and end threads, or that
//! touch the program's memory on its behalf. One file per family; each function says what the
//! program does, then lets the real one ([`real`]) do it.
//!
//! In a parallel recording a taking operation is recorded after it has succeeded and a giving
//! one before it takes effect; so the sequence numbers of one object's events are in the order
//! in which they happened. An attempt in vain is recorded after it: whoever made it fail may be gone by
//! then. In a serial recording nothing ever blocks in the C library: an
//! operation is tried, and where it would block the scheduler runs others until it is worth
//! trying again.

mod affinity;
mod at_end;
mod at_thread_exit;
pub mod barrier;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod c11;
pub mod channel;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod children;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod clock;
pub mod condition;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod connect;
mod counted;
mod credentials;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod descriptor;
pub mod ends;
mod fifo;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod file_change;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod file_lock;
mod futex;
mod heap;
pub mod identity;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod libatomic;
pub mod lock;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
pub mod mapping;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod message_queue;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod number;
mod once;
mod peer;
mod pidfd;
mod print;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod random;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod readiness;
pub mod real;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod relay;
mod removed;
pub mod robust;
mod room;
mod semaphore;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
pub mod shared;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
pub mod signal;
mod sleep;
pub mod spare;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod spawn;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of each file"
)]
mod stream;
mod string;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod system_v;
pub mod thread;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod timer;
mod unwind;

pub use once::Attempt;
pub use real::resolve;

use core::ffi::c_int;

use deadheat_wire::Op;

use crate::local::Inside;
use crate::record::event::Sync;
use crate::record::{Mode, handler, mode};
use crate::serial::endings::Kind;
use crate::serial::{self, Limit, Waited};
use crate::threads;
use crate::watch::enforce;

/// An operation that takes something another thread may have: a lock, a semaphore.
struct Taking {
    /// What is taken.
    object: usize,
    /// From where.
    pc: usize,
    /// How it is called once it is done.
    op: Op,
    /// How the wait for it is called, if it has a name.
    request: Option<Op>,
    /// Whether the program gives up after some time.
    limit: Limit,
}

impl Taking {
    /// Takes it: `attempt` never blocks and answers `EBUSY` when it would; `block` is the whole
    /// operation. The answer is an error number, as for most thread functions.
    fn run(&self, attempt: impl Fn() -> c_int, block: impl FnOnce() -> c_int) -> c_int {
        if !threads::visible() {
            return block();
        }
        let request = || {
            if let Some(op) = self.request {
                Sync::new(op, self.object, self.pc).record();
            }
        };
        let serial = mode() == Mode::Serial;
        if serial {
            serial::point_before(self.op, self.object, 0, self.pc);
        }
        let turn = enforce::turn(self.op, self.object, self.pc);
        let mut result = {
            let _inside = Inside::enter();
            attempt()
        };
        if result == libc::EBUSY && mode() == Mode::Watch {
            result = match turn.must_succeed() {
                true => turn.insist(&attempt),
                false => try_again(&attempt),
            };
        }
        if result == libc::EBUSY {
            request();
            result = if serial { self.wait(attempt) } else { block() };
        }
        let is_taken = result == 0 || result == libc::EOWNERDEAD;
        if result == libc::EOWNERDEAD {
            lock::inherited(self.object, self.pc);
        }
        if is_taken && self.op == Op::Take {
            semaphore::lowered(self.object);
        }
        if is_taken {
            self.limit
                .mark(Sync::new(self.op, self.object, self.pc))
                .record();
        } else {
            refused(self.op, self.object, self.pc, result);
        }
        turn.done(is_taken);
        result
    }

    /// Waits and tries again until it is done, in a serial recording.
    fn wait(&self, attempt: impl Fn() -> c_int) -> c_int {
        let is_named = self.request.is_some();
        let unended = (!is_named).then(|| Sync::new(Op::TakeRequest, self.object, self.pc));
        let kind = match self.op {
            Op::Take => Kind::Semaphore,
            _ => Kind::Lock,
        };
        let deadline = match self.limit {
            Limit::None => u64::MAX,
            Limit::After(time) => serial::time().saturating_add(time),
        };
        loop {
            let limit = match self.limit {
                Limit::None => Limit::None,
                Limit::After(_) => Limit::After(deadline.saturating_sub(serial::time())),
            };
            let waited = serial::wait_to_retry(self.object, kind, limit, unended);
            match (attempt(), waited) {
                (libc::EBUSY, Waited::TimedOut) => return libc::ETIMEDOUT,
                (libc::EBUSY, Waited::Interrupted) => return libc::EINTR,
                (libc::EBUSY, Waited::Cancelled) => thread::act_on_cancellation(self.pc),
                (libc::EBUSY, _) => {}
                (result, _) => return result,
            }
        }
    }
}

/// Records that something was tried for and not got, for the reason that others have it: what the
/// thread does next depends on that. `op` is what it would have been. Live detection has no use for it.
pub fn refused(op: Op, object: usize, pc: usize, error: c_int) {
    if !matches!(error, libc::EBUSY | libc::ETIMEDOUT | libc::EAGAIN) || mode() == Mode::Watch {
        return;
    }
    let refused = match op {
        Op::ReadAcquire => Op::ReadRefused,
        Op::Take => Op::TakeRefused,
        _ => Op::Refused,
    };
    Sync::new(refused, object, pc).record();
}

/// Tries for a microsecond or two. Watched critical sections are long, but seldom as long as it takes
/// to sleep and to be woken.
fn try_again(attempt: impl Fn() -> c_int) -> c_int {
    const ATTEMPTS: usize = 16;
    const PAUSES: usize = 8;
    for _ in 0..ATTEMPTS {
        for _ in 0..PAUSES {
            core::hint::spin_loop();
        }
        match attempt() {
            libc::EBUSY => {}
            result => return result,
        }
    }
    libc::EBUSY
}

/// Gives something back that others may wait for: recorded, done, and others told.
fn give(op: Op, object: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !threads::visible() {
        handler::keep(op, object, pc);
        let result = real();
        // Whoever waits for it may be one of the recorded threads.
        serial::wake_from_outside();
        return result;
    }
    if mode() == Mode::Serial {
        serial::gate(op, object, 0, pc);
        serial::settle();
        let result = {
            let _inside = Inside::enter();
            real()
        };
        if result == 0 {
            Sync::new(op, object, pc).record();
            serial::wake(object, usize::MAX);
        }
        return result;
    }
    let turn = enforce::turn(op, object, pc);
    Sync::new(op, object, pc).record();
    let result = real();
    turn.done(true);
    result
}
