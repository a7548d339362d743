//! What a window tells about its events, read once: who did what, and how it hangs together.

use deadheat_trace::{Op, ThreadId};
use rustc_hash::FxHashMap;

use super::cells::Cells;
use super::counts::{self, Counted};
use super::lives::Objects;
use super::tokens::Needs;
use super::{Simulation, Violation};
use crate::{Cut, Window};

/// A window, read. Any number of schedules can be checked against it.
pub struct Observed<'w> {
    pub(super) window: &'w Window,
    pub(super) threads: Threads,
    pub(super) objects: Objects,
    pub(super) needs: Needs,
    pub(super) cells: Cells,
    /// The operations on reference counts.
    pub(super) counts: FxHashMap<u32, Counted>,
    /// The positions of the gaps.
    pub(super) gaps: Vec<u32>,
    /// Which events cancel which threads.
    pub(super) cancelled: Vec<(u32, ThreadId)>,
}

/// The threads of a window, numbered in the order of their first events.
#[derive(Default)]
pub(super) struct Threads {
    numbers: FxHashMap<ThreadId, u32>,
    /// The thread of each position.
    pub of: Vec<u32>,
    /// The positions of each thread.
    pub positions: Vec<Vec<u32>>,
    /// Which events create each thread.
    pub forks: Vec<Vec<u32>>,
    /// The first one that creates each thread that has no events.
    pub idle: FxHashMap<ThreadId, u32>,
}

impl<'w> Observed<'w> {
    /// Reads a window. (Its first 2^32 - 1 events: positions end there.)
    pub fn new(window: &'w Window) -> Self {
        let objects = Objects::new(window);
        let lost = positions(window).filter(|&(_, op)| op == Op::Lost);
        let sends = positions(window).filter(|&(_, op)| op == Op::Send);
        let cancels = |at: u32| Some((at, window.steps[at as usize].cancels()?));
        let (threads, cells) = (Threads::new(window), Cells::new(window));
        Observed {
            window,
            counts: counts::of(window, &threads, &cells),
            threads,
            needs: Needs::new(window, &objects),
            cells,
            gaps: lost.map(|(position, _)| position).collect(),
            cancelled: sends.filter_map(|(at, _)| cancels(at)).collect(),
            objects,
        }
    }

    /// As [`check`](super::check()), for a window that was read before.
    pub fn check(&self, cut: &Cut, schedule: &[u32]) -> Result<(), Violation> {
        let mut simulation = Simulation::new(self);
        for &position in schedule {
            simulation.run(position)?;
        }
        simulation.reached(cut)
    }

    /// The first event that depends on what the event at this position reads: itself if the window does not
    /// say.
    pub(super) fn needed_by(&self, position: u32) -> u32 {
        let said = self.window.needed_by.get(position as usize);
        said.map_or(position, |&first| first.max(position))
    }
}

/// All positions of a window with what is done there.
pub(super) fn positions(window: &Window) -> impl Iterator<Item = (u32, Op)> + '_ {
    let steps = window.steps.iter().take(u32::MAX as usize);
    steps.zip(0..).map(|(step, at)| (at, step.event.op()))
}

impl Threads {
    fn new(window: &Window) -> Self {
        let mut threads = Threads::default();
        for (position, _) in positions(window) {
            let id = window.steps[position as usize].event.thread();
            let number = *threads.numbers.entry(id).or_insert_with(|| {
                threads.positions.push(Vec::new());
                threads.positions.len() as u32 - 1
            });
            threads.of.push(number);
            threads.positions[number as usize].push(position);
        }
        threads.forks.resize(threads.positions.len(), Vec::new());
        for (position, _) in positions(window).filter(|&(_, op)| op == Op::Fork) {
            let peer = window.steps[position as usize].event.peer();
            match threads.numbers.get(&peer) {
                Some(&number) => threads.forks[number as usize].push(position),
                None => {
                    threads.idle.entry(peer).or_insert(position);
                }
            }
        }
        threads
    }

    /// The number of a thread that has events.
    pub fn number(&self, id: ThreadId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }
}
