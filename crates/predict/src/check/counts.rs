//! Operations on reference counts, and releases that are skipped. The rules stand in [`crate::counts`].

use deadheat_trace::{EventIndex, Op, Skipped};
use rustc_hash::FxHashMap;

use super::cells::Cells;
use super::observed::{Observed, Threads};
use super::simulation::{Simulation, State};
use crate::{Count, Release, Window};

/// An operation on a reference count.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    /// The count.
    cell: u32,
    /// The bits that it has.
    mask: u64,
    /// It goes down; else up.
    is_down: bool,
    /// It read 1.
    was_last: bool,
    /// The release behind it, if it is there as a whole.
    release: Option<Whole>,
}

/// A release that can be skipped.
#[derive(Clone, Copy)]
struct Whole {
    release: Release,
    /// How many events it has.
    events: u32,
    /// It does no more than free blocks.
    only_frees: bool,
}

/// The counts of a window. An entry that is not what it says it is no count: its values count.
pub(super) fn of(window: &Window, threads: &Threads, cells: &Cells) -> FxHashMap<u32, Counted> {
    let counted = |&(at, count): &(u32, Count)| {
        let step = window.steps.get(at as usize)?;
        let size = step.event.size();
        let &[cell] = cells.of(at) else { return None };
        if step.event.op() != Op::AtomicRmw || !matches!(size, 1 | 2 | 4 | 8) {
            return None;
        }
        let mask = u64::MAX >> (64 - 8 * size);
        let (read, written) = (step.read()?, step.written()?);
        let is_down = count != Count::Up;
        if step_of(is_down, read, mask) != written {
            return None;
        }
        let was_last = is_down && read == 1;
        let release = match count {
            Count::Down(Some(release)) if was_last => whole(window, threads, at, release),
            _ => None,
        };
        let counted = Counted {
            cell,
            mask,
            is_down,
            was_last,
            release,
        };
        Some((at, counted))
    };
    window.counts.iter().filter_map(counted).collect()
}

fn step_of(is_down: bool, value: u64, mask: u64) -> u64 {
    let next = match is_down {
        true => value.wrapping_sub(1),
        false => value.wrapping_add(1),
    };
    next & mask
}

/// A release, if the window has all of it right behind the operation at `at`.
fn whole(window: &Window, threads: &Threads, at: u32, release: Release) -> Option<Whole> {
    let own = &threads.positions[threads.of[at as usize] as usize];
    let behind = own.partition_point(|&other| other <= at);
    let end = own.partition_point(|&other| other <= release.last);
    let inside = own.get(behind..end)?;
    if inside.first() != Some(&release.first) || inside.last() != Some(&release.last) {
        return None;
    }
    let op = |at: &u32| window.steps[*at as usize].event.op();
    let ends = |op| matches!(op, Op::Begin | Op::End | Op::Exit | Op::Lost);
    if inside.iter().map(op).any(ends) {
        return None;
    }
    let frees = |op| {
        matches!(
            op,
            Op::Enter | Op::Leave | Op::Branch | Op::Fence | Op::Free
        )
    };
    Some(Whole {
        release,
        events: inside.len() as u32,
        only_frees: inside.iter().map(op).all(frees),
    })
}

impl State {
    /// An operation on a count was executed, as the last of its thread so far.
    pub(super) fn count(&mut self, observed: &Observed<'_>, position: u32, counted: &Counted) {
        let thread = observed.threads.of[position as usize];
        let before = self.memory.value(counted.cell);
        let after = before.map(|value| step_of(counted.is_down, value, counted.mask));
        self.memory.set(counted.cell, after);
        let progress = &mut self.threads[thread as usize];
        let is_last = before.map(|value| value == 1);
        match (counted.is_down, is_last, counted.release) {
            (false, ..) => {}
            (true, Some(is_last), _) if is_last == counted.was_last => {}
            (true, Some(false), Some(whole)) => self.skip(thread, &whole),
            (true, None, Some(whole)) if whole.only_frees => {
                self.skip(thread, &whole);
                let Release { first, last } = whole.release;
                // (Those that others free in between are gone or not for reasons of their own.)
                let own = |at: &u32| observed.threads.of[*at as usize] == thread;
                let freed = observed.cells.freed.iter();
                let freed = freed.filter(|&(at, _)| (first..=last).contains(at) && own(at));
                self.perhaps_gone.extend(freed.map(|(_, &life)| life));
                self.perhaps_gone.sort_unstable();
            }
            // It would go another way.
            (true, ..) => progress.stopped = progress.stopped.min((position + 1, position)),
        }
    }

    fn skip(&mut self, thread: u32, whole: &Whole) {
        let progress = &mut self.threads[thread as usize];
        progress.done += whole.events;
        let Release { first, last } = whole.release;
        progress.skipped.push((first, last));
    }
}

impl Simulation<'_> {
    /// The releases that were skipped on the way.
    pub fn skipped(&self) -> Vec<Skipped> {
        let window = self.observed.window;
        let index = |at: u32| EventIndex(window.start.0 + u64::from(at));
        let all = self.state.threads.iter().flat_map(|thread| &thread.skipped);
        all.map(|&(first, last)| Skipped {
            thread: window.steps[first as usize].event.thread(),
            first: index(first),
            last: index(last),
        })
        .collect()
    }
}
