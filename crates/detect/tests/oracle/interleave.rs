//! All correct reorderings of a small trace of accesses, locks, forks and joins: races, deadlocks, and which of
//! the races need no other order of critical sections.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use deadheat_trace::{LockId, Op, Step, ThreadId, Trace};

use super::conflict;

/// What the reorderings show.
#[derive(Debug, Default)]
pub struct Shown {
    /// The pairs of accesses that are next at once in some reordering.
    pub races: BTreeSet<(usize, usize)>,
    /// Whether in some reordering threads wait for each other's locks.
    pub deadlock: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    done: Vec<usize>,
    /// By byte, the last write.
    written: BTreeMap<u64, usize>,
    /// By lock, the last position in the trace of its acquisitions so far: for writing, for reading.
    taken: BTreeMap<LockId, [Option<usize>; 2]>,
}

/// Goes through all reorderings; if `keep_sections`, through those only in which sections of a lock
/// that exclude each other begin in the order of the trace.
pub fn interleave(trace: &Trace, keep_sections: bool) -> Shown {
    let steps = &trace.steps;
    let mut threads = vec![Vec::new(); trace.tables.threads.len()];
    for (i, step) in steps.iter().enumerate() {
        threads[step.event.thread().index()].push(i);
    }
    let sources = sources(steps);
    let all = Interleave {
        steps,
        threads,
        sources,
        keep_sections,
    };
    let start = State {
        done: vec![0; all.threads.len()],
        written: BTreeMap::new(),
        taken: BTreeMap::new(),
    };
    let (mut known, mut open, mut shown) = (HashSet::new(), vec![start], Shown::default());
    while let Some(state) = open.pop() {
        let next: Vec<usize> = (0..all.threads.len())
            .filter_map(|thread| all.next(&state, thread))
            .collect();
        for (at, a) in next.iter().enumerate() {
            for b in &next[at + 1..] {
                if conflict(&steps[*a], &steps[*b]) {
                    shown.races.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        shown.deadlock |= all.is_deadlock(&state, &next);
        for i in next {
            if let Some(after) = all.after(&state, i)
                && known.insert(after.clone())
            {
                open.push(after);
            }
        }
    }
    shown
}

struct Interleave<'a> {
    steps: &'a [Step],
    threads: Vec<Vec<usize>>,
    sources: Vec<BTreeMap<u64, Option<usize>>>,
    keep_sections: bool,
}

/// For each step, which write each byte that it reads is from.
fn sources(steps: &[Step]) -> Vec<BTreeMap<u64, Option<usize>>> {
    let mut written = BTreeMap::new();
    let mut sources = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let mut source = BTreeMap::new();
        for byte in bytes(step) {
            if step.event.op().reads() {
                source.insert(byte, written.get(&byte).copied());
            }
            if step.event.op().writes() {
                written.insert(byte, i);
            }
        }
        sources.push(source);
    }
    sources
}

fn bytes(step: &Step) -> std::ops::Range<u64> {
    let event = &step.event;
    match event.op().is_access() {
        true => event.addr().0..event.addr().0 + event.size(),
        false => 0..0,
    }
}

impl Interleave<'_> {
    fn next(&self, state: &State, thread: usize) -> Option<usize> {
        let next = self.threads[thread].get(state.done[thread]).copied()?;
        self.is_created(state, thread).then_some(next)
    }

    fn is_created(&self, state: &State, thread: usize) -> bool {
        let creates =
            |step: &Step| step.event.op() == Op::Fork && step.event.peer().index() == thread;
        let created = self.steps.iter().position(creates);
        created.is_none_or(|fork| self.is_done(state, fork))
    }

    fn is_done(&self, state: &State, i: usize) -> bool {
        let thread = self.steps[i].event.thread().index();
        self.threads[thread][..state.done[thread]].contains(&i)
    }

    fn after(&self, state: &State, i: usize) -> Option<State> {
        let event = &self.steps[i].event;
        let mut after = state.clone();
        after.done[event.thread().index()] += 1;
        let possible = match event.op() {
            Op::Acquire | Op::ReadAcquire => {
                let shared = event.op() == Op::ReadAcquire;
                let taken = after.taken.entry(event.lock()).or_default();
                let later = |last: Option<usize>| last.is_some_and(|last| last > i);
                let overtaken = later(taken[0]) || !shared && later(taken[1]);
                let last = &mut taken[usize::from(shared)];
                *last = (*last).max(Some(i));
                self.blockers(state, i).is_empty() && !(self.keep_sections && overtaken)
            }
            Op::Join => {
                let peer = event.peer().index();
                state.done[peer] == self.threads[peer].len() && self.is_created(state, peer)
            }
            _ => {
                let mut sources = self.sources[i].iter();
                sources.all(|(byte, source)| state.written.get(byte) == source.as_ref())
            }
        };
        if event.op().writes() {
            after
                .written
                .extend(bytes(&self.steps[i]).map(|byte| (byte, i)));
        }
        possible.then_some(after)
    }

    /// The other threads that hold the lock that a step takes.
    fn blockers(&self, state: &State, i: usize) -> BTreeSet<ThreadId> {
        let event = &self.steps[i].event;
        let mut held: BTreeMap<(ThreadId, bool), i32> = BTreeMap::new();
        for (thread, mine) in self.threads.iter().enumerate() {
            for step in mine[..state.done[thread]].iter().map(|k| &self.steps[*k]) {
                let change = match step.event.op() {
                    Op::Acquire => (1, false),
                    Op::Release => (-1, false),
                    Op::ReadAcquire => (1, true),
                    Op::ReadRelease => (-1, true),
                    _ => continue,
                };
                if step.event.lock() == event.lock() {
                    *held.entry((step.event.thread(), change.1)).or_default() += change.0;
                }
            }
        }
        let shared = event.op() == Op::ReadAcquire;
        let blocks = |((thread, reads), count): &((ThreadId, bool), i32)| {
            *count > 0 && *thread != event.thread() && !(shared && *reads)
        };
        let held = held.into_iter().filter(blocks);
        held.map(|((thread, _), _)| thread).collect()
    }

    /// Whether some threads each wait for a lock of another of them.
    fn is_deadlock(&self, state: &State, next: &[usize]) -> bool {
        let takes =
            |i: &&usize| matches!(self.steps[**i].event.op(), Op::Acquire | Op::ReadAcquire);
        let mut waiting: BTreeMap<ThreadId, BTreeSet<ThreadId>> = BTreeMap::new();
        for i in next.iter().filter(takes) {
            let blockers = self.blockers(state, *i);
            if !blockers.is_empty() {
                waiting.insert(self.steps[*i].event.thread(), blockers);
            }
        }
        loop {
            let before = waiting.len();
            let threads: BTreeSet<ThreadId> = waiting.keys().copied().collect();
            waiting.retain(|_, blockers| !blockers.is_disjoint(&threads));
            if waiting.len() == before {
                return before > 0;
            }
        }
    }
}
