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
mod refusals;
mod threads;
mod tokens;

pub use hard::HardOrder;
pub use lives::{End, Lives};
pub use locks::{Locks, Section};
pub use memory::{Atoms, Memory, Part, Seen, needs};
pub use refusals::Refusals;
pub use threads::Threads;
pub use tokens::{Consumer, Tokens};

use rustc_hash::FxHashSet;

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
    /// Attempts at locks and semaphores that were refused.
    pub refusals: Refusals,
    /// Barriers of which it is known how many they wait for.
    pub known_barriers: FxHashSet<u64>,
}

impl<'a> Model<'a> {
    /// Looks at a window.
    pub fn new(window: &'a Window) -> Self {
        let threads = Threads::of(window);
        let lives = Lives::of(window, &threads);
        let locks = Locks::of(window, &threads);
        let refusals = Refusals::of(window, &threads, &locks);
        let hard = HardOrder::of(window, &threads, &lives, &refusals);
        Model {
            memory: Memory::of(window, &threads, &lives),
            tokens: Tokens::of(window, &threads),
            known_barriers: barriers::known(window, &threads),
            window,
            threads,
            hard,
            locks,
            lives,
            refusals,
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

    /// Ends of lives and what ends the reasons of refused attempts: each comes after its uses, among the events that
    /// a schedule has.
    pub fn ends(&self) -> impl Iterator<Item = &End> {
        self.lives.ends.iter().chain(&self.refusals.ends)
    }

    /// The same for one event that is such an end.
    #[inline]
    pub fn end_at(&self, event: u32) -> Option<&End> {
        // No event is both.
        let of_life = self.lives.end_at(event);
        of_life.or_else(|| self.refusals.end_at(event))
    }

    /// The ends that come after an event.
    #[inline]
    pub fn ends_after(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.lives.end_after(self.window, event);
        let refused = self.refusals.ends_after(event).iter().copied();
        end.map(|end| end.event).into_iter().chain(refused)
    }

    /// Whether one event is before another in every schedule that has the latter.
    #[inline]
    pub fn is_before(&self, one: u32, other: u32) -> bool {
        let thread = self.thread(one);
        one != other && self.hard.clock(&self.threads, other, thread) > self.index(one)
    }
}
