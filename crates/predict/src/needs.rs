//! Which event first depends on what a read saw: by branches that the trace has, or on the sure side.
//!
//! (For recordings the program's code tells more.)

use deadheat_trace::{Event, Op, Step};

use crate::NOBODY;

/// What is asked of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// A read is needed by the first branch of its thread after it: the maximal model.
    ByBranch,
    /// A read is needed by whatever its thread does next: Said, Wang, Yang and Sakallah (2011), and whenever it is not
    /// known where branches are.
    ByNext,
}

/// For each step the position of the first of its thread that needs what it read.
pub fn needed_by(steps: &[Step], reads: Reads) -> Vec<u32> {
    let mut needs = BranchNeeds::new(reads);
    steps.iter().for_each(|step| needs.step(&step.event));
    needs.needed.from(0)
}

/// Who needs what, by position in the trace; what lies far back may be forgotten.
#[derive(Debug, Default)]
pub struct Needed {
    /// The position of the first that is known.
    first: u32,
    by: Vec<u32>,
}

impl Needed {
    /// How many events there were.
    pub(crate) fn count(&self) -> u32 {
        self.first + self.by.len() as u32
    }

    /// The next event.
    pub(crate) fn push(&mut self, by: u32) {
        self.by.push(by);
    }

    /// An event needs a read: the first one counts.
    #[inline]
    pub(crate) fn need(&mut self, read: u32, by: u32) {
        if let Some(known) = read
            .checked_sub(self.first)
            .and_then(|at| self.by.get_mut(at as usize))
        {
            *known = (*known).min(by);
        }
    }

    /// Forgets what lies before a position.
    pub(crate) fn forget_before(&mut self, position: u32) {
        let behind = position.saturating_sub(self.first) as usize;
        self.by.drain(..behind.min(self.by.len()));
        self.first += behind as u32;
    }

    /// What is known from a position on, with positions counted from there.
    pub(crate) fn from(&self, position: u32) -> Vec<u32> {
        let known = self.by[position.saturating_sub(self.first) as usize..].iter();
        let known = known.map(|by| match *by {
            NOBODY => NOBODY,
            by => by - position,
        });
        known.collect()
    }
}

/// Follows a trace that has branches, or of which nothing is known.
#[derive(Debug)]
pub struct BranchNeeds {
    reads: Reads,
    needed: Needed,
    /// By thread: the reads that nobody has needed yet.
    open: Vec<Vec<u32>>,
}

impl BranchNeeds {
    /// At the start of a trace.
    pub fn new(reads: Reads) -> Self {
        BranchNeeds {
            reads,
            needed: Needed::default(),
            open: Vec::new(),
        }
    }

    /// What is asked of reads.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// The next event.
    pub fn step(&mut self, event: &Event) {
        let (op, thread, position) = (event.op(), event.thread().index(), self.needed.count());
        if thread >= self.open.len() {
            self.open.resize_with(thread + 1, Vec::new);
        }
        if self.reads == Reads::ByNext || op == Op::Branch {
            for read in self.open[thread].drain(..) {
                self.needed.need(read, position);
            }
        }
        self.needed.push(NOBODY);
        if op.is_atomic() && op.reads() {
            self.needed.need(position, position);
        } else if op.reads() {
            self.open[thread].push(position);
        }
    }

    /// Who needs what from a position on, with positions counted from there.
    pub fn from(&self, position: u32) -> Vec<u32> {
        self.needed.from(position)
    }

    /// What lies before a position is not asked for any more.
    pub fn forget_before(&mut self, position: u32) {
        self.needed.forget_before(position);
        for open in &mut self.open {
            open.retain(|read| *read >= position);
        }
    }
}
