//! Which event first depends on what a read saw: by branches that the trace has, or on the sure side.
//!
//! (For recordings the program's code tells more.)

use std::collections::VecDeque;

use deadheat_trace::{Event, Op, Step};

use crate::NOBODY;
use crate::leave_out::Left;

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

/// What a thread has read and nobody has needed, in order, and what awaits its next event that is kept.
#[derive(Debug, Default)]
pub struct OpenReads {
    /// Positions of reads.
    reads: VecDeque<u32>,
    /// Reads that an event needs which was left out: so does whatever the thread does next.
    awaiting: Vec<u32>,
}

impl OpenReads {
    /// An event is kept, at this position.
    pub(crate) fn kept(&mut self, position: u32, needed: &mut Needed) {
        for read in self.awaiting.drain(..) {
            needed.need(read, position);
        }
    }

    /// A read that nobody needs yet.
    pub(crate) fn add(&mut self, read: u32) {
        self.reads.push_back(read);
    }

    /// An event needs a read. It is kept at a position, or was left out.
    pub(crate) fn need(&mut self, read: u32, by: Option<u32>, needed: &mut Needed) {
        match by {
            Some(by) => needed.need(read, by),
            None => self.awaiting.push(read),
        }
    }

    /// An event needs all reads before a position.
    pub(crate) fn need_before(&mut self, position: u32, by: Option<u32>, needed: &mut Needed) {
        while let Some(read) = self.pop_before(position) {
            self.need(read, by, needed);
        }
    }

    fn pop_before(&mut self, position: u32) -> Option<u32> {
        let is_before = self.reads.front().is_some_and(|read| *read < position);
        is_before.then(|| self.reads.pop_front()).flatten()
    }

    /// Forgets what lies before a position.
    pub(crate) fn forget_before(&mut self, position: u32) {
        while self.pop_before(position).is_some() {}
        self.awaiting.retain(|read| *read >= position);
    }
}

/// Follows a trace that has branches, or of which nothing is known.
#[derive(Debug)]
pub struct BranchNeeds {
    reads: Reads,
    needed: Needed,
    /// By thread.
    open: Vec<OpenReads>,
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
        self.sifted(event, Left::NOT);
    }

    /// The next event, and what becomes of it.
    pub fn sifted(&mut self, event: &Event, left: Left) {
        let (op, thread, position) = (event.op(), event.thread().index(), self.needed.count());
        if thread >= self.open.len() {
            self.open.resize_with(thread + 1, OpenReads::default);
        }
        let (open, needed) = (&mut self.open[thread], &mut self.needed);
        let is_kept = matches!(left, Left::Kept { .. });
        let by = is_kept.then_some(position);
        if is_kept {
            open.kept(position, needed);
            needed.push(NOBODY);
        }
        // A read that is left out needs nothing by itself: whoever needs it needs all before it.
        let before = match left {
            _ if self.reads == Reads::ByNext || op == Op::Branch => u32::MAX,
            Left::Kept { needs_before } => needs_before,
            Left::Out { .. } => 0,
        };
        open.need_before(before, by, needed);
        if is_kept && op.is_atomic() && op.reads() {
            needed.need(position, position);
        } else if is_kept && op.reads() {
            open.add(position);
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
            open.forget_before(position);
        }
    }
}
