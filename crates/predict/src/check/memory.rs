//! What memory holds, and whether reads see what they saw.

use deadheat_trace::{Op, Step};

use super::cells::{Content, written};
use super::simulation::State;
use super::{Broken, Observed};

/// What each cell holds.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Memory(Vec<Content>);

impl Memory {
    /// As at the border.
    pub fn new(observed: &Observed<'_>) -> Self {
        Memory(observed.cells.all.iter().map(|cell| cell.initial).collect())
    }

    /// Whether a read would now see what it saw.
    pub fn same(&self, observed: &Observed<'_>, position: u32, step: &Step) -> bool {
        let cells = observed.cells.of(position).iter();
        let mut each = cells.zip(observed.cells.seen(position));
        each.all(|(&cell, &seen)| {
            let now = self.0[cell as usize];
            let recorded = observed.cells.all[cell as usize].part(step, step.read());
            match (recorded, seen) {
                // The recording says otherwise: whoever wrote this was not seen.
                (Some(value), Content::Value(_)) => now == Content::Value(value),
                (Some(value), _) => now == Content::Value(value) || now == seen,
                (None, _) => now == seen,
            }
        })
    }

    /// The value of a cell, if it is known.
    pub fn value(&self, cell: u32) -> Option<u64> {
        match self.0[cell as usize] {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// A cell has another value, or nobody knows which.
    pub fn set(&mut self, cell: u32, value: Option<u64>) {
        self.0[cell as usize] = value.map_or(Content::Unknown, Content::Value);
    }

    /// Executes a write, of what it wrote in the recording or of something else.
    pub fn write(&mut self, observed: &Observed<'_>, position: u32, step: &Step, as_was: bool) {
        for &cell in observed.cells.of(position) {
            self.0[cell as usize] = match as_was {
                true => written(&observed.cells.all[cell as usize], step, position),
                false => Content::Unknown,
            };
        }
    }
}

/// Whether the memory that an access touches, or that a `Free` gives back, is there.
pub(super) fn alive(observed: &Observed<'_>, state: &State, position: u32) -> Result<(), Broken> {
    let cells = observed.cells.of(position).iter();
    let touched = cells.map(|&cell| observed.cells.all[cell as usize].life);
    let mut last = 0;
    for life in touched.chain(observed.cells.freed.get(&position).copied()) {
        if life == last {
            continue;
        }
        last = life;
        if state.perhaps_gone.binary_search(&life).is_ok() {
            return Err(Broken::PerhapsGone);
        }
        let life = observed.cells.lives[life as usize];
        if let Some(alloc) = life.alloc.filter(|&at| !state.executed(observed, at)) {
            return Err(Broken::NotBorn(alloc));
        }
        if let Some(free) = life.free.filter(|&at| state.executed(observed, at)) {
            return Err(Broken::Gone(free));
        }
    }
    Ok(())
}

/// Whether an external write writes what it wrote, as far as other threads are concerned: they have done
/// all that they had done since its bytes were last looked at.
pub(super) fn external_as_was(observed: &Observed<'_>, state: &State, position: u32) -> bool {
    let step = &observed.window.steps[position as usize];
    if step.event.op() != Op::ExternalWrite {
        return true;
    }
    let cells = observed.cells.of(position).iter();
    let mut shared = cells.map(|&cell| observed.cells.all[cell as usize].only.is_none());
    if !shared.any(|shared| shared) {
        return true;
    }
    let mut cells = observed.cells.of(position).iter();
    let is_atomic = cells.any(|&cell| observed.cells.all[cell as usize].is_atomic);
    let since = observed.cells.changed_since.get(&position);
    let since = since.copied().filter(|_| !is_atomic).unwrap_or(0);
    let own = observed.threads.of[position as usize];
    (0..observed.threads.positions.len() as u32).all(|thread| {
        let positions = &observed.threads.positions[thread as usize];
        let first = positions.partition_point(|&at| at < since);
        let concerned = positions.get(first).is_some_and(|&at| at < position);
        // Of its own thread it is known that it has not strayed.
        let is_own = thread == own && !state.has_skipped_since(thread, since);
        is_own || !concerned || state.as_it_was_until(observed, thread) >= position
    })
}
