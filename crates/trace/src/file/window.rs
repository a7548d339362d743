//! Windows: any part of a recording, without reading all that is before it.

use std::sync::Arc;

use super::{Reader, TraceFile};
use crate::{EventIndex, Steps, Window};

/// How many checkpoints are kept at the most; with more events they lie further apart.
const MOST: usize = 128;
/// How many things (live objects, heap blocks, streams) all of them together remember.
const MOST_THINGS: usize = 2 << 20;
/// How many events lie between two checkpoints at first.
const EVERY: u64 = 64 * 1024;

/// Places from which a recording can be read on.
///
/// ```no_run
/// use deadheat_trace::{EventIndex, file::{Checkpoints, TraceFile}};
///
/// let file = TraceFile::open("trace.dht")?;
/// let checkpoints = Checkpoints::new(&file);
/// let middle = EventIndex(checkpoints.events() / 2);
/// for step in checkpoints.window(middle, 100).steps {
///     println!("{step:?}");
/// }
/// # Ok::<(), deadheat_trace::file::OpenError>(())
/// ```
#[derive(Debug)]
pub struct Checkpoints<'a> {
    /// The reader's state at every multiple of `every`. They share the tables of the whole
    /// recording.
    places: Vec<Reader<'a>>,
    every: u64,
    /// How many events there are.
    events: u64,
}

impl<'a> Checkpoints<'a> {
    /// Reads the recording once.
    pub fn new(file: &'a TraceFile) -> Self {
        let mut reader = file.read();
        let mut checkpoints = Checkpoints {
            places: Vec::new(),
            every: EVERY,
            events: 0,
        };
        let mut things = 0;
        loop {
            if checkpoints.events.is_multiple_of(checkpoints.every) {
                things += reader.weight();
                checkpoints.keep(&mut reader);
                while checkpoints.places.len() > MOST
                    || things > MOST_THINGS && checkpoints.places.len() > 1
                {
                    checkpoints.thin_out();
                    things = checkpoints.places.iter().map(Reader::weight).sum();
                }
            }
            match reader.next_step() {
                Ok(Some(_)) => checkpoints.events += 1,
                _ => break,
            }
        }
        let tables = reader.swap_tables(Arc::default());
        for place in &mut checkpoints.places {
            place.swap_tables(Arc::clone(&tables));
        }
        checkpoints
    }

    /// Keeps the reader's state, without the tables: they only grow.
    fn keep(&mut self, reader: &mut Reader<'a>) {
        let tables = reader.swap_tables(Arc::default());
        self.places.push(reader.clone());
        reader.swap_tables(tables);
    }

    /// Drops every second checkpoint; the first one stays.
    fn thin_out(&mut self) {
        let mut index = 0;
        self.places.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.every *= 2;
    }

    /// How many events the recording has.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// A reader that is about to hand out the event `start`; `None` behind the end.
    pub fn read_from(&self, start: EventIndex) -> Option<Reader<'a>> {
        if start.0 > self.events {
            return None;
        }
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
