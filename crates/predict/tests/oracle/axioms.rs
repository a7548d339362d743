//! Section 2 of Huang, Meredith and Rosu (PLDI 2014), word for word: the traces that every program
//! which can produce a trace can produce too, as a set that is closed under the axioms. For traces of up to ten
//! events or so, of the paper's own kinds.
//!
//! One thing is said more shortly: a written value that nobody knows is one symbol here, not one per
//! trace. Nothing can tell them apart. Two histories of reads count as equal in the axioms of branches and of writes. A branch
//! follows only on a history equal to that of a branch already there, and the first of those is the recorded one, without symbols; a write
//! after equal histories writes the same, and after a history with a symbol that is a symbol again.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadheat_predict::Window;
use deadheat_trace::{Op, Step};

use super::Needed;

/// A value in a feasible trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Value {
    Concrete(u64),
    Symbol,
}

/// An event as the paper has them: attributes and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Event {
    thread: u32,
    op: Op,
    target: u64,
    data: Option<Value>,
}

type Trace = Vec<Event>;

impl Event {
    fn of(step: &Step) -> Event {
        let op = step.event.op();
        let data = match op {
            Op::Read => step.read().map(Value::Concrete),
            Op::Write => step.written().map(Value::Concrete),
            Op::Begin | Op::End | Op::Acquire | Op::Release | Op::Fork | Op::Join | Op::Branch => {
                None
            }
            other => panic!("the paper has no {other:?}"),
        };
        let has_data = matches!(op, Op::Read | Op::Write);
        assert_eq!(data.is_some(), has_data, "the paper's accesses have values");
        let target = match op {
            Op::Begin | Op::End | Op::Branch => 0,
            _ => step.event.target(),
        };
        let thread = step.event.thread().0;
        Event {
            thread,
            op,
            target,
            data,
        }
    }

    /// The same event but for the data.
    fn with(self, data: Option<Value>) -> Event {
        Event { data, ..self }
    }
}

/// The pairs of positions that race by definition 4, the earlier first.
pub fn races(window: &Window, needed: Needed) -> BTreeSet<[u32; 2]> {
    let trace: Trace = window.steps.iter().map(Event::of).collect();
    let initial = |target: u64| {
        let word = window.border.memory.get(&(target / 8));
        word.map_or(0, |word| word.bytes)
    };
    let feasible = feasible(&trace, needed, &initial);
    let mut races = BTreeSet::new();
    for trace_ in &feasible {
        if let [before @ .., a, b] = trace_.as_slice() {
            let writes = a.op == Op::Write || b.op == Op::Write;
            let access = |e: &Event| matches!(e.op, Op::Read | Op::Write);
            if access(a) && access(b) && writes && a.target == b.target && a.thread != b.thread {
                let mut pair = [a, b].map(|event| {
                    let rank = before.iter().filter(|e| e.thread == event.thread).count();
                    let own = trace.iter().enumerate();
                    let mut own = own.filter(|(_, e)| e.thread == event.thread);
                    let (position, _) = own.nth(rank).expect("it was recorded");
                    position as u32
                });
                pair.sort_unstable();
                races.insert(pair);
            }
        }
    }
    races
}

/// Definition 2 (with control flow), or the axioms of [33] that section 2.3 quotes (without).
fn feasible(trace: &Trace, needed: Needed, initial: &impl Fn(u64) -> u64) -> HashSet<Trace> {
    assert!(
        consistent(trace, initial),
        "what was recorded is consistent"
    );
    let threads: BTreeSet<u32> = trace.iter().map(|event| event.thread).collect();
    let mut all: HashSet<Trace> = HashSet::new();
    let mut by_history: HashMap<History, Followers> = HashMap::new();
    // Prefixes.
    let mut open: Vec<Trace> = (0..=trace.len())
        .map(|length| trace[..length].to_vec())
        .collect();
    while let Some(new) = open.pop() {
        if !all.insert(new.clone()) {
            continue;
        }
        // It can be continued as others are,
        for &thread in &threads {
            let history = History::new(&new, thread, needed);
            let followers = by_history.entry(history).or_default();
            followers.traces.push(new.clone());
            for (their_reads, next) in &followers.next {
                open.extend(following(&new, *next, their_reads, needed, initial));
            }
        }
        // and others as it is.
        if let Some((&next, before)) = new.split_last() {
            let history = History::new(before, next.thread, needed);
            let followers = by_history.entry(history).or_default();
            let known = (reads(&projected(before, next.thread)), next);
            if followers.next.insert(known.clone()) {
                for other in &followers.traces {
                    open.extend(following(other, next, &known.0, needed, initial));
                }
            }
        }
    }
    all
}

/// What two traces must have in common for a thread for one to be continued as the other.
#[derive(PartialEq, Eq, Hash)]
struct History {
    thread: u32,
    events: Trace,
}

/// The traces with one history so far, and what follows on it in some: after which reads, which event.
#[derive(Default)]
struct Followers {
    traces: Vec<Trace>,
    next: HashSet<(Trace, Event)>,
}

impl History {
    fn new(trace: &[Event], thread: u32, needed: Needed) -> History {
        let own = projected(trace, thread);
        let events = match needed {
            // Data-abstract equivalence.
            Needed::ByBranch => own.iter().map(|event| event.with(None)).collect(),
            Needed::ByNext => own,
        };
        History { thread, events }
    }
}

/// The local determinism axioms: `before` with what can follow on it if `next` follows on a trace that is equivalent for
/// its thread, with these reads.
fn following(
    before: &Trace,
    next: Event,
    their_reads: &Trace,
    needed: Needed,
    initial: &impl Fn(u64) -> u64,
) -> Option<Trace> {
    let same = || reads(&projected(before, next.thread)) == *their_reads;
    let event = match (next.op, needed) {
        (Op::Read, _) => next.with(Some(last_written(before, next.target, initial))),
        (Op::Branch, Needed::ByBranch) if !same() => return None,
        (Op::Write, Needed::ByBranch) if !same() => next.with(Some(Value::Symbol)),
        _ => next,
    };
    fits(before, &event, initial).then(|| [before.as_slice(), &[event]].concat())
}

fn projected(trace: &[Event], thread: u32) -> Trace {
    let own = trace.iter().filter(|event| event.thread == thread);
    own.copied().collect()
}

fn reads(trace: &[Event]) -> Trace {
    let reads = trace.iter().filter(|event| event.op == Op::Read);
    reads.copied().collect()
}

fn last_written(trace: &[Event], target: u64, initial: &impl Fn(u64) -> u64) -> Value {
    let mut writes = trace.iter().rev();
    let last = writes.find(|event| event.op == Op::Write && event.target == target);
    last.and_then(|event| event.data)
        .unwrap_or_else(|| Value::Concrete(initial(target)))
}

/// Section 2.2: read consistency, lock mutual exclusion, must happen-before.
fn consistent(trace: &[Event], initial: &impl Fn(u64) -> u64) -> bool {
    (0..trace.len()).all(|at| fits(&trace[..at], &trace[at], initial))
}

/// Whether a consistent trace stays consistent with this event behind it.
fn fits(before: &[Event], event: &Event, initial: &impl Fn(u64) -> u64) -> bool {
    let of_thread = |e: &&Event| e.thread == event.thread;
    // "An end event can happen only as the last event in a thread."
    if before.iter().filter(of_thread).any(|e| e.op == Op::End) {
        return false;
    }
    match event.op {
        Op::Read => event.data == Some(last_written(before, event.target, initial)),
        Op::Acquire => {
            let last = last_of_lock(before, event.target);
            last.is_none_or(|last| last.op == Op::Release)
        }
        Op::Release => {
            let last = last_of_lock(before, event.target);
            last.is_some_and(|last| last.op == Op::Acquire && last.thread == event.thread)
        }
        Op::Begin => {
            let first = !before.iter().any(|e| e.thread == event.thread);
            let forks = before.iter().filter(|e| e.op == Op::Fork);
            first
                && forks
                    .filter(|e| e.target == u64::from(event.thread))
                    .count()
                    == 1
        }
        Op::Join => {
            let mut ends = before.iter().filter(|e| e.op == Op::End);
            ends.any(|e| u64::from(e.thread) == event.target)
        }
        _ => true,
    }
}

fn last_of_lock(trace: &[Event], lock: u64) -> Option<&Event> {
    let mut operations = trace.iter().rev();
    operations.find(|e| matches!(e.op, Op::Acquire | Op::Release) && e.target == lock)
}
