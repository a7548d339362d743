//! An event: who did what to which thing, where in the program. Sixteen bytes.

use deadheat_wire::TRIED;

use crate::{Addr, LockId, Op, Order, Pc, SyncId, ThreadId};

/// One event of a trace.
///
/// What it speaks of depends on its operation: an access has [`addr`](Event::addr) and
/// [`size`](Event::size), a lock operation [`lock`](Event::lock), a fork or join
/// [`peer`](Event::peer), everything else that synchronises [`sync`](Event::sync).
///
/// ```
/// use deadheat_trace::{Addr, Event, Op, Pc, ThreadId};
///
/// let write = Event::access(ThreadId(0), Op::Write, Addr(0x1000), 4, Pc(7));
/// let read = Event::access(ThreadId(1), Op::Read, Addr(0x1003), 1, Pc(9));
/// assert!(write.conflicts_with(&read));
/// ```
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    /// Target in the low 48 bits; above it the size, or for atomics size and order.
    target: u64,
    pc: Pc,
    /// Thread in the low 22 bits, then the operation (8 bits), then which values are known (2).
    who: u32,
}

const _: () = assert!(size_of::<Event>() == 16);
const _: () = assert!(size_of::<Step>() == 32);

const TARGET_BITS: u32 = 48;
const TARGET_MASK: u64 = (1 << TARGET_BITS) - 1;
const THREAD_MASK: u32 = (1 << 22) - 1;
const READ_KNOWN: u32 = 1 << 30;
const WRITTEN_KNOWN: u32 = 1 << 31;
const ORDER_SHIFT: u32 = TARGET_BITS + 8;

impl Event {
    /// The largest number a thread may have.
    pub const MAX_THREAD: u32 = THREAD_MASK;
    /// The largest size of one access event; larger ranges are several events.
    pub const MAX_SIZE: u64 = u16::MAX as u64;

    /// An event with a target in the low 48 bits of `target`.
    #[inline]
    pub const fn new(thread: ThreadId, op: Op, target: u64, pc: Pc) -> Self {
        Event {
            target: target & TARGET_MASK,
            pc,
            who: thread.0 & THREAD_MASK | (op as u32) << 22,
        }
    }

    /// A plain or external access.
    #[inline]
    pub const fn access(thread: ThreadId, op: Op, addr: Addr, size: u16, pc: Pc) -> Self {
        let mut event = Event::new(thread, op, addr.0, pc);
        event.target |= (size as u64) << TARGET_BITS;
        event
    }

    /// An atomic access of at most 16 bytes, or a fence (size 0).
    #[inline]
    pub const fn atomic(
        thread: ThreadId,
        op: Op,
        addr: Addr,
        size: u8,
        order: Order,
        pc: Pc,
    ) -> Self {
        let mut event = Event::new(thread, op, addr.0, pc);
        event.target |= (size as u64) << TARGET_BITS | (order as u64) << ORDER_SHIFT;
        event
    }

    /// Who did it.
    #[inline]
    pub const fn thread(&self) -> ThreadId {
        ThreadId(self.who & THREAD_MASK)
    }

    /// What was done.
    #[inline]
    pub const fn op(&self) -> Op {
        match Op::from_number((self.who >> 22) as u8) {
            Some(op) => op,
            None => unreachable!(),
        }
    }

    /// Where in the program.
    #[inline]
    pub const fn pc(&self) -> Pc {
        self.pc
    }

    /// The same, done somewhere else.
    #[must_use]
    pub const fn with_pc(mut self, pc: Pc) -> Self {
        self.pc = pc;
        self
    }

    /// The target as a plain number, whatever it names.
    #[inline]
    pub const fn target(&self) -> u64 {
        self.target & TARGET_MASK
    }

    /// The address of an access, allocation or release of memory.
    #[inline]
    pub const fn addr(&self) -> Addr {
        Addr(self.target())
    }

    /// The size of an access in bytes.
    #[inline]
    pub const fn size(&self) -> u64 {
        if matches!(self.op(), Op::Fence) || self.op().is_atomic() {
            self.target >> TARGET_BITS & 0xFF
        } else {
            self.target >> TARGET_BITS
        }
    }

    /// The memory order of an atomic access or fence.
    #[inline]
    pub const fn order(&self) -> Order {
        Order::from_number((self.target >> ORDER_SHIFT) as u8)
    }

    /// The lock of a lock operation.
    #[inline]
    pub const fn lock(&self) -> LockId {
        LockId(self.target() as u32)
    }

    /// The object of any other synchronisation.
    #[inline]
    pub const fn sync(&self) -> SyncId {
        SyncId(self.target() as u32)
    }

    /// The other thread of a fork or join.
    #[inline]
    pub const fn peer(&self) -> ThreadId {
        ThreadId(self.target() as u32)
    }

    /// Whether it names a lock: see [`Event::lock`].
    #[inline]
    pub const fn is_lock_op(&self) -> bool {
        matches!(
            self.op(),
            Op::Acquire
                | Op::Release
                | Op::ReadAcquire
                | Op::ReadRelease
                | Op::Request
                | Op::ReadRequest
                | Op::Refused
                | Op::ReadRefused
        )
    }

    /// Whether the bytes of two accesses overlap.
    #[inline]
    pub const fn overlaps(&self, other: &Event) -> bool {
        let (a, b) = (self.target(), other.target());
        a < b + other.size() && b < a + self.size()
    }

    /// Whether two accesses of different threads touch the same bytes, at least one of them
    /// writes, and not both are atomic.
    #[inline]
    pub const fn conflicts_with(&self, other: &Event) -> bool {
        let (a, b) = (self.op(), other.op());
        a.is_access()
            && b.is_access()
            && self.thread().0 != other.thread().0
            && (a.writes() || b.writes())
            && !(a.is_atomic() && b.is_atomic())
            && self.overlaps(other)
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}|{:?}({:#x}", self.thread(), self.op(), self.target())?;
        if self.op().is_access() {
            write!(f, ":{}", self.size())?;
        }
        if self.op().is_atomic() {
            write!(f, ",{:?}", self.order())?;
        }
        write!(f, ")|{}", self.pc())
    }
}

/// An event with its values: what a read saw and what a write left behind, where the trace
/// knows it. For [`Op::Alloc`] the *written* value is the size of the block, for a barrier's
/// [`Op::Init`] how many threads it waits for, for [`Op::Lost`] how many events are missing. An
/// acquisition has one if the lock was only tried for: see [`Step::was_tried`]. So has a semaphore's
/// [`Op::Init`]: what it holds.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The event.
    pub event: Event,
    read: u64,
    written: u64,
}

impl Step {
    /// A step whose values are not known.
    #[inline]
    pub const fn new(event: Event) -> Self {
        Step {
            event,
            read: 0,
            written: 0,
        }
    }

    /// The same step with the value that was read.
    #[inline]
    pub const fn with_read(mut self, value: u64) -> Self {
        self.read = value;
        self.event.who |= READ_KNOWN;
        self
    }

    /// The same step with the value that was written.
    #[inline]
    pub const fn with_written(mut self, value: u64) -> Self {
        self.written = value;
        self.event.who |= WRITTEN_KNOWN;
        self
    }

    /// The value that was read, if the trace knows it.
    #[inline]
    pub const fn read(&self) -> Option<u64> {
        if self.event.who & READ_KNOWN != 0 {
            Some(self.read)
        } else {
            None
        }
    }

    /// The value that was written (or the size, count or number that the event carries).
    #[inline]
    pub const fn written(&self) -> Option<u64> {
        if self.event.who & WRITTEN_KNOWN != 0 {
            Some(self.written)
        } else {
            None
        }
    }
}

impl Step {
    /// Whether it got something that it would not have waited for without end: a lock or a semaphore that was only tried
    /// for, or one of these or a condition that was waited for with a time limit.
    ///
    /// ```
    /// use deadheat_trace::text;
    /// let trace = text::parse("T0|acq(\"m\"=1)|1\nT0|acq(n)|2\n")?;
    /// assert!(trace.steps[0].was_tried() && !trace.steps[1].was_tried());
    /// # Ok::<(), text::ParseError>(())
    /// ```
    pub const fn was_tried(&self) -> bool {
        let op = self.event.op();
        matches!(op, Op::Acquire | Op::ReadAcquire | Op::Take | Op::Wake)
            && matches!(self.written(), Some(TRIED))
    }
}

impl Step {
    /// The thread that a send cancels: such a send carries the thread's number, counted from 1.
    ///
    /// ```
    /// use deadheat_trace::{ThreadId, text};
    /// let trace = text::parse("T0|send(h=2)|1\nT0|send(h)|2\n")?;
    /// assert_eq!(trace.steps[0].cancels(), Some(ThreadId(1)));
    /// assert_eq!(trace.steps[1].cancels(), None);
    /// # Ok::<(), text::ParseError>(())
    /// ```
    pub const fn cancels(&self) -> Option<ThreadId> {
        match (self.event.op(), self.written()) {
            (Op::Send, Some(number @ 1..)) => Some(ThreadId((number - 1) as u32)),
            _ => None,
        }
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.event)?;
        if let Some(value) = self.read() {
            write!(f, " read {value:#x}")?;
        }
        if let Some(value) = self.written() {
            write!(f, " wrote {value:#x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let event = Event::atomic(
            ThreadId(Event::MAX_THREAD),
            Op::AtomicRmw,
            Addr(0x7FFF_FFFF_FFF0),
            16,
            Order::SeqCst,
            Pc(u32::MAX),
        );
        let step = Step::new(event).with_read(1).with_written(2);
        let event = step.event;
        assert_eq!(event.thread(), ThreadId(Event::MAX_THREAD));
        assert_eq!(
            (event.op(), event.order(), event.size()),
            (Op::AtomicRmw, Order::SeqCst, 16)
        );
        assert_eq!(
            (event.addr(), event.pc()),
            (Addr(0x7FFF_FFFF_FFF0), Pc(u32::MAX))
        );
        assert_eq!((step.read(), step.written()), (Some(1), Some(2)));
    }

    #[test]
    fn conflicts_need_two_threads_a_write_and_a_plain_access() {
        let at = |thread, op, addr| Event::access(ThreadId(thread), op, Addr(addr), 4, Pc(0));
        let atomic = |thread, op, addr| {
            Event::atomic(ThreadId(thread), op, Addr(addr), 4, Order::SeqCst, Pc(0))
        };
        assert!(at(0, Op::Write, 8).conflicts_with(&at(1, Op::Read, 11)));
        assert!(!at(0, Op::Write, 8).conflicts_with(&at(1, Op::Read, 12)));
        assert!(!at(0, Op::Read, 8).conflicts_with(&at(1, Op::Read, 8)));
        assert!(!at(0, Op::Write, 8).conflicts_with(&at(0, Op::Write, 8)));
        assert!(atomic(0, Op::AtomicWrite, 8).conflicts_with(&at(1, Op::Read, 8)));
        assert!(!atomic(0, Op::AtomicWrite, 8).conflicts_with(&atomic(1, Op::AtomicRead, 8)));
    }
}
