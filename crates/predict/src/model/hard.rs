//! What is before what in every schedule: program order, threads, barriers, channels, beginnings of
//! lives, what refused attempts came after.
//!
//! All of it was so in the window's own order, so edges point forward and one pass makes the
//! clocks. An event's clock says how many events of each thread are before it; it differs from that of
//! the thread's event before only where an edge comes in, so rows are shared.

use deadheat_trace::{Op, ThreadId};
use rustc_hash::FxHashMap;

use super::barriers;
use super::lives::Lives;
use super::refusals::Refusals;
use super::threads::Threads;
use crate::Window;

/// The hard order.
pub struct HardOrder {
    /// Edges between threads, by their ends.
    edges: Vec<(u32, u32)>,
    /// The same by their beginnings.
    by_start: Vec<(u32, u32)>,
    /// Whether an edge begins or ends at an event: few have any.
    has_edge: Vec<bool>,
    /// The row of each event.
    row: Vec<u32>,
    rows: Vec<u32>,
    width: usize,
    first_gap: Option<u32>,
}

impl HardOrder {
    /// The hard order of a window.
    pub fn of(window: &Window, threads: &Threads, lives: &Lives, refusals: &Refusals) -> Self {
        let mut edges = Edges::default();
        edges.of_threads(window, threads);
        edges.of_channels(window, threads);
        edges.of_cancellations(window, threads);
        edges.found.extend(lives.beginnings());
        edges.found.extend(refusals.beginnings());
        edges.found.extend(barriers::edges(window, threads));
        let mut edges = edges.found;
        // Sorted by where they end. None points backward unless the trace is broken.
        edges.retain(|(from, to)| {
            from < to && threads.of[*from as usize] != threads.of[*to as usize]
        });
        edges.sort_unstable_by_key(|(from, to)| (*to, *from));
        edges.dedup();
        let gap = window
            .steps
            .iter()
            .position(|step| step.event.op() == Op::Lost);
        HardOrder {
            first_gap: gap.map(|gap| gap as u32),
            ..Self::with_clocks(edges, threads)
        }
    }

    /// The first place where events are missing.
    pub fn first_gap(&self) -> Option<u32> {
        self.first_gap
    }

    fn with_clocks(edges: Vec<(u32, u32)>, threads: &Threads) -> Self {
        let width = threads.count();
        let mut order = HardOrder {
            row: Vec::with_capacity(threads.of.len()),
            rows: vec![0; width],
            by_start: edges.clone(),
            edges: Vec::new(),
            has_edge: vec![false; threads.of.len()],
            width,
            first_gap: None,
        };
        order.by_start.sort_unstable();
        for (from, to) in &edges {
            order.has_edge[*from as usize] = true;
            order.has_edge[*to as usize] = true;
        }
        let mut last_row = vec![0; width];
        let mut next = 0;
        for event in 0..threads.of.len() as u32 {
            let thread = threads.of[event as usize] as usize;
            if edges.get(next).is_some_and(|(_, to)| *to == event) {
                let row = (order.rows.len() / width) as u32;
                let before = last_row[thread] as usize * width;
                order.rows.extend_from_within(before..before + width);
                while let Some((from, _)) = edges.get(next).filter(|(_, to)| *to == event) {
                    order.join(row, *from, threads);
                    next += 1;
                }
                last_row[thread] = row;
            }
            order.row.push(last_row[thread]);
        }
        order.edges = edges;
        order
    }

    fn join(&mut self, row: u32, from: u32, threads: &Threads) {
        let theirs = self.row[from as usize] as usize * self.width;
        let mine = row as usize * self.width;
        for thread in 0..self.width {
            self.rows[mine + thread] = self.rows[mine + thread].max(self.rows[theirs + thread]);
        }
        let (thread, index) = (threads.of[from as usize], threads.index[from as usize]);
        let known = &mut self.rows[mine + thread as usize];
        *known = (*known).max(index + 1);
    }

    /// How many events of a thread are before an event, itself included.
    #[inline]
    pub fn clock(&self, threads: &Threads, event: u32, thread: usize) -> u32 {
        if threads.of[event as usize] as usize == thread {
            return threads.index[event as usize] + 1;
        }
        self.rows[self.row[event as usize] as usize * self.width + thread]
    }

    /// The same for all threads; the own one's is not in it.
    #[inline]
    pub fn row(&self, event: u32) -> &[u32] {
        let start = self.row[event as usize] as usize * self.width;
        &self.rows[start..start + self.width]
    }

    /// The edges of other threads that end at an event.
    #[inline]
    pub fn edges_to(&self, event: u32) -> &[(u32, u32)] {
        if !self.has_edge[event as usize] {
            return &[];
        }
        let first = self.edges.partition_point(|(_, to)| *to < event);
        let count = self.edges[first..]
            .iter()
            .take_while(|(_, to)| *to == event)
            .count();
        &self.edges[first..first + count]
    }

    /// The edges to other threads that begin at an event.
    #[inline]
    pub fn edges_from(&self, event: u32) -> &[(u32, u32)] {
        if !self.has_edge[event as usize] {
            return &[];
        }
        let first = self.by_start.partition_point(|(from, _)| *from < event);
        let count = self.by_start[first..]
            .iter()
            .take_while(|(from, _)| *from == event)
            .count();
        &self.by_start[first..first + count]
    }

    /// The edges between threads, by where they end.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }
}

#[derive(Default)]
struct Edges {
    found: Vec<(u32, u32)>,
}

impl Edges {
    fn of_threads(&mut self, window: &Window, threads: &Threads) {
        // Threads that do nothing: where they are created.
        let mut idle: FxHashMap<ThreadId, u32> = FxHashMap::default();
        for (position, step) in window.steps.iter().enumerate() {
            if !matches!(step.event.op(), Op::Fork | Op::Join) {
                continue;
            }
            let Some(peer) = threads.find(step.event.peer()) else {
                let (op, position) = (step.event.op(), position as u32);
                match idle.get(&step.event.peer()) {
                    Some(fork) if op == Op::Join => self.found.push((*fork, position)),
                    None if op == Op::Fork => {
                        idle.insert(step.event.peer(), position);
                    }
                    _ => {}
                }
                continue;
            };
            let (position, chain) = (position as u32, &threads.chains[peer]);
            match step.event.op() {
                Op::Fork => self.found.push((position, chain[0])),
                _ => {
                    let ended = chain.partition_point(|event| *event < position);
                    self.found
                        .extend(ended.checked_sub(1).map(|last| (chain[last], position)));
                }
            }
        }
    }

    /// The cancelling of a thread keeps its place among that thread's events: nobody knows where else it would have ended then.
    fn of_cancellations(&mut self, window: &Window, threads: &Threads) {
        for (step, position) in window.steps.iter().zip(0..) {
            let Some(thread) = step.cancels().and_then(|id| threads.find(id)) else {
                continue;
            };
            if threads.of[position as usize] as usize == thread {
                continue;
            }
            let chain = &threads.chains[thread];
            let behind = chain.partition_point(|event| *event < position);
            let before = behind.checked_sub(1).map(|last| (chain[last], position));
            let after = chain.get(behind).map(|next| (position, *next));
            self.found.extend(before.into_iter().chain(after));
        }
    }

    fn of_channels(&mut self, window: &Window, threads: &Threads) {
        // The last send of each thread to each channel.
        let mut sends: FxHashMap<u64, Vec<(u32, u32)>> = FxHashMap::default();
        for (position, step) in window.steps.iter().enumerate() {
            let (object, position) = (step.event.target(), position as u32);
            let thread = threads.of[position as usize];
            match step.event.op() {
                Op::Send => {
                    let sent = sends.entry(object).or_default();
                    sent.retain(|(sender, _)| *sender != thread);
                    sent.push((thread, position));
                }
                Op::Receive => {
                    let sent = sends.get(&object).into_iter().flatten();
                    self.found.extend(sent.map(|(_, send)| (*send, position)));
                }
                _ => {}
            }
        }
    }
}
