//! All schedules of a small window, up to where nobody can go on.
//!
//! What [`standstills`](super::standstills) plays through are guesses, and a question about a wait for a condition does not think of
//! notifications that somebody else uses up. Where all schedules are few enough to be tried, nothing is missed.
//!
//! Only states in which nobody can go on matter, so that of steps that cannot get in each other's way one order is enough: an
//! operation that only ever lets others go on ([`only_enables`]) is executed at once and alone (a persistent set of one, Godefroid 1996).

use deadheat_trace::{Op, Pc};
use rustc_hash::FxHashSet;

use super::{Played, Standstill, can_stand_still, is_given, places};
use crate::check::{Observed, Simulation};
use crate::model::Model;
use crate::{Cut, Goal, Schedule};

/// So many states are looked at.
const MOST: usize = 10_000;
/// Windows of more events have more states than that.
const MOST_EVENTS: usize = 400;

/// A cut in which nobody can go on, and a schedule that leads there.
pub struct Reached {
    /// The places of its core.
    pub places: Vec<Pc>,
    /// The cut.
    pub still: Standstill,
    /// The schedule.
    pub schedule: Schedule,
}

/// All cuts of a window in which nobody can go on, as far as all of its schedules can be tried.
pub fn reached(model: &Model) -> Vec<Reached> {
    let has_waits = (0..model.count() as u32).any(|event| is_given(model, event));
    if model.count() > MOST_EVENTS || !has_waits || !can_stand_still(model) {
        return Vec::new();
    }
    let observed = Observed::new(model.window);
    let start = Simulation::new(&observed);
    let mut seen = FxHashSet::default();
    seen.insert(start.state().clone());
    // Each state that was come to: from which, and by which event.
    let mut steps: Vec<(usize, u32)> = Vec::new();
    let mut open = vec![(start, usize::MAX)];
    let mut found: Vec<Reached> = Vec::new();
    let is_refused = |op| matches!(op, Op::Refused | Op::ReadRefused | Op::TakeRefused);
    let has_refused = model
        .window
        .steps
        .iter()
        .any(|step| is_refused(step.event.op()));
    while let Some((at, came_by)) = open.pop() {
        let mut able: Vec<u32> = at.next().filter(|next| at.can(*next).is_ok()).collect();
        if able.is_empty() {
            note(model, &at, || schedule(&steps, came_by), &mut found);
            continue;
        }
        let first = able.iter().find(|next| only_enables(model, **next));
        if let Some(first) = first.copied().filter(|_| !has_refused) {
            able = vec![first];
        }
        for next in able {
            let mut after = at.clone();
            if after.run(next).is_ok() && seen.insert(after.state().clone()) {
                if seen.len() > MOST {
                    return found;
                }
                steps.push((came_by, next));
                open.push((after, steps.len() - 1));
            }
        }
    }
    found
}

/// Whether an event, once it can be executed, can be at any time after that with the same effect, and keeps nobody from
/// anything. (A release that begins a wait decides which notifications come too early. Attempts that fail are another matter.)
fn only_enables(model: &Model, event: u32) -> bool {
    let op = |event: u32| model.window.steps[event as usize].event.op();
    match op(event) {
        Op::Begin | Op::End | Op::Fork | Op::Post | Op::BarrierEnter => true,
        Op::Release | Op::ReadRelease => {
            let chain = &model.threads.chains[model.thread(event)];
            let behind = chain.get(model.index(event) as usize + 1);
            behind.is_none_or(|next| op(*next) != Op::Wait)
        }
        _ => false,
    }
}

/// The events that lead to a state.
fn schedule(steps: &[(usize, u32)], mut at: usize) -> Schedule {
    let mut schedule = Schedule::new();
    while let Some((before, event)) = steps.get(at) {
        schedule.push(*event);
        at = *before;
    }
    schedule.reverse();
    schedule
}

/// Nobody can go on: keeps what that is, if it is new and a standstill.
fn note(model: &Model, at: &Simulation, way: impl Fn() -> Schedule, found: &mut Vec<Reached>) {
    let upto = model.threads.chains.iter();
    let next: Vec<u32> = at.next().collect();
    let stopped_at = |chain: &Vec<u32>| {
        let stopped = chain.iter().position(|event| next.contains(event));
        stopped.unwrap_or(chain.len()) as u32
    };
    let played = Played {
        model,
        upto: upto.map(stopped_at).collect(),
    };
    for seed in next.iter().filter(|event| is_given(model, **event)) {
        let Some(still) = played.standstill(*seed) else {
            continue;
        };
        let places = places(model, &still.core);
        let cut = Cut {
            goal: Goal::Deadlock,
            next: still.next(),
        };
        if found.iter().all(|known| known.places != places) && at.reached(&cut).is_ok() {
            found.push(Reached {
                places,
                still,
                schedule: way(),
            });
        }
    }
}
