//! What all streaming detectors have in common.

use deadheat_trace::{EventIndex, Step, Tables};

use crate::Races;

/// A detector: it is shown every step of a trace once, in order, and adds the races that it finds.
pub trait Detector {
    /// The next step of the trace, with its position. `tables` names what the steps so far speak
    /// of.
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races);

    /// There are no more steps.
    fn finish(&mut self, tables: &Tables, races: &mut Races) {
        let _ = (tables, races);
    }

    /// Forgets who has accessed memory so far, to need less of its own. Races with what was forgotten are not found; none
    /// are made up. False if it cannot.
    fn forget(&mut self) -> bool {
        false
    }

    /// About how many bytes of memory it holds now.
    fn memory(&self) -> usize;
}
