//! Fewer switches between threads, in a schedule that is found already.
//!
//! Events that have nothing to do with each other may change places. What has to do with each other keeps its
//! order: the hard order, accesses to the same memory of which one writes, operations on the same object, uses
//! of a block and its release. Within that, a thread goes on for as long as it can.

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

use crate::Schedule;
use crate::model::{Model, NONE};

/// The same schedule with fewer switches.
pub fn tidy(model: &Model, schedule: &[u32]) -> Schedule {
    let before = dependences(model, schedule);
    let mut chains: Vec<Vec<u32>> = vec![Vec::new(); model.threads.count()];
    for event in schedule {
        chains[model.thread(*event)].push(*event);
    }
    let mut done = vec![0; chains.len()];
    let is_ready = |done: &[usize], event: u32| {
        before.get(&event).is_none_or(|before| {
            before
                .iter()
                .all(|other| (model.index(*other) as usize) < done[model.thread(*other)])
        })
    };
    let mut tidy = Vec::with_capacity(schedule.len());
    let mut place = 0;
    while tidy.len() < schedule.len() {
        // The first in the old order that is left can always go.
        while let Some(event) = schedule.get(place)
            && (model.index(*event) as usize) < done[model.thread(*event)]
        {
            place += 1;
        }
        let Some(first) = schedule.get(place) else {
            break;
        };
        let thread = model.thread(*first);
        tidy.push(*first);
        done[thread] += 1;
        while let Some(event) = chains[thread].get(done[thread])
            && is_ready(&done, *event)
        {
            tidy.push(*event);
            done[thread] += 1;
        }
    }
    tidy
}

/// The condition that a thread waits for right behind a release.
fn waits_behind(model: &Model, event: u32) -> Option<u64> {
    let op = |event: u32| model.window.steps[event as usize].event.op();
    let chain = &model.threads.chains[model.thread(event)];
    let behind = *chain.get(model.index(event) as usize + 1)?;
    let is_one = matches!(op(event), Op::Release | Op::ReadRelease) && op(behind) == Op::Wait;
    is_one.then(|| model.window.steps[behind as usize].event.target())
}

/// For each event the last events of other threads that must stay before it.
fn dependences(model: &Model, schedule: &[u32]) -> FxHashMap<u32, Vec<u32>> {
    let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut done = vec![0; model.threads.count()];
    let mut keep = |done: &[u32], earlier: u32, later: u32| {
        let is_other = earlier != NONE && model.thread(earlier) != model.thread(later);
        if is_other && model.index(earlier) < done[model.thread(earlier)] {
            before.entry(later).or_default().push(earlier);
        }
    };
    // The last write of each atom, and the reads since.
    let mut atoms: FxHashMap<u32, (u32, Vec<u32>)> = FxHashMap::default();
    let mut objects: FxHashMap<u64, u32> = FxHashMap::default();
    let mut lives: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for event in schedule {
        let step = &model.window.steps[*event as usize];
        let op = step.event.op();
        for (from, _) in model.hard.edges_to(*event) {
            keep(&done, *from, *event);
        }
        for (thread, upto) in model.memory.strict(*event) {
            keep(&done, model.event(*thread as usize, upto - 1), *event);
        }
        for part in model.memory.parts(*event) {
            let (write, reads) = atoms.entry(part.atom).or_insert((NONE, Vec::new()));
            keep(&done, *write, *event);
            if op.writes() {
                reads.drain(..).for_each(|read| keep(&done, read, *event));
                *write = *event;
            } else {
                reads.push(*event);
            }
        }
        if op.is_access() {
            lives
                .entry(model.lives.of[*event as usize])
                .or_default()
                .push(*event);
        } else if let Some(end) = model.lives.end_at(*event)
            && model.lives.of[end.event as usize] != 0
        {
            let uses = lives.remove(&model.lives.of[*event as usize]);
            uses.into_iter()
                .flatten()
                .for_each(|usage| keep(&done, usage, *event));
        } else {
            // Locks, conditions and the like; of threads and blocks the hard order tells all.
            let last = objects.insert(step.event.target(), *event);
            keep(&done, last.unwrap_or(NONE), *event);
            // The release of a lock and the wait behind it are one.
            if let Some(condition) = waits_behind(model, *event) {
                let last = objects.insert(condition, *event);
                keep(&done, last.unwrap_or(NONE), *event);
            }
        }
        done[model.thread(*event)] += 1;
    }
    before
}
