//! Windows: any part of a recording, without reading all that is before it.

use super::{Reader, TraceFile};
use crate::{EventIndex, Steps, Window};

/// How many checkpoints are kept at the most; with more events they lie further apart.
const MOST: usize = 128;

/// Places from which a recording can be read on.
#[derive(Debug)]
pub struct Checkpoints<'a> {
    /// The reader's state at every multiple of `every`.
    places: Vec<Reader<'a>>,
    every: u64,
    /// How many events there are.
    events: u64,
}

impl<'a> Checkpoints<'a> {
    /// Reads the recording once.
    pub fn new(file: &'a TraceFile) -> Self {
        let mut reader = file.read();
        let mut checkpoints = Checkpoints { places: Vec::new(), every: 64 * 1024, events: 0 };
        loop {
            if checkpoints.events.is_multiple_of(checkpoints.every) {
                checkpoints.keep(&reader);
            }
            match reader.next_step() {
                Ok(Some(_)) => checkpoints.events += 1,
                _ => return checkpoints,
            }
        }
    }

    fn keep(&mut self, reader: &Reader<'a>) {
        if self.places.len() == MOST {
            let mut index = 0;
            self.places.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
        if self.events.is_multiple_of(self.every) {
            self.places.push(reader.clone());
        }
    }

    /// How many events the recording has.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// A reader that is about to hand out the event `start`.
    pub fn read_from(&self, start: EventIndex) -> Option<Reader<'a>> {
        let place = usize::try_from(start.0 / self.every).ok()?;
        let mut reader = self.places.get(place)?.clone();
        for _ in 0..start.0 % self.every {
            reader.next_step().ok()??;
        }
        Some(reader)
    }

    /// Up to `length` events from `start` on.
    pub fn window(&self, start: EventIndex, length: usize) -> Window {
        let mut steps = Vec::new();
        if let Some(mut reader) = self.read_from(start) {
            while steps.len() < length
                && let Ok(Some(step)) = reader.next_step()
            {
                steps.push(step);
            }
        }
        Window { start, steps }
    }
}
