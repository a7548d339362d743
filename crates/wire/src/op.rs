//! What an event does: one number per operation, the same in memory, on disk and in the runtime.

/// An operation of a thread.
///
/// The number of each is part of the on-disk format: new ones are added at the end, none is
/// reused.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// A plain read of memory.
    Read = 1,
    /// A plain write of memory.
    Write = 2,
    /// An atomic load, or a compare-and-swap that failed.
    AtomicRead = 3,
    /// An atomic store.
    AtomicWrite = 4,
    /// An atomic read-modify-write, or a compare-and-swap that succeeded.
    AtomicRmw = 5,
    /// A stand-alone fence.
    Fence = 6,
    /// A lock was taken, for writing if it is a read-write lock. Re-entrant locks: every time.
    Acquire = 7,
    /// A lock is given back.
    Release = 8,
    /// A read-write lock was taken for reading.
    ReadAcquire = 9,
    /// A read-write lock that was held for reading is given back.
    ReadRelease = 10,
    /// The thread found a lock taken and starts to wait for it.
    Request = 11,
    /// The same for a read-write lock that is wanted for reading.
    ReadRequest = 12,
    /// A thread was created.
    Fork = 13,
    /// The first event of a thread.
    Begin = 14,
    /// The last event of a thread.
    End = 15,
    /// Another thread's end was waited for.
    Join = 16,
    /// Starts to wait at a condition; the lock's release stands just before it, or comes after it if the condition is heard from then on.
    Wait = 17,
    /// Was woken at a condition; the lock's acquisition follows.
    Wake = 18,
    /// Stopped waiting at a condition because the time was up; the lock's acquisition follows.
    Timeout = 19,
    /// Wakes one waiter of a condition, if there is one.
    Notify = 20,
    /// Wakes all waiters of a condition.
    NotifyAll = 21,
    /// Arrived at a barrier.
    BarrierEnter = 22,
    /// Left a barrier.
    BarrierExit = 23,
    /// Raised a semaphore.
    Post = 24,
    /// Lowered a semaphore.
    Take = 25,
    /// Sends on a channel: everything before is visible to whoever receives.
    Send = 26,
    /// Receives from a channel.
    Receive = 27,
    /// Goes to sleep on a futex.
    FutexWait = 28,
    /// Returned from sleeping on a futex.
    FutexWoken = 29,
    /// Wakes sleepers of a futex.
    FutexWake = 30,
    /// A synchronisation object was initialised.
    Init = 31,
    /// A synchronisation object was destroyed.
    Destroy = 32,
    /// A block of heap memory was handed out.
    Alloc = 33,
    /// A block of heap memory is given back.
    Free = 34,
    /// A function was entered.
    Enter = 35,
    /// A function is left.
    Leave = 36,
    /// The thread's control flow may have depended on what it read before.
    Branch = 37,
    /// Memory was changed by code that is not instrumented.
    ExternalWrite = 38,
    /// Events are missing here.
    Lost = 39,
    /// A lock was tried for and not got, at once or before the time was up: somebody had it.
    Refused = 40,
    /// The same for a read-write lock that was wanted for reading.
    ReadRefused = 41,
    /// A semaphore was tried for and not got: it was at zero.
    TakeRefused = 42,
    /// Waits for another thread's end. Written down only if that never came: the recording ends in a deadlock.
    JoinRequest = 43,
    /// The same for a semaphore that is at zero.
    TakeRequest = 44,
    /// The same for a notification of a condition at which the thread began to wait before it gave the lock back.
    WakeRequest = 45,
    /// Ends the process: returns from `main`, exits, aborts. Threads that had not ended could have done more before it.
    Exit = 46,
    /// A channel was looked into without waiting, and there was nothing to receive, or no room to send.
    ReceiveRefused = 47,
}

/// The number that an acquisition carries if the lock was only tried for: had it been taken, the
/// thread would not have waited, or not without end. So do what takes from a semaphore and what is woken.
pub const TRIED: u64 = 1;

impl Op {
    /// All operations, in the order of their numbers.
    pub const ALL: [Op; 47] = [
        Op::Read,
        Op::Write,
        Op::AtomicRead,
        Op::AtomicWrite,
        Op::AtomicRmw,
        Op::Fence,
        Op::Acquire,
        Op::Release,
        Op::ReadAcquire,
        Op::ReadRelease,
        Op::Request,
        Op::ReadRequest,
        Op::Fork,
        Op::Begin,
        Op::End,
        Op::Join,
        Op::Wait,
        Op::Wake,
        Op::Timeout,
        Op::Notify,
        Op::NotifyAll,
        Op::BarrierEnter,
        Op::BarrierExit,
        Op::Post,
        Op::Take,
        Op::Send,
        Op::Receive,
        Op::FutexWait,
        Op::FutexWoken,
        Op::FutexWake,
        Op::Init,
        Op::Destroy,
        Op::Alloc,
        Op::Free,
        Op::Enter,
        Op::Leave,
        Op::Branch,
        Op::ExternalWrite,
        Op::Lost,
        Op::Refused,
        Op::ReadRefused,
        Op::TakeRefused,
        Op::JoinRequest,
        Op::TakeRequest,
        Op::WakeRequest,
        Op::Exit,
        Op::ReceiveRefused,
    ];

    /// The operation with this number.
    ///
    /// ```
    /// use deadheat_wire::Op;
    /// assert_eq!(Op::from_number(7), Some(Op::Acquire));
    /// assert_eq!(Op::from_number(0), None);
    /// ```
    #[inline]
    pub const fn from_number(number: u8) -> Option<Op> {
        if number == 0 || number as usize > Self::ALL.len() {
            None
        } else {
            Some(Self::ALL[number as usize - 1])
        }
    }

    /// Whether it reads or writes a program's memory, atomically or not.
    #[inline]
    pub const fn is_access(self) -> bool {
        (self as u8) <= Op::AtomicRmw as u8 || matches!(self, Op::ExternalWrite)
    }

    /// Whether it is an atomic access.
    #[inline]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw)
    }

    /// Whether it reads memory.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self, Op::Read | Op::AtomicRead | Op::AtomicRmw)
    }

    /// Whether it writes memory.
    #[inline]
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Op::Write | Op::AtomicWrite | Op::AtomicRmw | Op::ExternalWrite
        )
    }
}

/// The memory order of an atomic access or fence, numbered as the compilers number it.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// No order.
    Relaxed = 0,
    /// Treated as acquire by every compiler there is.
    Consume = 1,
    /// Orders what follows.
    Acquire = 2,
    /// Orders what precedes.
    Release = 3,
    /// Both.
    AcqRel = 4,
    /// Both, and part of the single total order.
    SeqCst = 5,
}

impl Order {
    /// The order with this number; what compilers do not define counts as the strongest.
    #[inline]
    pub const fn from_number(number: u8) -> Order {
        match number {
            0 => Order::Relaxed,
            1 => Order::Consume,
            2 => Order::Acquire,
            3 => Order::Release,
            4 => Order::AcqRel,
            _ => Order::SeqCst,
        }
    }

    /// Whether an access of this order acquires.
    #[inline]
    pub const fn acquires(self) -> bool {
        !matches!(self, Order::Relaxed | Order::Release)
    }

    /// Whether an access of this order releases.
    #[inline]
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn numbers_and_table_agree() {
        for (i, op) in Op::ALL.iter().enumerate() {
            assert_eq!(*op as usize, i + 1);
            assert_eq!(Op::from_number(*op as u8), Some(*op));
        }
        assert_eq!(Op::from_number(Op::ALL.len() as u8 + 1), None);
        assert!(Op::ALL.len() < 64, "six bits on disk");
    }
}
