//! Where an execution stands, and what can come next.

use deadheat_trace::{Op, Step};

use super::lives::{self, NONE};
use super::locks::Locks;
use super::memory::{self, Memory};
use super::tokens::Tokens;
use super::{Broken, Observed, Violation};
use crate::NOBODY;

/// An execution of a window's events, one after the other. Clone it to try several ways.
#[derive(Clone)]
pub struct Simulation<'o> {
    pub(super) observed: &'o Observed<'o>,
    pub(super) state: State,
    steps: usize,
}

/// All that the future of an execution depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) threads: Vec<Progress>,
    pub(super) locks: Locks,
    pub(super) tokens: Tokens,
    pub(super) memory: Memory,
    /// How many gaps have all before them behind them.
    gaps: usize,
    /// Lives of blocks of which nobody knows whether they are over.
    pub(super) perhaps_gone: Vec<u32>,
}

/// How far a thread has come.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Progress {
    /// How many of its events have been executed or skipped.
    pub(super) done: u32,
    /// The first read that saw something else; [`NOBODY`] if there is none.
    strayed: u32,
    /// The first event that cannot be because of what was read, and the read; [`NOBODY`] if there is none.
    pub(super) stopped: (u32, u32),
    /// What it has skipped, in order: the first and the last position of each part.
    pub(super) skipped: Vec<(u32, u32)>,
}

impl Progress {
    /// Whether it has skipped its event at this position.
    fn has_skipped(&self, position: u32) -> bool {
        let mut parts = self.skipped.iter();
        parts.any(|&(first, last)| first <= position && position <= last)
    }
}

impl State {
    /// The position of a thread's next event; [`NOBODY`] if it has none.
    pub(super) fn next(&self, observed: &Observed<'_>, thread: u32) -> u32 {
        let done = self.threads[thread as usize].done as usize;
        let positions = &observed.threads.positions[thread as usize];
        positions.get(done).copied().unwrap_or(NOBODY)
    }

    /// Whether the event at this position has been executed.
    pub(super) fn executed(&self, observed: &Observed<'_>, position: u32) -> bool {
        let thread = observed.threads.of[position as usize];
        position < self.next(observed, thread)
            && !self.threads[thread as usize].has_skipped(position)
    }

    /// Whether a thread has skipped something that was observed behind this position.
    pub(super) fn has_skipped_since(&self, thread: u32, since: u32) -> bool {
        let skipped = &self.threads[thread as usize].skipped;
        skipped.last().is_some_and(|&(_, last)| last >= since)
    }

    /// The first position of a thread that was not executed as it was: not at all, or behind a
    /// read that saw something else.
    pub(super) fn as_it_was_until(&self, observed: &Observed<'_>, thread: u32) -> u32 {
        let progress = &self.threads[thread as usize];
        let skipped = progress.skipped.first().map_or(NOBODY, |part| part.0);
        let next = self.next(observed, thread);
        next.min(progress.strayed).min(skipped)
    }
}

impl<'o> Simulation<'o> {
    /// Before the first event, as the window's border says.
    pub fn new(observed: &'o Observed<'o>) -> Self {
        let fresh = Progress {
            done: 0,
            strayed: NOBODY,
            stopped: (NOBODY, NOBODY),
            skipped: Vec::new(),
        };
        let state = State {
            threads: vec![fresh; observed.threads.positions.len()],
            locks: Locks::new(observed),
            tokens: Tokens::new(observed),
            memory: Memory::new(observed),
            gaps: 0,
            perhaps_gone: Vec::new(),
        };
        Simulation {
            observed,
            state,
            steps: 0,
        }
    }

    /// How many events have been executed.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// All that the future depends on: executions of the same window in the same state can go on in the same ways.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The positions of the next events of all threads that have one.
    pub fn next(&self) -> impl Iterator<Item = u32> + '_ {
        let threads = 0..self.state.threads.len() as u32;
        let each = threads.map(|thread| self.state.next(self.observed, thread));
        each.filter(|&position| position != NOBODY)
    }

    /// Whether the event at this position can be executed now.
    pub fn can(&self, position: u32) -> Result<(), Violation> {
        self.allowed(position).map_err(|broken| Violation::Step {
            step: self.steps,
            event: position,
            broken,
        })
    }

    /// Executes the event at this position, if it can be.
    pub fn run(&mut self, position: u32) -> Result<(), Violation> {
        self.can(position)?;
        self.steps += 1;
        let observed = self.observed;
        let step = &observed.window.steps[position as usize];
        let thread = observed.threads.of[position as usize];
        self.state.gaps = self.state.gaps.max(gaps_before(observed, position));
        self.state.threads[thread as usize].done += 1;
        self.access(position, step, thread);
        let object = observed.objects.of[position as usize];
        if object != NONE {
            self.state.locks.run(&step.event, object);
            let State {
                tokens, threads, ..
            } = &mut self.state;
            let executed = |at: u32| {
                let thread = observed.threads.of[at as usize] as usize;
                let next = observed.threads.positions[thread].get(threads[thread].done as usize);
                next.is_none_or(|&next| at < next) && !threads[thread].has_skipped(at)
            };
            tokens.run(observed, &step.event, position, object, executed);
        }
        Ok(())
    }

    fn access(&mut self, position: u32, step: &Step, thread: u32) {
        let state = &mut self.state;
        let op = step.event.op();
        if let Some(counted) = self.observed.counts.get(&position) {
            state.count(self.observed, position, counted);
            return;
        }
        if op.reads() && !state.memory.same(self.observed, position, step) {
            let progress = &mut state.threads[thread as usize];
            progress.strayed = progress.strayed.min(position);
            let stop = (self.observed.needed_by(position), position);
            progress.stopped = progress.stopped.min(stop);
        }
        if op.writes() {
            let as_was = state.threads[thread as usize].strayed == NOBODY
                && memory::external_as_was(self.observed, state, position);
            let memory = &mut state.memory;
            memory.write(self.observed, position, step, as_was);
        }
    }

    /// Whether the event at this position is its thread's next, there to be executed as soon as what it waits
    /// for is there.
    pub(super) fn is_next(&self, position: u32) -> Result<(), Broken> {
        let (observed, state) = (self.observed, &self.state);
        let Some(&thread) = observed.threads.of.get(position as usize) else {
            return Err(Broken::OutOfRange(observed.window.steps.len()));
        };
        let next = state.next(observed, thread);
        if position < next {
            return Err(Broken::Again);
        }
        if position > next {
            return Err(Broken::NotInTurn(next));
        }
        let progress = &state.threads[thread as usize];
        if position >= progress.stopped.0 {
            return Err(Broken::ReadElse(progress.stopped.1));
        }
        if progress.done == 0 {
            let mut forks = observed.threads.forks[thread as usize].iter();
            if let Some(&fork) = forks.find(|&&fork| !state.executed(observed, fork)) {
                return Err(Broken::NotForked(fork));
            }
        }
        self.behind_gaps(position)?;
        self.among_cancellations(position)?;
        lives::can(observed, state, position)?;
        memory::alive(observed, state, position)
    }

    fn allowed(&self, position: u32) -> Result<(), Broken> {
        self.is_next(position)?;
        let (observed, state) = (self.observed, &self.state);
        let step = &observed.window.steps[position as usize];
        if step.event.op().reads()
            && observed.needed_by(position) == position
            && !observed.counts.contains_key(&position)
            && !state.memory.same(observed, position, step)
        {
            return Err(Broken::WouldReadElse);
        }
        if step.event.op() == Op::Join
            && let Some(peer) = observed.threads.number(step.event.peer())
        {
            let open = state.next(observed, peer);
            if open != NOBODY {
                return Err(Broken::NotEnded(open));
            }
            let last = observed.threads.positions[peer as usize].last();
            let ends = last.is_some_and(|&last| {
                let last = &observed.window.steps[last as usize];
                last.event.op() == Op::End
            });
            // Its end is not told, so nobody says what that depends on.
            let strayed = state.threads[peer as usize].strayed;
            if !ends && strayed != NOBODY {
                return Err(Broken::ReadElse(strayed));
            }
        }
        if step.event.op() == Op::Join
            && let Some(&fork) = observed.threads.idle.get(&step.event.peer())
            && fork < position
            && !state.executed(observed, fork)
        {
            return Err(Broken::NotForked(fork));
        }
        let object = observed.objects.of[position as usize];
        if object == NONE {
            return Ok(());
        }
        state.locks.can(&step.event, object)?;
        let tokens = &state.tokens;
        tokens.can(observed, &step.event, position, object)
    }

    /// Whether the cancelling of a thread keeps its place among that thread's events.
    fn among_cancellations(&self, position: u32) -> Result<(), Broken> {
        let (observed, state) = (self.observed, &self.state);
        let own = observed.window.steps[position as usize].event.thread();
        for &(at, thread) in &observed.cancelled {
            let is_next = |number| state.next(observed, number) < at;
            let too_soon = at == position && observed.threads.number(thread).is_some_and(is_next);
            let too_late = thread == own && at < position && !state.executed(observed, at);
            if too_soon || too_late {
                return Err(Broken::Cancelled(at));
            }
        }
        Ok(())
    }

    /// Whether all that was observed before the last gap before this position was executed as it was.
    fn behind_gaps(&self, position: u32) -> Result<(), Broken> {
        let (observed, state) = (self.observed, &self.state);
        let gaps = gaps_before(observed, position);
        if gaps <= state.gaps {
            return Ok(());
        }
        let gap = observed.gaps[gaps - 1];
        let threads = 0..state.threads.len() as u32;
        let open = threads.map(|thread| state.as_it_was_until(observed, thread));
        match open.min().filter(|&open| open < gap) {
            Some(open) => Err(Broken::BeforeGap(open)),
            None => Ok(()),
        }
    }
}

/// How many gaps come before this position, or are there.
fn gaps_before(observed: &Observed<'_>, position: u32) -> usize {
    observed.gaps.partition_point(|&gap| gap <= position)
}
