//! What to change: only where all that a trace shows speaks for it.
//!
//! * [`protect`]: the lock that all other accesses to a race's memory hold.
//! * [`order`]: the order in which a deadlock's locks are taken everywhere else.

mod order;
mod protect;

use std::collections::BTreeMap;

use deadheat_trace::{EventIndex, Op, Step, Tables, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::{Context, Contexts};
use crate::explain::Explain;
use crate::finding::{Finding, Frame, Kind};
use order::Nested;
use protect::Uses;

/// A race.
struct Side {
    uses: usize,
    /// How many of its sides were seen.
    seen: usize,
}

/// Watches a trace for what speaks for or against a change.
#[derive(Default)]
pub struct Suggestions {
    /// Who uses which memory, races of the same memory together.
    uses: Vec<Uses>,
    /// Which of them are about a word of memory.
    of_words: FxHashMap<u64, Vec<usize>>,
    /// Which of them are about the heap, by their first bytes.
    of_heap: BTreeMap<u64, Vec<usize>>,
    /// Of each race, by its number: which of them it is judged by.
    races: FxHashMap<usize, Side>,
    /// The races that have a side at a position.
    at: FxHashMap<EventIndex, Vec<usize>>,
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
        let mut by_bytes: FxHashMap<(u64, u64, bool), usize> = FxHashMap::default();
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
                    let Some(uses) = Uses::of(finding) else {
                        continue;
                    };
                    let next = all.uses.len();
                    let known = *by_bytes.entry(uses.bytes()).or_insert(next);
                    if known == next {
                        all.watch(uses);
                    }
                    let side = Side {
                        uses: known,
                        seen: 0,
                    };
                    all.uses[known].races.push(number);
                    all.races.insert(number, side);
                    for index in &indexes {
                        all.at.entry(*index).or_default().push(number);
                    }
                }
                Kind::Deadlock => all.has_deadlock = true,
                Kind::Failure => continue,
            }
            all.sides
                .extend(indexes.into_iter().map(|index| (index, None)));
        }
        all
    }

    fn watch(&mut self, uses: Uses) {
        let number = self.uses.len();
        for word in uses.words() {
            self.of_words.entry(word).or_default().push(number);
        }
        let (start, _, is_heap) = uses.bytes();
        if is_heap {
            self.of_heap.entry(start).or_default().push(number);
        }
        self.uses.push(uses);
    }

    /// A block was handed out: what races were about before is something else, and those that come are about this block.
    fn allocated(&mut self, start: u64, size: u64) {
        let here = self.of_heap.range(start..start.saturating_add(size));
        let here: Vec<usize> = here.flat_map(|(_, all)| all).copied().collect();
        for number in here {
            let races = &self.races;
            let is_seen = |race: &usize| races.get(race).is_some_and(|race| race.seen > 0);
            let (seen, later): (Vec<usize>, Vec<usize>) =
                self.uses[number].races.drain(..).partition(is_seen);
            if seen.is_empty() {
                self.uses[number].races = later;
                self.uses[number].forget();
                continue;
            }
            self.end(number);
            let fresh = self.uses[number].again(later.clone());
            self.uses[number].races = seen;
            if later.is_empty() {
                continue;
            }
            for race in later {
                if let Some(race) = self.races.get_mut(&race) {
                    race.uses = self.uses.len();
                }
            }
            self.watch(fresh);
        }
    }

    /// Accesses are no longer about this memory.
    fn end(&mut self, number: usize) {
        let uses = &self.uses[number];
        for word in uses.words() {
            if let Some(all) = self.of_words.get_mut(&word) {
                all.retain(|one| *one != number);
            }
        }
        if let Some(all) = self.of_heap.get_mut(&uses.bytes().0) {
            all.retain(|one| *one != number);
        }
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
                self.allocated(event.addr().0, step.written().unwrap_or(0));
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
        let mut here: Vec<usize> = Vec::new();
        for word in first..=last {
            here.extend(self.of_words.get(&word).into_iter().flatten());
        }
        if here.is_empty() {
            return;
        }
        here.sort_unstable();
        here.dedup();
        let thread = event.thread();
        let is_alone = match self.running.len() {
            0 => true,
            1 => self.running.contains(&thread),
            _ => false,
        };
        here.retain(|number| self.uses[*number].overlaps(event));
        for race in self.at.get(&index).into_iter().flatten() {
            if let Some(race) = self.races.get_mut(race) {
                race.seen += usize::from(here.contains(&race.uses));
            }
        }
        if !is_alone {
            for number in here {
                self.uses[number].access(event, contexts.held(thread));
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
            Kind::Race => {
                let race = self.races.get(&number).filter(|race| race.seen >= 2)?;
                self.uses[race.uses].told(finding, &sides, explain)
            }
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
