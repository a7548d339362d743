//! A window, looked at from all sides once, for all questions about it.
//!
//! One file for each kind of rule (see the crate's table). What must always be so is in the hard
//! order; what depends on the schedule (locks, values, tokens, ends of lives) is kept in indexes that the
//! stages ask.

mod barriers;
mod hard;
mod lives;
mod locks;
mod memory;
mod threads;
mod tokens;

pub use hard::HardOrder;
pub use lives::Lives;
pub use locks::Locks;
pub use memory::{Atoms, Memory, Part, Seen, needs};
pub use threads::Threads;
pub use tokens::{Consumer, Tokens};

use crate::Window;

/// No such event.
pub const NONE: u32 = u32::MAX;

/// The indexes of a window.
pub struct Model<'a> {
    /// The window.
    pub window: &'a Window,
    /// Who does what, and in which order each.
    pub threads: Threads,
    /// What is before what in every schedule that has both.
    pub hard: HardOrder,
    /// Critical sections.
    pub locks: Locks,
    /// Shared memory.
    pub memory: Memory,
    /// Conditions, semaphores, futexes.
    pub tokens: Tokens,
    /// Ends of blocks and objects.
    pub lives: Lives,
}

impl<'a> Model<'a> {
    /// Looks at a window.
    pub fn new(window: &'a Window) -> Self {
        let threads = Threads::of(window);
        let lives = Lives::of(window, &threads);
        let hard = HardOrder::of(window, &threads, &lives);
        Model {
            locks: Locks::of(window, &threads),
            memory: Memory::of(window, &threads, &lives),
            tokens: Tokens::of(window, &threads),
            window,
            threads,
            hard,
            lives,
        }
    }

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.window.steps.len()
    }

    /// The thread of an event.
    #[inline]
    pub fn thread(&self, event: u32) -> usize {
        self.threads.of[event as usize] as usize
    }

    /// The place of an event in its thread.
    #[inline]
    pub fn index(&self, event: u32) -> u32 {
        self.threads.index[event as usize]
    }

    /// The event at a place of a thread.
    #[inline]
    pub fn event(&self, thread: usize, index: u32) -> u32 {
        self.threads.chains[thread][index as usize]
    }

    /// A write writes what it wrote if all reads of its thread before this place see what they saw.
    #[inline]
    pub fn needs_all_before(&self, write: u32) -> u32 {
        let reads = self.window.steps[write as usize].event.op().reads();
        self.index(write) + u32::from(reads)
    }

    /// Whether one event is before another in every schedule that has the latter.
    #[inline]
    pub fn is_before(&self, one: u32, other: u32) -> bool {
        let thread = self.thread(one);
        one != other && self.hard.clock(&self.threads, other, thread) > self.index(one)
    }
}
