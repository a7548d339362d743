//! Happens-before races: FastTrack (Flanagan and Freund, PLDI 2009), exact behind the first race.
//!
//! Two conflicting accesses of different threads race if happens-before orders neither before the
//! other. The first race is real: some run of the program has both at once. Those behind it may depend
//! on it. (With relaxed atomics the run is one of the memory model's, not an interleaving.)
//!
//! Deviations:
//! - An access is held against all that can matter, not just the last write and reads
//!   (see `accesses.rs`), so that of each access it is known whether it races with an earlier one. It
//!   is reported with those that no later one stands for: at least one if there is any.
//! - An access is as many bytes as it is, not a variable.
//! - Giving a block back is a write to those of its bytes that were accessed; a block that is handed
//!   out has no history.
//! - Changes of memory by code that is not instrumented are passed over: whose they are is not known.
//!
//! Memory grows with the memory and the threads of the program, not with the trace.

use deadheat_trace::{EventIndex, Op, Step, Tables};

use crate::accesses::{Accesses, MOST};
use crate::blocks::{Blocks, Change};
use crate::happens_before::HappensBefore;
use crate::{Access, Detector, Race, Races, Shadow};

/// The detector.
///
/// ```
/// use deadheat_detect::{Detector, Hb, Races};
/// use deadheat_trace::{EventIndex, text};
///
/// let trace = text::parse("A|w(x)|1\nA|acq(m)|2\nA|rel(m)|3\nB|r(x)|4\nB|acq(m)|5\nB|r(x)|6\n")?;
/// let (mut hb, mut races) = (Hb::new(), Races::new());
/// for (index, step) in trace.steps.iter().enumerate() {
///     hb.step(EventIndex(index as u64), step, &trace.tables, &mut races);
/// }
/// assert_eq!(races.found().len(), 1);
/// assert_eq!(races.found()[0].race.second.index, EventIndex(3));
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
pub struct Hb {
    /// Of how many places accesses to a cell are kept.
    most: usize,
    order: HappensBefore,
    shadow: Shadow<Accesses>,
    blocks: Blocks,
}

impl Default for Hb {
    fn default() -> Self {
        Hb::new()
    }
}

impl Hb {
    /// At the start of a trace.
    pub fn new() -> Self {
        Hb {
            most: MOST,
            order: HappensBefore::default(),
            shadow: Shadow::default(),
            blocks: Blocks::default(),
        }
    }

    /// The same, for short traces: every pair of places that race is found, however many there are.
    pub fn of_all_places() -> Self {
        Hb {
            most: usize::MAX,
            ..Hb::new()
        }
    }

    fn memory_event(&mut self, access: Access, step: &Step, races: &mut Races) {
        let clock = self.order.clock(access.event.thread());
        let most = self.most;
        match self.blocks.step(step) {
            Some(Change::New(addr, size)) => self.shadow.forget(addr, size, |_| {}),
            Some(Change::Gone(addr, size)) => self.shadow.revisit(addr, size, |cell| {
                cell.add_among(most, access, clock, &mut |first| {
                    races.add(Race {
                        first,
                        second: access,
                    });
                });
            }),
            None => {}
        }
    }
}

impl Detector for Hb {
    #[inline]
    fn step(&mut self, index: EventIndex, step: &Step, _tables: &Tables, races: &mut Races) {
        let event = step.event;
        let sent = self.order.step(step);
        let access = Access { index, event };
        match event.op() {
            Op::Read | Op::Write | Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                let clock = self.order.clock(event.thread());
                let most = self.most;
                self.shadow.access(event.addr(), event.size(), |cell| {
                    cell.add_among(most, access, clock, &mut |first| {
                        races.add(Race {
                            first,
                            second: access,
                        });
                    });
                });
            }
            Op::Alloc | Op::Free => self.memory_event(access, step, races),
            _ => {}
        }
        if sent {
            self.order.advance(event.thread());
        }
    }

    fn forget(&mut self) -> bool {
        self.shadow = Shadow::new();
        true
    }

    fn memory(&self) -> usize {
        let cells: usize = self.shadow.states().map(Accesses::memory).sum();
        self.order.memory() + self.shadow.memory() + cells + self.blocks.memory()
    }
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn races(mut hb: Hb, trace: &str) -> usize {
        let trace = text::parse(trace).unwrap();
        let mut races = Races::new();
        for (index, step) in trace.steps.iter().enumerate() {
            hb.step(EventIndex(index as u64), step, &trace.tables, &mut races);
        }
        races.found().len()
    }

    #[test]
    fn of_short_traces_every_pair_of_places_is_found() {
        let writes: String = (0..100).map(|place| format!("A|w(x)|{place}\n")).collect();
        let trace = writes + "B|r(x)|1000\n";
        assert_eq!(races(Hb::of_all_places(), &trace), 100);
        // Elsewhere places stand for each other beyond so many.
        let usual = races(Hb::new(), &trace);
        assert!((1..=MOST).contains(&usual), "{usual}");
    }
}
