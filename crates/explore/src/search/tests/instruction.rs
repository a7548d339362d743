//! What threads of small programs do.

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Number(u64),
    /// What the register holds, plus one.
    Next,
}

/// An instruction. Each thread has one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Do {
    Read(u64),
    Write(u64, Value),
    AtomicRead(u64),
    AtomicWrite(u64, Value),
    /// Adds one, and the register holds what was there.
    Add(u64),
    /// Writes this number if there is 0, and then skips so many instructions.
    Cas(u64, u64, usize),
    /// Reads what stands at the index that the register holds.
    ReadAt,
    /// Two bytes of two variables at once.
    WriteBoth(u64),
    Lock(u64),
    Unlock(u64),
    /// Goes on so many instructions further if the lock is taken.
    TryLock(u64, usize),
    ReadLock(u64),
    ReadUnlock(u64),
    TryReadLock(u64, usize),
    /// Waits at the condition, gives the lock back meanwhile.
    Wait(u64, u64),
    TimedWait(u64, u64),
    Notify(u64),
    NotifyAll(u64),
    Post(u64),
    Take(u64),
    /// The register holds 1 if it was got.
    TryTake(u64),
    /// Arrives at a barrier for so many. The register holds 1 for the last one.
    Barrier(u64, usize),
    /// Leaves it.
    Leave(u64),
    /// Sends something into a channel.
    Send(u64),
    /// Waits until there is something, and takes it. The register holds how much there was.
    Receive(u64),
    /// Goes on if nobody has done it, and skips so many instructions once somebody has; waits meanwhile.
    Once(u64, usize),
    /// It is done; whoever has done it finds it done.
    Done(u64),
    Fork(u32),
    Join(u32),
    /// Skips so many instructions unless the register holds this.
    Unless(u64, usize),
    /// Skips so many.
    Skip(usize),
    /// Dies if the register holds this.
    DieIf(u64),
}

impl Do {
    /// Nobody else can notice it.
    pub(super) fn is_local(self) -> bool {
        matches!(self, Do::Unless(..) | Do::Skip(_) | Do::DieIf(_))
    }
}
