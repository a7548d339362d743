//! Barriers: who leaves comes after all who came to its round, who comes to the next round after all who
//! came to the one before.
//!
//! Which round an arrival belongs to shows by departures: the first one ends its round. That is wrong if more
//! threads use the barrier than it waits for, and cannot be seen for arrivals before the window. Then
//! whoever leaves comes after all arrivals so far, and whoever arrives after those that were there when somebody
//! last left.

use deadheat_trace::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::threads::Threads;
use crate::Window;

#[derive(Default)]
struct Barrier {
    /// Arrivals and departures.
    events: Vec<u32>,
    waits_for: Option<u64>,
    /// How many times it was made.
    lives: u32,
}

/// The barriers of which it is known how many they wait for, and whose rounds were such.
pub fn known(window: &Window, threads: &Threads) -> FxHashSet<u64> {
    let all = barriers(window).into_iter();
    let known = all.filter(|(_, barrier)| {
        barrier.lives == 1
            && barrier.waits_for.is_some()
            && barrier.by_rounds(window, threads).is_some()
    });
    known.map(|(object, _)| object).collect()
}

fn barriers(window: &Window) -> FxHashMap<u64, Barrier> {
    let mut barriers: FxHashMap<u64, Barrier> = FxHashMap::default();
    for (position, step) in window.steps.iter().enumerate() {
        let object = step.event.target();
        match step.event.op() {
            Op::BarrierEnter | Op::BarrierExit => {
                barriers
                    .entry(object)
                    .or_default()
                    .events
                    .push(position as u32);
            }
            Op::Init if step.written().is_some() => {
                let barrier = barriers.entry(object).or_default();
                barrier.waits_for = step.written();
                barrier.lives += 1;
            }
            _ => {}
        }
    }
    barriers
}

/// The edges that barriers make.
pub fn edges(window: &Window, threads: &Threads) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for barrier in barriers(window).values() {
        let before = barrier
            .by_rounds(window, threads)
            .unwrap_or_else(|| barrier.by_order(window));
        let arrivals: Vec<u32> = barrier
            .events
            .iter()
            .copied()
            .filter(|event| arrives(window, *event))
            .collect();
        for (event, count) in barrier.events.iter().zip(before) {
            // Of each thread the last.
            let mut last: FxHashMap<u32, u32> = FxHashMap::default();
            last.extend(
                arrivals[..count]
                    .iter()
                    .map(|at| (threads.of[*at as usize], *at)),
            );
            edges.extend(last.values().map(|arrival| (*arrival, *event)));
        }
    }
    edges
}

fn arrives(window: &Window, event: u32) -> bool {
    window.steps[event as usize].event.op() == Op::BarrierEnter
}

impl Barrier {
    /// For each event how many arrivals come before it, by rounds; `None` if those are not known.
    fn by_rounds(&self, window: &Window, threads: &Threads) -> Option<Vec<usize>> {
        let mut first_of_round = vec![0];
        let mut round_of: FxHashMap<u32, usize> = FxHashMap::default();
        let mut rounds = Vec::new();
        let (mut arrived, mut is_over) = (0, false);
        for event in &self.events {
            let thread = threads.of[*event as usize];
            if arrives(window, *event) {
                if is_over {
                    first_of_round.push(arrived);
                    is_over = false;
                }
                arrived += 1;
                round_of.insert(thread, first_of_round.len() - 1);
                rounds.push(first_of_round.len() - 1);
            } else {
                let round = round_of.remove(&thread)?;
                is_over |= round + 1 == first_of_round.len();
                rounds.push(round + 1);
            }
        }
        if let Some(count) = self.waits_for {
            let last = first_of_round.len() - 1;
            let full = |pair: &[usize]| (pair[1] - pair[0]) as u64 == count;
            if !first_of_round.windows(2).all(full)
                || (arrived - first_of_round[last]) as u64 > count
            {
                return None;
            }
        }
        first_of_round.push(arrived);
        Some(
            rounds
                .into_iter()
                .map(|round| first_of_round[round])
                .collect(),
        )
    }

    fn by_order(&self, window: &Window) -> Vec<usize> {
        let (mut arrived, mut when_left) = (0, 0);
        let before = self.events.iter().map(|event| {
            if arrives(window, *event) {
                arrived += 1;
                return when_left;
            }
            when_left = arrived;
            arrived
        });
        before.collect()
    }
}
