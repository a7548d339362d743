//! Brute force: every state that any schedule leads to. For windows of a dozen events or so.

use std::collections::{BTreeMap, HashSet};

use deadheat_predict::check::{Observed, Simulation};
use deadheat_predict::{Cut, Goal, Schedule, Window};
use deadheat_trace::Op;

use super::pinned::Pins;

/// Shows every state that can be reached, once, with a schedule that leads there.
pub fn explore(window: &Window, show: impl FnMut(&Simulation<'_>, &[u32])) {
    explore_where(window, |_, _| true, show);
}

/// The same for schedules in which every event was allowed when it was executed.
fn explore_where(
    window: &Window,
    allows: impl Fn(&Simulation<'_>, u32) -> bool,
    mut show: impl FnMut(&Simulation<'_>, &[u32]),
) {
    let observed = Observed::new(window);
    let start = Simulation::new(&observed);
    let mut seen = HashSet::from([start.state().clone()]);
    let mut open = vec![(start, Schedule::new())];
    while let Some((at, schedule)) = open.pop() {
        show(&at, &schedule);
        for next in at.next().filter(|next| allows(&at, *next)) {
            let mut after = at.clone();
            if after.run(next).is_ok() && seen.insert(after.state().clone()) {
                let mut longer = schedule.clone();
                longer.push(next);
                open.push((after, longer));
            }
        }
    }
}

/// A schedule that leads to a cut, if there is one.
pub fn schedule_to(window: &Window, cut: &Cut) -> Option<Schedule> {
    let mut found = None;
    explore(window, |at, schedule| {
        if found.is_none() && at.reached(cut).is_ok() {
            found = Some(schedule.to_vec());
        }
    });
    found
}

/// Whether a cut can be reached although refused attempts keep the reasons that they had.
pub fn is_reached_with_pins(window: &Window, cut: &Cut) -> bool {
    let pins = Pins::of(window);
    let mut found = false;
    let allows = |at: &Simulation<'_>, next| pins.allow(window, at, next);
    explore_where(window, allows, |at, _| found |= at.reached(cut).is_ok());
    found
}

/// All races that can be reached, the earlier event first, with a schedule for each.
pub fn races(window: &Window) -> BTreeMap<[u32; 2], Schedule> {
    let mut races = BTreeMap::new();
    explore(window, |at, schedule| {
        let next: Vec<u32> = at.next().collect();
        for &a in &next {
            for &b in next.iter().filter(|&&b| a < b) {
                let cut = Cut {
                    goal: Goal::Race,
                    next: vec![a, b],
                };
                if at.reached(&cut).is_ok() {
                    races.entry([a, b]).or_insert_with(|| schedule.to_vec());
                }
            }
        }
    });
    races
}

/// All deadlocks that can be reached, their events in order, with a schedule for each. Sets of requests, joins and other waits
/// that hold each other up; a thread that only waits for one of them makes one more set.
pub fn deadlocks(window: &Window) -> BTreeMap<Vec<u32>, Schedule> {
    let mut deadlocks = BTreeMap::new();
    explore(window, |at, schedule| {
        let requests = at.next().filter(|&next| is_request(window, next));
        let mut requests: Vec<u32> = requests.collect();
        requests.sort_unstable();
        for choice in 1u32..1 << requests.len() {
            let chosen = requests.iter().enumerate();
            let chosen = chosen.filter(|(i, _)| choice >> i & 1 == 1);
            let next: Vec<u32> = chosen.map(|(_, &at)| at).collect();
            let goal = Goal::Deadlock;
            let cut = Cut { goal, next };
            if at.reached(&cut).is_ok() {
                let schedule = || schedule.to_vec();
                deadlocks.entry(cut.next).or_insert_with(schedule);
            }
        }
    });
    deadlocks
}

fn is_request(window: &Window, position: u32) -> bool {
    matches!(
        window.steps[position as usize].event.op(),
        Op::Acquire
            | Op::ReadAcquire
            | Op::Request
            | Op::ReadRequest
            | Op::Join
            | Op::Take
            | Op::Wake
            | Op::BarrierExit
    )
}
