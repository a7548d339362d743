//! The threads of a window as chains of events.

use deadheat_trace::ThreadId;
use rustc_hash::FxHashMap;

use crate::Window;

/// The threads, numbered by their first events.
pub struct Threads {
    /// Who they are in the trace.
    pub ids: Vec<ThreadId>,
    /// The thread of each event.
    pub of: Vec<u32>,
    /// The place of each event in its thread.
    pub index: Vec<u32>,
    /// The events of each thread.
    pub chains: Vec<Vec<u32>>,
    numbers: FxHashMap<ThreadId, u32>,
}

impl Threads {
    /// The threads of a window.
    pub fn of(window: &Window) -> Self {
        let count = window.steps.len();
        let mut threads = Threads {
            ids: Vec::new(),
            of: Vec::with_capacity(count),
            index: Vec::with_capacity(count),
            chains: Vec::new(),
            numbers: FxHashMap::default(),
        };
        for (position, step) in window.steps.iter().enumerate() {
            let number = threads.number(step.event.thread());
            let chain = &mut threads.chains[number as usize];
            threads.of.push(number);
            threads.index.push(chain.len() as u32);
            chain.push(position as u32);
        }
        threads
    }

    fn number(&mut self, id: ThreadId) -> u32 {
        let next = self.ids.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.ids.push(id);
            self.chains.push(Vec::new());
        }
        number
    }

    /// The number of a thread that has events in the window.
    pub fn find(&self, id: ThreadId) -> Option<usize> {
        self.numbers.get(&id).map(|number| *number as usize)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ids.len()
    }
}
