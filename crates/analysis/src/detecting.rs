//! One streaming detector at work, in bounded memory.

use std::time::{Duration, Instant};

use deadheat_detect::{
    Channels, Detector, Hybrid, HybridOptions, Method, Races, Signature, Suspects,
};
use deadheat_report::Rung;
use deadheat_trace::{EventIndex, Step, Tables};

use crate::analysis::Run;
use crate::how::How;

/// Steps between two looks at a detector's memory, at least.
const STRIDE: u64 = 1 << 16;
/// So many bytes are looked at in the time of one step, and about so many it may add.
const BYTES_A_STEP: usize = 64;

/// How many steps to the next look, for a detector that holds so many bytes: no more than it has room for.
fn stride(holds: usize, most: usize) -> u64 {
    let steps = holds.min(most.saturating_sub(holds)) / BYTES_A_STEP;
    STRIDE.max(steps as u64)
}

/// What a detector has not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// What was accessed before this event was forgotten, the last time.
    Before(EventIndex),
    /// It has stopped here.
    Behind(EventIndex),
}

/// A detector that is shown a trace.
pub struct Detecting<'a> {
    how: How,
    detector: Box<dyn Detector>,
    /// Only these are looked at.
    suspects: Option<&'a Suspects>,
    races: Races,
    started: Instant,
    next_look: u64,
    memory: usize,
    /// How much memory it may take.
    most: usize,
    gap: Option<Gap>,
}

impl<'a> Detecting<'a> {
    /// Begins. Hybrid knows the channels before: they may show late.
    pub fn new(how: How, channels: Option<Channels>, most: usize) -> Option<Self> {
        let detector = match (how.detector(), how) {
            (Some(detector), _) => detector,
            (None, How::Detect(Method::Hybrid)) => {
                let channels = channels?;
                Box::new(Hybrid::new(HybridOptions {
                    most_locks: channels.most_locks() as u32,
                    channels,
                    ..HybridOptions::default()
                }))
            }
            (None, _) => return None,
        };
        Some(Detecting {
            how,
            detector,
            suspects: None,
            races: Races::new(),
            started: Instant::now(),
            next_look: STRIDE,
            memory: 0,
            most,
            gap: None,
        })
    }

    /// Only these accesses are looked at, if the method learns nothing from others.
    pub fn only(mut self, suspects: Option<&'a Suspects>) -> Self {
        self.suspects = suspects.filter(|_| self.how == How::Detect(Method::Hb));
        self
    }

    /// The next step. `is_unseen`: it comes from code without hooks.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, is_unseen: bool) {
        if matches!(self.gap, Some(Gap::Behind(_))) {
            return;
        }
        let is_asked = self
            .suspects
            .is_none_or(|suspects| suspects.may_race(&step.event));
        if is_asked && !is_unseen {
            self.detector.step(index, step, tables, &mut self.races);
        }
        if index.0 >= self.next_look {
            self.look_at_memory(index);
        }
    }

    #[cold]
    fn look_at_memory(&mut self, index: EventIndex) {
        let holds = self.detector.memory();
        self.memory = self.memory.max(holds);
        self.next_look = index.0 + stride(holds, self.most);
        if holds < self.most {
            return;
        }
        let is_enough = self.detector.forget() && self.detector.memory() < self.most / 2;
        self.gap = Some(match is_enough {
            true => Gap::Before(index),
            false => Gap::Behind(index),
        });
    }

    /// Whether it has seen such a race in the recorded run so far.
    pub fn has_seen(&self, places: Signature) -> bool {
        self.how.rung() == Rung::Observed && self.races.contains(places)
    }

    /// What it has found in all that it was shown.
    pub fn finish(mut self, tables: &Tables) -> Run {
        if !matches!(self.gap, Some(Gap::Behind(_))) {
            self.detector.finish(tables, &mut self.races);
        }
        Run {
            how: self.how,
            races: self.races,
            prediction: None,
            took: self.started.elapsed(),
            memory: self.memory.max(self.detector.memory()),
            gap: self.gap,
            events: Default::default(),
        }
    }
}

impl Run {
    /// Of a method that has nothing to look at.
    pub fn of_nothing(how: How) -> Self {
        Run {
            how,
            races: Races::new(),
            prediction: (!matches!(how, How::Detect(_))).then(Default::default),
            took: Duration::ZERO,
            memory: 0,
            gap: None,
            events: Default::default(),
        }
    }

    /// What the user should know of what was not looked at.
    pub fn remark(&self) -> Option<String> {
        let name = self.how.name();
        Some(match self.gap? {
            Gap::Before(at) => format!(
                "{name} had no memory left: what was accessed before event {} was not compared with what came then (--memory gives more)",
                at.0
            ),
            Gap::Behind(at) => format!(
                "{name} had no memory left at event {}: it has not looked at what came then (--memory gives more)",
                at.0
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_comes_before_the_room_is_used_up() {
        const MOST: usize = 256 << 20;
        assert_eq!(stride(0, MOST), STRIDE);
        let (mut holds, mut looks) = (0, 0);
        while holds < MOST {
            holds += stride(holds, MOST) as usize * BYTES_A_STEP;
            looks += 1;
        }
        assert!(holds <= MOST + STRIDE as usize * BYTES_A_STEP, "{holds}");
        assert!(looks < 100, "{looks} looks");
        assert_eq!(stride(MOST, MOST), STRIDE);
    }
}
