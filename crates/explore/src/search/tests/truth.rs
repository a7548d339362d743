//! What there is to be found in a small program, by looking at each state that it can be in: no runs, no orders, no reduction.

use std::collections::{BTreeSet, HashSet};

use super::{
    super::conflict,
    model::{Model, State},
};

/// What there is to be found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// All outcomes of runs that came to an end by themselves.
    pub(super) outcomes: BTreeSet<u64>,
    /// Pairs of places whose accesses can both be next, and conflict.
    pub(super) races: BTreeSet<(u64, u64)>,
    /// Where threads die.
    pub(super) deaths: BTreeSet<u64>,
}

/// Looks at each state.
pub(super) fn truth(model: &Model) -> Truth {
    let mut truth = Truth::default();
    let mut seen: HashSet<State> = HashSet::new();
    let mut todo = vec![model.start()];
    let threads = model.threads.len() as u32;
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if let Some((_, pc)) = state.died {
            truth.deaths.insert(pc);
        }
        if model.ending(&state).is_some() {
            truth.outcomes.insert(model.outcome(&state));
            continue;
        }
        for a in 0..threads {
            for b in a + 1..threads {
                if let (Some(x), Some(y)) = (model.next(&state, a), model.next(&state, b))
                    && conflict(&x, &y)
                {
                    truth.races.insert((x.pc.min(y.pc), x.pc.max(y.pc)));
                }
            }
        }
        for thread in 0..threads {
            for way in 0..model.ways(&state, thread) {
                let mut next = state.clone();
                model.step(&mut next, thread, way);
                todo.push(next);
            }
        }
    }
    truth
}
