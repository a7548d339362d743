//! Small programs as trees: what the generator makes, the interpreter knows the truth of, and the renderers
//! write in three languages.
//!
//! Every statement that does something to shared state has a number, and stands on a line of its own when it
//! is rendered.

pub use super::act::{Act, Arithmetic, Asking, Node, Order, Value, Var};
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
    /// A class or type of its own that can be asked for with a time limit.
    Timed,
}

/// Which functions of the C library a program in C uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `pthread_mutex_lock`.
    Posix,
    /// `mtx_lock`, where C11 has it.
    C11,
}

/// What a semaphore is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SemaphoreKind {
    /// `sem_t`, or the language's own.
    Own,
    /// `eventfd` with `EFD_SEMAPHORE`.
    Eventfd,
}

/// What carries bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    /// `pipe`.
    Pipe,
    /// `socketpair`.
    Socket,
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
    /// By which functions, in C.
    pub style: Style,
    /// How many plain variables.
    pub plain: usize,
    /// The atomic ones, with their widths in bytes.
    pub atomics: Vec<u8>,
    /// How many areas of eight bytes.
    pub areas: usize,
    /// How many heap blocks.
    pub blocks: usize,
    /// The mutexes and spin locks.
    pub mutexes: Vec<MutexKind>,
    /// How many read-write locks.
    pub rwlocks: usize,
    /// The semaphores, with their first values.
    pub semaphores: Vec<(SemaphoreKind, u8)>,
    /// Pipes and sockets.
    pub channels: Vec<ChannelKind>,
    /// How many condition variables.
    pub conditions: usize,
    /// The barriers, with their sizes.
    pub barriers: Vec<u8>,
    /// What is done once. These bodies use no local variables and nothing that waits.
    pub onces: Vec<Vec<Node>>,
    /// The threads; the first is main.
    pub threads: Vec<Vec<Node>>,
}

impl Program {
    /// A program without anything in it.
    #[must_use]
    pub fn empty(seed: u64, language: Language) -> Self {
        Program {
            seed,
            language,
            style: Style::Posix,
            plain: 0,
            atomics: Vec::new(),
            areas: 0,
            blocks: 0,
            mutexes: Vec::new(),
            rwlocks: 0,
            semaphores: Vec::new(),
            channels: Vec::new(),
            conditions: 0,
            barriers: Vec::new(),
            onces: Vec::new(),
            threads: Vec::new(),
        }
    }

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
