//! Barriers: what those know who came to a round, for those who leave it.

use super::order::THREADS;
use crate::memory;

/// So many at a time; others order nothing.
const MOST: usize = 64;

/// A barrier; its clocks are apart.
#[derive(Clone, Copy)]
struct Barrier {
    /// 0: a free place.
    object: usize,
    /// How many it waits for.
    count: u64,
    arrived: u64,
    /// How many rounds were over.
    rounds: u32,
}

/// What somebody knows, by thread.
type Clock = [u32; THREADS];

/// All of them.
pub struct Barriers {
    all: [Barrier; MOST],
    /// For each: what those know who came to the present round, and who came to the last one that was over.
    clocks: *mut [Clock; 2],
    /// For each thread: the number of the round that it came to last.
    came_to: *mut u32,
}

const FREE: Barrier = Barrier {
    object: 0,
    count: 0,
    arrived: 0,
    rounds: 0,
};

impl Barriers {
    /// None, in no memory.
    pub const fn none() -> Self {
        Barriers {
            all: [FREE; MOST],
            clocks: core::ptr::null_mut(),
            came_to: core::ptr::null_mut(),
        }
    }

    /// Takes memory; false if there is none.
    pub fn begin(&mut self) -> bool {
        self.clocks = memory::pages(MOST);
        self.came_to = memory::pages(THREADS);
        !self.clocks.is_null() && !self.came_to.is_null()
    }

    fn find(&self, object: usize) -> Option<usize> {
        self.all.iter().position(|one| one.object == object)
    }

    fn clocks(&mut self, index: usize) -> &mut [Clock; 2] {
        // SAFETY: `begin` has taken memory for MOST of them, indices are of places, and only the thread that has
        // the turn comes here.
        unsafe { &mut *self.clocks.add(index) }
    }

    fn came_to(&mut self, thread: usize) -> &mut u32 {
        // SAFETY: callers have checked that the thread is below THREADS; else as in `clocks`.
        unsafe { &mut *self.came_to.add(thread) }
    }

    /// A barrier is made for so many threads; for none: it is no barrier any more.
    pub fn make(&mut self, object: usize, count: u64) {
        let Some(index) = self.find(object).or_else(|| match count {
            0 => None,
            _ => self.find(0),
        }) else {
            return;
        };
        *self.clocks(index) = [[0; THREADS]; 2];
        self.all[index] = match count {
            0 => FREE,
            _ => Barrier {
                object,
                count,
                ..FREE
            },
        };
    }

    /// A thread that knows this comes to a barrier.
    pub fn enter(&mut self, thread: usize, object: usize, known: &Clock) {
        let Some(index) = self.find(object) else {
            return;
        };
        let barrier = &mut self.all[index];
        let round = barrier.rounds;
        barrier.arrived += 1;
        let is_over = barrier.arrived == barrier.count;
        if is_over {
            barrier.arrived = 0;
            barrier.rounds += 1;
        }
        *self.came_to(thread) = round;
        let [present, over] = self.clocks(index);
        for (all, one) in present.iter_mut().zip(known) {
            *all = (*all).max(*one);
        }
        if is_over {
            *over = core::mem::replace(present, [0; THREADS]);
        }
    }

    /// A thread leaves a barrier: what those knew who came to its round; `None` if that is not known.
    pub fn exit(&mut self, thread: usize, object: usize) -> Option<Clock> {
        let index = self.find(object)?;
        let round = *self.came_to(thread);
        match self.all[index].rounds == round + 1 {
            true => Some(self.clocks(index)[1]),
            false => None,
        }
    }
}
