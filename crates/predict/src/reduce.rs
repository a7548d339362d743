//! Leaves out of a window what no other thread can notice: accesses to memory that only one thread
//! uses or that nobody writes, functions' beginnings and ends, branches, fences.
//!
//! What is left out is executed right before its thread's next event that is not. Needs of events that are
//! left out become needs of that next event.

use deadheat_trace::Op;
use rustc_hash::FxHashSet;

use crate::model::{Atoms, Lives, NONE, Threads, needs};
use crate::{Cut, NOBODY, Schedule, Window};

/// A window without what no other thread can notice.
pub struct Reduced {
    /// What is left.
    pub window: Window,
    /// The position of each event of it in the whole window.
    positions: Vec<u32>,
    /// The other way round; [`NONE`] for what was left out.
    places: Vec<u32>,
    threads: Threads,
}

impl Reduced {
    /// Leaves out what can be.
    pub fn of(window: &Window) -> Self {
        let threads = Threads::of(window);
        let lives = Lives::of(window, &threads);
        let atoms = Atoms::of(window, &threads, &lives);
        let needed = needs::of(window, &threads, &atoms);
        let last_before_others = last_before_others(window, &threads, &atoms);
        let mut positions = Vec::new();
        let mut places = vec![NONE; window.steps.len()];
        for (position, step) in window.steps.iter().enumerate() {
            let is_kept = match step.event.op() {
                Op::Enter | Op::Leave | Op::Branch | Op::Fence | Op::Exit => false,
                Op::Alloc | Op::Free => lives.is_shared(position),
                op => !op.is_access() || atoms.is_shared(position),
            };
            if is_kept || last_before_others.contains(&(position as u32)) {
                places[position] = positions.len() as u32;
                positions.push(position as u32);
            }
        }
        let mut reduced = Reduced {
            window: Window {
                start: window.start,
                steps: positions
                    .iter()
                    .map(|at| window.steps[*at as usize])
                    .collect(),
                needed_by: vec![NOBODY; positions.len()],
                border: window.border.clone(),
                counts: Vec::new(),
            },
            positions,
            places,
            threads,
        };
        for (place, position) in reduced.positions.iter().enumerate() {
            let need = needed[*position as usize];
            if need != NONE {
                let thread = reduced.threads.of[*position as usize] as usize;
                let chain = &reduced.threads.chains[thread];
                let mut kept = chain[need as usize..]
                    .iter()
                    .map(|at| reduced.places[*at as usize]);
                let first = kept.find(|place| *place != NONE);
                reduced.window.needed_by[place] = first.unwrap_or(NOBODY);
            }
        }
        reduced
    }

    /// A cut of the whole window in the reduced one, if its events are in it.
    pub fn cut(&self, cut: &Cut) -> Option<Cut> {
        let place = |position: &u32| {
            let place = self.places.get(*position as usize)?;
            (*place != NONE).then_some(*place)
        };
        Some(Cut {
            goal: cut.goal,
            next: cut.next.iter().map(place).collect::<Option<_>>()?,
        })
    }

    /// The position of an event in the whole window.
    pub fn position(&self, event: u32) -> u32 {
        self.positions[event as usize]
    }

    /// A schedule of the reduced window for the whole one, up to a cut of the whole one.
    pub fn schedule(&self, schedule: &[u32], cut: &Cut) -> Schedule {
        let mut done = vec![0; self.threads.count()];
        let mut whole = Vec::with_capacity(schedule.len());
        let mut upto = |thread: usize, index: u32| {
            let chain = &self.threads.chains[thread];
            if done[thread] < index {
                whole.extend_from_slice(&chain[done[thread] as usize..index as usize]);
                done[thread] = index;
            }
        };
        for event in schedule {
            let position = self.positions[*event as usize] as usize;
            upto(
                self.threads.of[position] as usize,
                self.threads.index[position] + 1,
            );
        }
        for next in &cut.next {
            let position = *next as usize;
            upto(
                self.threads.of[position] as usize,
                self.threads.index[position],
            );
        }
        whole
    }
}

/// The last events of threads before an external write, which asks how far they are, of one before it is cancelled, and of one
/// that is joined: that need not be an `End`.
fn last_before_others(window: &Window, threads: &Threads, atoms: &Atoms) -> FxHashSet<u32> {
    let mut last = FxHashSet::default();
    for (position, step) in window.steps.iter().enumerate() {
        let cancelled = step.cancels().and_then(|id| threads.find(id));
        let asked = match cancelled {
            Some(thread) => &threads.chains[thread..thread + 1],
            None if step.event.op() == Op::ExternalWrite && atoms.is_shared(position) => {
                &threads.chains[..]
            }
            None if step.event.op() == Op::Join => {
                let joined = threads.find(step.event.peer());
                last.extend(joined.and_then(|thread| threads.chains[thread].last()));
                continue;
            }
            None => continue,
        };
        for chain in asked {
            let before = chain.partition_point(|event| (*event as usize) < position);
            last.extend(before.checked_sub(1).map(|at| chain[at]));
        }
    }
    last
}
