//! The threads of a window as chains of events.

use deadheat_trace::{Op, ThreadId};
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
    /// Joins of threads whose end is not told, by their positions: with the thread and how many events of it come
    /// before. It may have ended because of what it read.
    pub silent_joins: Vec<(u32, u32, u32)>,
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
            silent_joins: Vec::new(),
            numbers: FxHashMap::default(),
        };
        for (position, step) in window.steps.iter().enumerate() {
            let number = threads.number(step.event.thread());
            let chain = &mut threads.chains[number as usize];
            threads.of.push(number);
            threads.index.push(chain.len() as u32);
            chain.push(position as u32);
        }
        threads.find_silent_joins(window);
        threads
    }

    fn find_silent_joins(&mut self, window: &Window) {
        for (position, step) in window.steps.iter().enumerate() {
            if step.event.op() != Op::Join {
                continue;
            }
            let Some(peer) = self.find(step.event.peer()) else {
                continue;
            };
            let chain = &self.chains[peer];
            let before = chain.partition_point(|event| (*event as usize) < position);
            let last = before
                .checked_sub(1)
                .map(|at| window.steps[chain[at] as usize].event.op());
            if last.is_some_and(|op| op != Op::End) {
                self.silent_joins
                    .push((position as u32, peer as u32, before as u32));
            }
        }
    }

    /// If an event joins a thread whose end is not told: the thread, and how many events of it come before.
    pub fn silent_join(&self, event: u32) -> Option<(usize, u32)> {
        let at = self
            .silent_joins
            .binary_search_by_key(&event, |(join, ..)| *join)
            .ok()?;
        let (_, peer, before) = self.silent_joins[at];
        Some((peer as usize, before))
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
