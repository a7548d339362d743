//! What a statement of a program does.

/// A memory order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// Whether a load of this order takes what was released.
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a store of this order releases.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// An integer variable that threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Var {
    /// A plain one.
    Plain(usize),
    /// An atomic one, accessed as if it were plain.
    Atomic(usize),
    /// So many bytes of eight, which other statements access by other widths.
    Part {
        /// Which eight bytes.
        area: usize,
        /// The first of them.
        at: u8,
        /// 1, 2, 4 or 8.
        width: u8,
    },
    /// The same of a heap block.
    Block {
        /// Which block.
        block: usize,
        /// The first byte.
        at: u8,
        /// 1, 2, 4 or 8.
        width: u8,
    },
}

/// What an atomic read-modify-write computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Sub,
    Or,
    And,
    Xor,
}

impl Arithmetic {
    /// What is stored.
    #[must_use]
    pub fn of(self, old: i32, by: i32) -> i32 {
        match self {
            Arithmetic::Add => old.wrapping_add(by),
            Arithmetic::Sub => old.wrapping_sub(by),
            Arithmetic::Or => old | by,
            Arithmetic::And => old & by,
            Arithmetic::Xor => old ^ by,
        }
    }

    /// Its name in all three languages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Or => "or",
            Arithmetic::And => "and",
            Arithmetic::Xor => "xor",
        }
    }
}

/// What is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Value {
    /// This number.
    Const(i16),
    /// A local variable and so much.
    Local(usize, i16),
}

/// How a lock or a semaphore is asked for by who can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asking {
    /// At once or not at all.
    Try,
    /// For a while.
    Timed,
    /// As long as it takes, but a checked mutex may refuse.
    Checked,
}

/// A statement and its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// Names the line; set by [`Program::number`].
    pub id: u32,
    /// What it does.
    pub act: Act,
}

impl From<Act> for Node {
    fn from(act: Act) -> Self {
        Node { id: 0, act }
    }
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Act {
    /// `local = var`
    Read {
        local: usize,
        var: Var,
    },
    /// `var = value`
    Write {
        var: Var,
        value: Value,
    },
    /// `var += by`, a read and a write
    Add {
        var: Var,
        by: i16,
    },
    Load {
        local: usize,
        atomic: usize,
        order: Order,
    },
    Store {
        atomic: usize,
        value: Value,
        order: Order,
    },
    /// A read whose value goes nowhere
    Touch {
        var: Var,
    },
    /// `memcpy` from the first bytes of one area to those of another, a read and a write
    Copy {
        from: usize,
        to: usize,
        bytes: u8,
    },
    /// `memset` of the first bytes
    Fill {
        area: usize,
        value: u8,
        bytes: u8,
    },
    /// `free`, `delete`, the drop of a `Box`: a write of all its bytes
    Free {
        block: usize,
    },
    /// `local = fetch_add` and its kin
    Fetch {
        local: usize,
        atomic: usize,
        how: Arithmetic,
        by: i16,
        order: Order,
    },
    /// `local = exchange`
    Exchange {
        local: usize,
        atomic: usize,
        value: Value,
        order: Order,
    },
    /// `local = compare_exchange_strong`, 1 if it did
    Cas {
        local: usize,
        atomic: usize,
        expected: i16,
        desired: i16,
        success: Order,
        failure: Order,
    },
    Fence {
        order: Order,
    },
    Lock {
        mutex: usize,
    },
    Unlock {
        mutex: usize,
    },
    /// `if (it was had) { body }`; the body gives it back
    IfLock {
        mutex: usize,
        asking: Asking,
        body: Vec<Node>,
    },
    LockShared {
        rwlock: usize,
    },
    LockExclusive {
        rwlock: usize,
    },
    UnlockShared {
        rwlock: usize,
    },
    UnlockExclusive {
        rwlock: usize,
    },
    /// `if (it was had, at once or in time) { body }`; the body gives it back
    IfRwlock {
        rwlock: usize,
        exclusive: bool,
        timed: bool,
        body: Vec<Node>,
    },
    Acquire {
        semaphore: usize,
    },
    Post {
        semaphore: usize,
    },
    /// `if (sem_trywait) { body }`
    IfAcquire {
        semaphore: usize,
        timed: bool,
        body: Vec<Node>,
    },
    /// Writes a byte into a pipe or socket
    Send {
        channel: usize,
    },
    /// `local = bytes read`: 1, or 0 when all is read and closed
    Receive {
        channel: usize,
        local: usize,
    },
    /// Closes the end that is written to
    Close {
        channel: usize,
    },
    /// `while (var != until)` on one line, `wait` on the next, whose number is the next one
    Await {
        condition: usize,
        mutex: usize,
        var: Var,
        until: i16,
    },
    /// One wait, without a loop
    Wait {
        condition: usize,
        mutex: usize,
    },
    /// `local = timed out`
    TimedWait {
        condition: usize,
        mutex: usize,
        local: usize,
    },
    Signal {
        condition: usize,
    },
    Broadcast {
        condition: usize,
    },
    Barrier {
        barrier: usize,
    },
    Once {
        once: usize,
    },
    If {
        local: usize,
        equals: i16,
        body: Vec<Node>,
    },
    Repeat {
        times: usize,
        body: Vec<Node>,
    },
    /// Aborts unless `local == equals`
    Check {
        local: usize,
        equals: i16,
    },
    Create {
        thread: usize,
    },
    Join {
        thread: usize,
    },
    Detach {
        thread: usize,
    },
    /// Main only: prints a variable, which is a plain read, or of an atomic a seq_cst load
    Print {
        var: Var,
    },
    Yield,
    /// A very short one
    Sleep,
    /// `exit(0)`, or without `flush` `_exit(0)`
    Exit {
        flush: bool,
    },
    /// `pthread_exit`
    Leave,
}

impl Act {
    /// The statements inside.
    #[must_use]
    pub fn body(&self) -> Option<&Vec<Node>> {
        match self {
            Act::IfLock { body, .. }
            | Act::IfRwlock { body, .. }
            | Act::IfAcquire { body, .. }
            | Act::If { body, .. }
            | Act::Repeat { body, .. } => Some(body),
            _ => None,
        }
    }

    /// The statements inside, to change.
    pub fn body_mut(&mut self) -> Option<&mut Vec<Node>> {
        match self {
            Act::IfLock { body, .. }
            | Act::IfRwlock { body, .. }
            | Act::IfAcquire { body, .. }
            | Act::If { body, .. }
            | Act::Repeat { body, .. } => Some(body),
            _ => None,
        }
    }
}
