//! The second reading: what is kept, and what whoever needs the rest needs instead.

use deadheat_trace::{Event, Op, Step};
use rustc_hash::FxHashSet;

use super::shadow::Shadow;
use super::survey::Constraining;

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It is kept. It needs all reads of its thread before this position.
    Kept {
        /// 0: none.
        needs_before: u32,
    },
    /// It is left out. Whoever needs it needs all reads of its thread before this position.
    Out {
        /// 0: none.
        needs_before: u32,
    },
}

impl Left {
    /// It is kept, as all is in a trace of which nothing is left out.
    pub const NOT: Left = Left::Kept { needs_before: 0 };
}

/// Leaves out of a trace what constrains no schedule.
pub struct Sieve<'a> {
    constraining: &'a Constraining,
    /// How many steps there were, and how many of the anchors.
    count: u64,
    passed: usize,
    /// Blocks that are alive and kept, by their first bytes.
    blocks: FxHashSet<u64>,
    shadow: Shadow,
    threads: Vec<Thread>,
}

/// Positions behind reads that are kept; 0 is before all.
#[derive(Clone, Copy, Default)]
struct Thread {
    /// Behind its last one.
    read: u32,
    /// Behind the last one before it wrote memory that others look at, too.
    handed_on: u32,
}

impl<'a> Sieve<'a> {
    /// For a trace in which this constrains schedules.
    pub fn new(constraining: &'a Constraining) -> Self {
        Sieve {
            constraining,
            count: 0,
            passed: 0,
            blocks: FxHashSet::default(),
            shadow: Shadow::default(),
            threads: Vec::new(),
        }
    }

    /// What becomes of the next step, and what it is if it is kept: its position is then the one that is given. `is_skippable`: it belongs to what a schedule
    /// may leave out, and so has to be kept.
    pub fn step(&mut self, step: &Step, position: u32, is_skippable: bool) -> (Step, Left) {
        let (event, op) = (&step.event, step.event.op());
        let thread = event.thread().index();
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, Thread::default());
        }
        let anchors = &self.constraining.anchors;
        let is_anchor = anchors.get(self.passed) == Some(&self.count);
        self.passed += usize::from(is_anchor);
        self.count += 1;
        if is_skippable || self.constraining.everything || self.constrains(step) {
            let state = &mut self.threads[thread];
            if op.is_access() && op.reads() {
                state.read = position + 1;
            }
            let needs_before = match op {
                Op::Fork | Op::BarrierEnter | Op::End | Op::Exit => state.handed_on,
                _ => 0,
            };
            return (*step, Left::Kept { needs_before });
        }
        let needs_before = match op.is_access() {
            true => self.left_out(event),
            false => 0,
        };
        if is_anchor {
            let fence = Event::new(event.thread(), Op::Fence, 0u64, event.pc());
            // What it needs it needs itself now.
            return (Step::new(fence), Left::Kept { needs_before });
        }
        (*step, Left::Out { needs_before })
    }

    /// Whether a step constrains schedules.
    fn constrains(&mut self, step: &Step) -> bool {
        let (event, op) = (&step.event, step.event.op());
        match op {
            Op::Enter | Op::Leave | Op::Branch | Op::Fence => false,
            Op::Alloc => {
                let (start, bytes) = (event.addr().0, step.written().unwrap_or(0).max(1));
                let is_kept = self.constraining.has_any(start, bytes);
                match is_kept {
                    true => self.blocks.insert(start),
                    false => self.blocks.remove(&start),
                };
                is_kept
            }
            Op::Free => {
                let start = event.addr().0;
                self.blocks.remove(&start) || self.constraining.has(start, 1)
            }
            op if op.is_access() => self.constraining.has(event.addr().0, event.size()),
            _ => true,
        }
    }

    /// An access is left out; before which position whoever needs it needs all reads of its thread.
    fn left_out(&mut self, event: &Event) -> u32 {
        let (thread, op) = (event.thread(), event.op());
        let bytes = (event.addr().0, event.size());
        let state = &mut self.threads[thread.index()];
        if op.writes() {
            self.shadow.write(bytes, thread.0, state.read);
            if state.read > 0 && self.constraining.has_several(bytes.0, bytes.1) {
                state.handed_on = state.read;
            }
            return 0;
        }
        match state.read {
            0 => 0,
            read => self.shadow.read(bytes, thread.0, read),
        }
    }
}
