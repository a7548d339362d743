//! What to change: only where all that a trace shows speaks for it.
//!
//! * [`protect`]: the lock that all other accesses to a race's memory hold.
//! * [`order`]: the order in which a deadlock's locks are taken everywhere else.

mod order;
mod protect;

use deadheat_trace::{EventIndex, Op, Step, Tables, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::{Context, Contexts};
use crate::explain::Explain;
use crate::finding::{Finding, Frame, Kind};
use order::Nested;
use protect::Uses;

/// Watches a trace for what speaks for or against a change.
#[derive(Default)]
pub struct Suggestions {
    uses: FxHashMap<usize, Uses>,
    /// Which of them are about a word of memory.
    of_words: FxHashMap<u64, Vec<usize>>,
    nested: Nested,
    /// The sides of all findings, by their positions.
    sides: FxHashMap<EventIndex, Option<Context>>,
    /// Threads that have been created and have not ended.
    running: FxHashSet<ThreadId>,
    has_deadlock: bool,
}

impl Suggestions {
    /// Watches for these findings, which are known by their numbers.
    pub fn of<'f>(findings: impl IntoIterator<Item = (usize, &'f Finding)>) -> Self {
        let mut all = Suggestions::default();
        for (number, finding) in findings {
            let indexes: Option<Vec<u64>> =
                finding.accesses.iter().map(|side| side.index).collect();
            let indexes: Vec<EventIndex> = indexes
                .unwrap_or_default()
                .into_iter()
                .map(EventIndex)
                .collect();
            if indexes.is_empty() {
                continue;
            }
            match finding.kind {
                Kind::Race => {
                    let Some(uses) = Uses::of(finding, &indexes) else {
                        continue;
                    };
                    for word in uses.words() {
                        all.of_words.entry(word).or_default().push(number);
                    }
                    all.uses.insert(number, uses);
                }
                Kind::Deadlock => all.has_deadlock = true,
                Kind::Failure => continue,
            }
            all.sides
                .extend(indexes.into_iter().map(|index| (index, None)));
        }
        all
    }

    /// The next step of the trace, and what surrounds it.
    pub fn step(&mut self, index: EventIndex, step: &Step, contexts: &Contexts) {
        let event = &step.event;
        if let Some(side) = self.sides.get_mut(&index) {
            *side = Some(contexts.now(step));
        }
        match event.op() {
            op if op.is_access() => self.access(index, step, contexts),
            Op::Acquire | Op::ReadAcquire if self.has_deadlock => {
                self.nested.take(event, contexts.held(event.thread()));
            }
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                for uses in self.uses.values_mut() {
                    uses.allocated(event.addr(), size);
                }
            }
            Op::Fork => drop(self.running.insert(event.peer())),
            Op::Join => drop(self.running.remove(&event.peer())),
            _ => {}
        }
        match event.op() {
            Op::End => drop(self.running.remove(&event.thread())),
            _ => drop(self.running.insert(event.thread())),
        }
    }

    fn access(&mut self, index: EventIndex, step: &Step, contexts: &Contexts) {
        let event = &step.event;
        let (first, last) = (
            event.addr().0 / 8,
            (event.addr().0 + event.size().max(1) - 1) / 8,
        );
        let is_alone = self.running.iter().all(|thread| *thread == event.thread());
        let mut seen: Vec<usize> = Vec::new();
        for word in first..=last {
            for number in self.of_words.get(&word).into_iter().flatten() {
                if let Some(uses) = self.uses.get_mut(number)
                    && !seen.contains(number)
                {
                    seen.push(*number);
                    uses.access(index, event, contexts.held(event.thread()), is_alone);
                }
            }
        }
    }

    /// What to change, if anything.
    pub fn told(&self, number: usize, finding: &Finding, explain: &Explain) -> Option<String> {
        let side = |index: Option<u64>| self.sides.get(&EventIndex(index?))?.as_ref();
        let sides: Option<Vec<&Context>> = finding
            .accesses
            .iter()
            .map(|access| side(access.index))
            .collect();
        let sides = sides?;
        match finding.kind {
            Kind::Race => self.uses.get(&number)?.told(finding, &sides, explain),
            Kind::Deadlock => self.nested.told(finding, &sides, explain),
            Kind::Failure => None,
        }
    }
}

/// The place of an event that is the program's own, without the calls that led there.
fn place(pc: deadheat_trace::Pc, explain: &Explain) -> Frame {
    crate::own_place(&explain.names.frames(pc, explain.tables))
}

/// Whether two places are in the same function, or on the same line if that is not known.
fn is_near(one: &Frame, other: &Frame) -> bool {
    let same_function = one.function.is_some() && one.function == other.function;
    one.file == other.file && (same_function || one.line == other.line)
}

/// The name of a lock.
fn lock_name(lock: deadheat_trace::LockId, explain: &Explain) -> String {
    let tables: &Tables = explain.tables;
    explain.names.lock(deadheat_trace::SyncId(lock.0), tables)
}
