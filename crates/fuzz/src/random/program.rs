//! Small programs as trees: what the generator makes, the interpreter knows the truth of, and the renderers
//! write in three languages.
//!
//! Every statement that does something to shared state has a number, and stands on a line of its own when it
//! is rendered.

use std::fmt;

/// What a program is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// pthreads and C11 atomics.
    C,
    /// The classes of C++20.
    Cpp,
    /// `std::sync` and `std::thread`.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

    /// The ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rs",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Rust => "Rust",
        })
    }
}

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

/// What kind of mutual exclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutexKind {
    /// Taken twice by one thread, it never comes back.
    Normal,
    /// May be taken again by its owner.
    Recursive,
    /// Refuses its owner.
    Checked,
    /// A spin lock.
    Spin,
}

/// An integer variable that threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Var {
    /// A plain one.
    Plain(usize),
    /// An atomic one, accessed as if it were plain.
    Atomic(usize),
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
    /// `local = fetch_add`
    FetchAdd {
        local: usize,
        atomic: usize,
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
    /// `if (tryrdlock or trywrlock) { body }`; the body gives it back
    IfRwlock {
        rwlock: usize,
        exclusive: bool,
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
    /// `exit(0)`, or without `flush` `_exit(0)`
    Exit {
        flush: bool,
    },
    /// `pthread_exit`
    Leave,
}

/// How many local variables a thread has; the last is a thread-local.
pub const LOCALS: usize = 4;
/// How many threads there are at most, with main.
pub const THREADS: usize = 5;

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// What names it.
    pub seed: u64,
    /// What it is written in.
    pub language: Language,
    /// How many plain variables.
    pub plain: usize,
    /// How many atomic ones.
    pub atomics: usize,
    /// The mutexes and spin locks.
    pub mutexes: Vec<MutexKind>,
    /// How many read-write locks.
    pub rwlocks: usize,
    /// The semaphores, with their first values.
    pub semaphores: Vec<u8>,
    /// How many condition variables.
    pub conditions: usize,
    /// The barriers, with their sizes.
    pub barriers: Vec<u8>,
    /// What is done once. These bodies use no local variables and nothing that waits.
    pub onces: Vec<Vec<Node>>,
    /// The threads; the first is main.
    pub threads: Vec<Vec<Node>>,
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

impl Program {
    /// Gives every statement its number, from 1 on.
    pub fn number(&mut self) {
        fn walk(nodes: &mut [Node], next: &mut u32) {
            for node in nodes {
                node.id = *next;
                *next += if matches!(node.act, Act::Await { .. }) {
                    2
                } else {
                    1
                };
                if let Some(body) = node.act.body_mut() {
                    walk(body, next);
                }
            }
        }
        let mut next = 1;
        for body in self.onces.iter_mut().chain(self.threads.iter_mut()) {
            walk(body, &mut next);
        }
    }

    /// How many statements there are.
    #[must_use]
    pub fn size(&self) -> usize {
        fn walk(nodes: &[Node]) -> usize {
            nodes
                .iter()
                .map(|n| 1 + n.act.body().map_or(0, |b| walk(b)))
                .sum()
        }
        self.onces
            .iter()
            .chain(&self.threads)
            .map(|b| walk(b))
            .sum()
    }

    /// Calls a function with every statement.
    pub fn visit(&self, see: &mut dyn FnMut(&Node)) {
        fn walk(nodes: &[Node], see: &mut dyn FnMut(&Node)) {
            for node in nodes {
                see(node);
                if let Some(body) = node.act.body() {
                    walk(body, see);
                }
            }
        }
        for body in self.onces.iter().chain(&self.threads) {
            walk(body, see);
        }
    }
}
