//! A state of a program between two steps, with everything that happens-before needs: what each thread and
//! each object knows.

use super::clocks::{Clock, Seen};
use super::memory::objects;
use super::program::{LOCALS, Program, THREADS};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

/// Nobody.
pub const NOBODY: u8 = u8::MAX;

/// How far a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Not created yet.
    Unborn,
    /// In front of the step at its place.
    Ready,
    /// Waits at a condition; the second says whether time can end that.
    Waiting(u8, bool),
    /// Woken, and needs the mutex; with whether time woke it.
    Relocking(bool),
    /// Has come to a barrier that is not full.
    AtBarrier,
    /// Has ended.
    Done,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Which step is next.
    pub pc: usize,
    /// How far it is.
    pub status: Status,
    /// Its variables.
    pub locals: [i32; LOCALS],
    /// The hidden register of `+=` and of copies.
    pub register: u64,
    /// What it knows.
    pub clock: Clock,
    /// What it knew at its last release fence.
    pub fence: Clock,
    /// What an acquire fence would let it know.
    pub pending: Clock,
}

/// A mutex or spin lock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mutex {
    /// Who has it.
    pub owner: u8,
    /// How often.
    pub depth: u8,
    /// What its last owner knew.
    pub clock: Clock,
}

/// A read-write lock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rwlock {
    /// Who writes.
    pub writer: u8,
    /// Who reads, a bit for each.
    pub readers: u8,
    /// What writers knew when they gave it back.
    pub written: Clock,
    /// What readers knew.
    pub read: Clock,
}

/// A pipe or a pair of sockets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Channel {
    /// What the sender of each byte knew that nobody has read yet.
    pub bytes: VecDeque<Clock>,
    /// What all senders knew.
    pub sent: Clock,
    /// Whether it is closed, and what who closed it knew.
    pub closed: Option<Clock>,
}

/// How a process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// `exit` or the end of main: what was printed is seen.
    Exit,
    /// `_exit`: what is buffered is lost.
    Quick,
    /// Aborted at this statement.
    Abort(u32),
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub threads: Vec<Thread>,
    /// Objects of up to eight bytes: plain variables, atomic ones, areas, heap blocks.
    pub memory: Vec<[u8; 8]>,
    /// Who accessed each of them, as far as it may still race.
    pub seen: Vec<Vec<Seen>>,
    /// Objects that were given back.
    pub freed: BTreeSet<usize>,
    /// What an acquire load of each atomic variable learns.
    pub released: Vec<Clock>,
    /// Mutexes.
    pub mutexes: Vec<Mutex>,
    /// Read-write locks.
    pub rwlocks: Vec<Rwlock>,
    /// Semaphores.
    pub semaphores: Vec<(u8, Clock)>,
    /// Pipes and sockets.
    pub channels: Vec<Channel>,
    /// Barriers: who is there, what they know.
    pub barriers: Vec<(u8, Clock)>,
    /// 0 nobody yet, 1 under way, 2 done.
    pub onces: Vec<(u8, Clock)>,
    /// What main has printed.
    pub printed: Vec<i32>,
    /// Set when the process is over.
    pub ending: Option<Ending>,
}

impl State {
    /// The beginning of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let thread = |number: usize| {
            let mut clock = Clock::default();
            clock.tick(number);
            Thread {
                pc: 0,
                status: if number == 0 {
                    Status::Ready
                } else {
                    Status::Unborn
                },
                locals: [0; LOCALS],
                register: 0,
                clock,
                fence: Clock::default(),
                pending: Clock::default(),
            }
        };
        let nothing = Clock::default();
        let mutex = Mutex {
            owner: NOBODY,
            depth: 0,
            clock: nothing,
        };
        let rwlock = Rwlock {
            writer: NOBODY,
            readers: 0,
            written: nothing,
            read: nothing,
        };
        State {
            threads: (0..program.threads.len().min(THREADS))
                .map(thread)
                .collect(),
            memory: vec![[0; 8]; objects(program)],
            seen: vec![Vec::new(); objects(program)],
            freed: BTreeSet::new(),
            released: vec![nothing; program.atomics.len()],
            mutexes: vec![mutex; program.mutexes.len()],
            rwlocks: vec![rwlock; program.rwlocks],
            semaphores: program.semaphores.iter().map(|s| (s.1, nothing)).collect(),
            channels: vec![Channel::default(); program.channels.len()],
            barriers: vec![(0, nothing); program.barriers.len()],
            onces: vec![(0, nothing); program.onces.len()],
            printed: Vec::new(),
            ending: None,
        }
    }

    /// A number that stands for this state.
    #[must_use]
    pub fn digest(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.hash(&mut hasher);
            u128::from(hasher.finish())
        };
        (half(1) << 64) | half(2)
    }

    /// What was printed, as text.
    #[must_use]
    pub fn output(&self) -> String {
        self.printed.iter().map(|n| format!("{n}\n")).collect()
    }

    /// Forgets accesses that every thread knows of: nothing can race with them.
    pub fn forget(&mut self) {
        let State { threads, seen, .. } = self;
        for list in seen {
            list.retain(|s| {
                threads.iter().enumerate().any(|(number, thread)| {
                    number != usize::from(s.thread)
                        && !matches!(thread.status, Status::Unborn | Status::Done)
                        && !thread.clock.knows(usize::from(s.thread), s.epoch)
                })
            });
        }
    }
}
