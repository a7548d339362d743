//! Which event first depends on what a read saw: by branches that the trace has, or on the sure side.
//!
//! (For recordings the program's code tells more.)

use deadheat_trace::{Op, Step};

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
    let mut needed = vec![NOBODY; steps.len()];
    // By thread: the reads that nobody has needed yet.
    let mut open: Vec<Vec<u32>> = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let (op, thread) = (step.event.op(), step.event.thread().index());
        if thread >= open.len() {
            open.resize_with(thread + 1, Vec::new);
        }
        if reads == Reads::ByNext || op == Op::Branch {
            for read in open[thread].drain(..) {
                needed[read as usize] = position as u32;
            }
        }
        if op.is_atomic() && op.reads() {
            needed[position] = position as u32;
        } else if op.reads() {
            open[thread].push(position as u32);
        }
    }
    needed
}
