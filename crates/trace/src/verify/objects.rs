//! Barriers and semaphores: how many came, how many may go.

use super::violation::Rule;
use crate::hash::FastMap;
use crate::{Op, Step};

/// The state of all barriers and semaphores whose start was seen.
#[derive(Default)]
pub(super) struct Objects {
    counted: FastMap<u32, Counts>,
}

/// What happened to an object since it was initialised with a number.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// How many threads a barrier waits for, or where a semaphore starts.
    initial: u64,
    /// Entries into a barrier, or times a semaphore was raised.
    came: u64,
    /// Exits from a barrier, or times a semaphore was lowered.
    went: u64,
}

impl Objects {
    /// An operation on a barrier or semaphore, or the start or end of any object.
    pub fn event(&mut self, step: &Step) -> Option<Rule> {
        let id = step.event.sync();
        let op = step.event.op();
        match op {
            Op::Init => {
                self.counted.remove(&id.0);
                if let Some(initial) = step.written() {
                    let counts = Counts {
                        initial,
                        ..Counts::default()
                    };
                    self.counted.insert(id.0, counts);
                }
                return None;
            }
            Op::Destroy => {
                self.counted.remove(&id.0);
                return None;
            }
            _ => {}
        }
        let counts = self.counted.get_mut(&id.0)?;
        match op {
            Op::BarrierEnter | Op::Post => {
                counts.came += 1;
                None
            }
            Op::BarrierExit => {
                counts.went += 1;
                // Every time the barrier is full that many may leave, whoever they are.
                let full = counts.came.checked_div(counts.initial)?;
                (counts.went > full * counts.initial).then_some(Rule::ExitTooEarly(id))
            }
            Op::Take => {
                counts.went += 1;
                let there = counts.initial.saturating_add(counts.came);
                (counts.went > there).then_some(Rule::TakeFromEmpty(id))
            }
            _ => None,
        }
    }

    /// Events are missing.
    pub fn lose(&mut self) {
        self.counted.clear();
    }
}
