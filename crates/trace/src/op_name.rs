//! What operations are called in JSON and statistics: whole words.

use crate::Op;

/// The name of an operation.
pub(crate) const fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::AtomicRead => "atomic_read",
        Op::AtomicWrite => "atomic_write",
        Op::AtomicRmw => "atomic_rmw",
        Op::Fence => "fence",
        Op::Acquire => "acquire",
        Op::Release => "release",
        Op::ReadAcquire => "read_acquire",
        Op::ReadRelease => "read_release",
        Op::Request => "request",
        Op::ReadRequest => "read_request",
        Op::Fork => "fork",
        Op::Begin => "begin",
        Op::End => "end",
        Op::Join => "join",
        Op::Wait => "wait",
        Op::Wake => "wake",
        Op::Timeout => "timeout",
        Op::Notify => "notify",
        Op::NotifyAll => "notify_all",
        Op::BarrierEnter => "barrier_enter",
        Op::BarrierExit => "barrier_exit",
        Op::Post => "post",
        Op::Take => "take",
        Op::Send => "send",
        Op::Receive => "receive",
        Op::FutexWait => "futex_wait",
        Op::FutexWoken => "futex_woken",
        Op::FutexWake => "futex_wake",
        Op::Init => "init",
        Op::Destroy => "destroy",
        Op::Alloc => "alloc",
        Op::Free => "free",
        Op::Enter => "enter",
        Op::Leave => "leave",
        Op::Branch => "branch",
        Op::ExternalWrite => "external_write",
        Op::Lost => "lost",
    }
}
