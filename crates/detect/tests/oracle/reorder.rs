//! All correct reorderings of a small trace.
//!
//! A correct reordering runs a prefix of each thread so that locks, conditions, barriers, semaphores,
//! forks and joins work, and every read sees the write that it saw in the trace. (An atomic of any
//! order is taken like a plain access here: interleavings are sequentially consistent.) Two accesses
//! race for sure if after some correct reordering both are next. What they read does not matter.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use deadheat_trace::{Op, Step, SyncId, ThreadId, Trace};

use super::conflict;
use super::order::touched;

/// How far each thread is, and what depends on the order so far.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// How many steps of each thread are done.
    done: Vec<usize>,
    /// The last write to each byte.
    written: Vec<Option<usize>>,
    /// Threads at a condition: at which, and whether they were woken.
    waits: Vec<Option<(SyncId, bool)>>,
    /// How many came to each barrier; the round each thread is in.
    came: BTreeMap<u32, u64>,
    rounds: Vec<u64>,
}

/// A trace, prepared for reordering.
pub struct Reorder<'a> {
    steps: &'a [Step],
    /// The positions of each thread's steps.
    threads: Vec<Vec<usize>>,
    bytes: Vec<u64>,
    /// For each step the writes that its bytes were read from.
    read_from: Vec<Vec<(usize, Option<usize>)>>,
}

impl<'a> Reorder<'a> {
    pub fn new(trace: &'a Trace) -> Self {
        let steps = &trace.steps;
        let mut threads = vec![Vec::new(); trace.tables.threads.len()];
        let mut bytes = BTreeSet::new();
        for (i, step) in steps.iter().enumerate() {
            threads[step.event.thread().index()].push(i);
            if step.event.op().is_access() {
                bytes.extend(touched(steps, i));
            }
        }
        let bytes: Vec<u64> = bytes.into_iter().collect();
        let mut last = vec![None; bytes.len()];
        let mut read_from = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let op = step.event.op();
            let mine = bytes_of(steps, &bytes, i);
            let read = mine.iter().filter(|_| op.reads());
            read_from.push(read.map(|byte| (*byte, last[*byte])).collect());
            for byte in mine.into_iter().filter(|_| op.writes()) {
                last[byte] = Some(i);
            }
        }
        Reorder {
            steps,
            threads,
            bytes,
            read_from,
        }
    }

    /// Before the first step.
    pub fn start(&self) -> State {
        let threads = self.threads.len();
        State {
            done: vec![0; threads],
            written: vec![None; self.bytes.len()],
            waits: vec![None; threads],
            came: BTreeMap::new(),
            rounds: vec![0; threads],
        }
    }

    /// All pairs of conflicting accesses that some correct reordering brings together.
    pub fn real_races(&self) -> BTreeSet<(usize, usize)> {
        let mut found = BTreeSet::new();
        self.visit(|next| {
            for (at, a) in next.iter().enumerate() {
                for b in &next[at + 1..] {
                    if conflict(&self.steps[*a], &self.steps[*b]) {
                        found.insert((*a.min(b), *a.max(b)));
                    }
                }
            }
        });
        found
    }

    /// All pairs of acquisitions that some correct reordering makes wait for each other: each
    /// thread is next at one, and holds the lock of the other. (Locks that are held once, for writing.)
    pub fn deadlocks_of_two(&self) -> BTreeSet<(usize, usize)> {
        let mut found = BTreeSet::new();
        self.visit_states(|state, next| {
            let holds = |wanted: usize, by: usize| {
                let by = self.steps[by].event.thread();
                self.holders(state, wanted).any(|(holder, _)| holder == by)
            };
            for (at, a) in next.iter().enumerate() {
                for b in &next[at + 1..] {
                    let acquires = |i: usize| self.steps[i].event.op() == Op::Acquire;
                    if acquires(*a) && acquires(*b) && holds(*a, *b) && holds(*b, *a) {
                        found.insert((*a.min(b), *a.max(b)));
                    }
                }
            }
        });
        found
    }

    /// Calls `seen` for the end of every correct reordering, with the steps that are next in each
    /// thread that has one and was created.
    pub fn visit(&self, mut seen: impl FnMut(&[usize])) {
        self.visit_states(|_, next| seen(next));
    }

    fn visit_states(&self, mut seen: impl FnMut(&State, &[usize])) {
        let mut known = HashSet::new();
        let mut open = vec![self.start()];
        known.insert(self.start());
        while let Some(state) = open.pop() {
            let next = (0..self.threads.len()).filter_map(|thread| self.next(&state, thread));
            let next: Vec<usize> = next.collect();
            seen(&state, &next);
            for step in next {
                for after in self.after(&state, step) {
                    if known.insert(after.clone()) {
                        open.push(after);
                    }
                }
            }
        }
    }

    /// The next step of a thread, if the thread exists.
    fn next(&self, state: &State, thread: usize) -> Option<usize> {
        let next = self.threads[thread].get(state.done[thread]).copied()?;
        self.is_born(state, thread).then_some(next)
    }

    fn is_born(&self, state: &State, thread: usize) -> bool {
        let fork = |step: &Step| step.event.op() == Op::Fork && step.event.peer().index() == thread;
        let born = self.steps.iter().position(fork);
        born.is_none_or(|fork| self.is_done(state, fork))
    }

    fn is_done(&self, state: &State, step: usize) -> bool {
        let thread = self.steps[step].event.thread().index();
        self.threads[thread][..state.done[thread]].contains(&step)
    }

    fn done(&self, state: &State) -> impl Iterator<Item = &Step> {
        let done = |thread: usize| &self.threads[thread][..state.done[thread]];
        let all: Vec<usize> = (0..self.threads.len()).flat_map(done).copied().collect();
        all.into_iter().map(|step| &self.steps[step])
    }

    /// The states in which a step leaves; none if it cannot be done.
    fn after(&self, state: &State, i: usize) -> Vec<State> {
        let event = &self.steps[i].event;
        let thread = event.thread().index();
        let mut after = state.clone();
        after.done[thread] += 1;
        let possible = match event.op() {
            Op::Acquire => self
                .holders(state, i)
                .all(|(holder, _)| holder == event.thread()),
            Op::ReadAcquire => {
                let mut others = self.holders(state, i);
                others.all(|(holder, shared)| shared || holder == event.thread())
            }
            Op::Join => {
                let peer = event.peer().index();
                state.done[peer] == self.threads[peer].len() && self.is_born(state, peer)
            }
            Op::Wait => {
                after.waits[thread] = Some((event.sync(), false));
                true
            }
            Op::Wake => after.waits[thread].take().is_some_and(|(_, woken)| woken),
            Op::Timeout => after.waits[thread].take().is_some(),
            Op::Notify => return notified(event.sync(), &after),
            Op::NotifyAll => {
                for (condition, woken) in after.waits.iter_mut().flatten() {
                    *woken |= *condition == event.sync();
                }
                true
            }
            Op::BarrierEnter => {
                let came = after.came.entry(event.sync().0).or_default();
                after.rounds[thread] = *came / self.barrier_size(i);
                *came += 1;
                true
            }
            Op::BarrierExit => {
                let full = (state.rounds[thread] + 1) * self.barrier_size(i);
                state
                    .came
                    .get(&event.sync().0)
                    .is_some_and(|came| *came >= full)
            }
            Op::Take => {
                let count = |op| {
                    let same =
                        |step: &&Step| step.event.op() == op && step.event.sync() == event.sync();
                    self.done(state).filter(same).count()
                };
                count(Op::Post) > count(Op::Take)
            }
            Op::Receive => {
                let sends = |k: &usize| {
                    let sent = &self.steps[*k].event;
                    sent.op() == Op::Send && sent.sync() == event.sync()
                };
                (0..i).filter(sends).all(|send| self.is_done(state, send))
            }
            _ => {
                let from = &self.read_from[i];
                from.iter()
                    .all(|(byte, write)| state.written[*byte] == *write)
            }
        };
        if event.op().writes() {
            for byte in bytes_of(self.steps, &self.bytes, i) {
                after.written[byte] = Some(i);
            }
        }
        Vec::from_iter(possible.then_some(after))
    }

    /// Who holds the lock of a step, and whether for reading.
    fn holders(&self, state: &State, i: usize) -> impl Iterator<Item = (ThreadId, bool)> {
        let lock = self.steps[i].event.lock();
        let mut held: BTreeMap<(ThreadId, bool), i32> = BTreeMap::new();
        for step in self.done(state) {
            let event = &step.event;
            let (change, shared) = match event.op() {
                Op::Acquire => (1, false),
                Op::Release => (-1, false),
                Op::ReadAcquire => (1, true),
                Op::ReadRelease => (-1, true),
                _ => continue,
            };
            if event.lock() == lock {
                *held.entry((event.thread(), shared)).or_default() += change;
            }
        }
        held.into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(holder, _)| holder)
    }

    fn barrier_size(&self, i: usize) -> u64 {
        let barrier = self.steps[i].event.sync();
        let init = |step: &&Step| step.event.op() == Op::Init && step.event.sync() == barrier;
        self.steps
            .iter()
            .find(init)
            .and_then(Step::written)
            .unwrap()
    }
}

/// The numbers of the bytes that an access touches.
fn bytes_of(steps: &[Step], bytes: &[u64], i: usize) -> Vec<usize> {
    if !steps[i].event.op().is_access() {
        return Vec::new();
    }
    let touched = touched(steps, i).into_iter();
    touched
        .map(|byte| bytes.binary_search(&byte).unwrap())
        .collect()
}

/// A notification wakes any one of those who wait.
fn notified(condition: SyncId, after: &State) -> Vec<State> {
    let waiting = after.waits.iter().enumerate();
    let asleep = waiting.filter(|(_, wait)| **wait == Some((condition, false)));
    let wake = |(thread, _)| {
        let mut state = after.clone();
        state.waits[thread] = Some((condition, true));
        state
    };
    let states: Vec<State> = asleep.map(wake).collect();
    if states.is_empty() {
        vec![after.clone()]
    } else {
        states
    }
}
