//! Two runs that differ in what one read returned, held against the facts.
//!
//! A read is *changed* if it is that one, or if it returns something else in the second run. The
//! facts say for each branch and each address on which reads of its thread it depends. Demanded
//! is that an address is the same in both runs unless it depends on a changed read, and that the
//! runs go the same way up to a branch that depends on a changed read. There the comparison ends.
//! Where basic blocks are seen, it goes on as long as the runs enter the same ones; where they are
//! not, two runs that part without an event can meet again, so nothing more is demanded of the
//! thread. Nothing is demanded of what depends on anything: code that is not instrumented may be part of it,
//! and what that reads is not in the trace.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_code::{Depends, Passed};
use deadheat_trace::{Event, Op, Pc, Step, ThreadId};

use super::recording::Recording;
use super::said::Known;

/// How memory is divided to tell a thread's stack from other things.
const REGION: u64 = 1 << 20;

/// What comparisons showed.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many runs were compared.
    pub runs: usize,
    /// How many events came after the changed read and were the same.
    pub events: usize,
    /// How many of them had an address, or a branch before them, said to depend on no changed
    /// read: so many times the facts could have been wrong.
    pub independent: usize,
    /// How many later reads returned something else.
    pub values: usize,
    /// How many addresses were different, as they may.
    pub addresses: usize,
    /// How many runs went another way, as they may.
    pub turns: usize,
    /// How many of these addresses and turns were said to depend on given reads, not on anything.
    pub explained: usize,
    /// How many runs were different before the read was changed, and show nothing.
    pub unsteady: usize,
    /// What must not be.
    pub contradictions: Vec<String>,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: Tally) {
        self.runs += other.runs;
        self.events += other.events;
        self.independent += other.independent;
        self.values += other.values;
        self.addresses += other.addresses;
        self.turns += other.turns;
        self.explained += other.explained;
        self.unsteady += other.unsteady;
        self.contradictions.extend(other.contradictions);
    }
}

/// What a thread knows that is different in the second run.
#[derive(Clone, Debug, Default)]
struct Changed {
    /// It has made a changed read, or the thread that made it had.
    any: bool,
    /// It has passed a branch that depends on a changed read, and may be on another way unseen.
    strayed: bool,
    /// Where its last event was.
    last: Option<Pc>,
    /// Regions of memory in which it made the same access in both runs.
    steady: BTreeSet<u64>,
    /// Its activations of functions, the outermost first.
    activations: Vec<Activation>,
}

#[derive(Clone, Debug, Default)]
struct Activation {
    /// The thread had made a changed read before it began.
    before: bool,
    /// Sites of changed reads that it made.
    sites: BTreeSet<u64>,
}

impl Changed {
    fn explains(&self, depends: &Depends) -> bool {
        let activation = self.activations.last();
        match depends {
            Depends::Nothing => false,
            Depends::Everything => true,
            Depends::On(sources) => activation.map_or(self.any, |activation| {
                sources.before && activation.before
                    || sources
                        .reads
                        .iter()
                        .any(|site| activation.sites.contains(site))
            }),
        }
    }
}

/// Compares a run with one in which the read that `chosen` announces was changed.
pub struct Comparison<'a> {
    known: &'a Known,
    first: &'a Recording,
    second: &'a Recording,
    first_passed: &'a [Option<Passed>],
    second_passed: Vec<Option<Passed>>,
    has_blocks: bool,
    /// The functions whose blocks announce themselves.
    covered: BTreeSet<u64>,
    threads: BTreeMap<ThreadId, Changed>,
}

impl<'a> Comparison<'a> {
    /// Of these two; `first_passed` is what [`Known::passed`] says of the first.
    pub fn new(
        known: &'a Known,
        first: &'a Recording,
        first_passed: &'a [Option<Passed>],
        second: &'a Recording,
    ) -> Self {
        let steps = &first.trace.steps;
        let blocks = steps.iter().filter(|step| first.is_block(&step.event));
        let covered: BTreeSet<u64> = blocks
            .filter_map(|step| first.function_of(step.event.pc()))
            .collect();
        Comparison {
            known,
            first,
            second,
            first_passed,
            second_passed: known.passed(second),
            has_blocks: !covered.is_empty(),
            covered,
            threads: BTreeMap::new(),
        }
    }

    /// Adds what it shows.
    pub fn run(mut self, tally: &mut Tally) {
        let Some(chosen) = self.chosen() else {
            return; // the program ended before
        };
        tally.runs += 1;
        let count = self
            .first
            .trace
            .steps
            .len()
            .min(self.second.trace.steps.len());
        for index in 0..count {
            let (one, other) = (
                &self.first.trace.steps[index],
                &self.second.trace.steps[index],
            );
            if self.first.is_marker(&one.event)
                && self.second.is_marker(&other.event)
                && one.event.pc() == other.event.pc()
                && one.event.thread() == other.event.thread()
            {
                continue;
            }
            let behind = index > chosen;
            if !same_place(&one.event, &other.event) || !self.same_callee(index) {
                match behind {
                    true => self.part(index, tally),
                    false => tally.unsteady += 1,
                }
                return;
            }
            tally.events += usize::from(behind);
            if let Some(Passed::Branched(depends)) = &self.first_passed[index] {
                let changed = self.threads.entry(one.event.thread()).or_default();
                let explained = changed.explains(depends);
                tally.independent += usize::from(changed.any && !explained);
                changed.strayed |= behind && explained && !self.has_blocks;
            }
            let ended = self.step(one, other, index == chosen, tally);
            if ended {
                return;
            }
        }
    }

    /// The read that was changed.
    fn chosen(&self) -> Option<usize> {
        let marker = self.second.marker? + 4;
        let steps = &self.second.trace.steps;
        let announced = steps
            .iter()
            .position(|step| step.event.op() == Op::Read && step.event.addr().0 == marker)?;
        let thread = steps[announced].event.thread();
        let next = steps[announced + 1..]
            .iter()
            .position(|step| step.event.thread() == thread)?;
        Some(announced + 1 + next)
    }

    /// The same event in both runs, maybe with another address or value. Whether that is the end
    /// of the comparison.
    fn step(&mut self, one: &Step, other: &Step, chosen: bool, tally: &mut Tally) -> bool {
        let event = &one.event;
        let changed = self.threads.entry(event.thread()).or_default();
        changed.last = Some(event.pc());
        match event.op() {
            Op::Enter => changed.activations.push(Activation {
                before: changed.any,
                sites: BTreeSet::new(),
            }),
            Op::Leave => drop(changed.activations.pop()),
            Op::Fork => {
                let any = changed.any;
                self.threads.entry(event.peer()).or_default().any |= any;
            }
            // A block that another thread gets elsewhere is not what is compared here.
            Op::Alloc if one != other => return true,
            _ if event.op().is_access() => self.access(one, other, chosen, tally),
            _ => {}
        }
        false
    }

    fn access(&mut self, one: &Step, other: &Step, chosen: bool, tally: &mut Tally) {
        let event = &one.event;
        let changed = self.threads.entry(event.thread()).or_default();
        let place = self.known.place(&self.first.trace.tables, event.pc());
        let depends = self.known.address(place);
        let explained = changed.explains(&depends);
        if event.addr() != other.event.addr() {
            tally.addresses += usize::from(explained);
            tally.explained += usize::from(explained && depends != Depends::Everything);
            // The thread got a stack of another size, or elsewhere: places in frames are the same.
            // Then all of it is elsewhere, from the thread's first access on.
            let region = event.addr().0 / REGION;
            let moved = event.thread() != ThreadId(0) && !changed.steady.contains(&region);
            changed.strayed |= !explained && moved;
            // What is not instrumented announces no blocks, and may have come here another way.
            let function = self.first.function_of(event.pc());
            let is_seen = !self.has_blocks || function.is_some_and(|f| self.covered.contains(&f));
            if !explained && !changed.strayed && is_seen {
                tally.contradictions.push(format!(
                    "the address at {} is {} or {}, and depends on {depends:x?}; changed are \
                     {changed:x?}",
                    self.first.trace.tables.location(event.pc()),
                    event.addr(),
                    other.event.addr(),
                ));
            }
        } else {
            changed.steady.insert(event.addr().0 / REGION);
            tally.independent += usize::from(changed.any && !explained);
        }
        let reads = event.op().reads();
        let differs = event.addr() != other.event.addr() || one.read() != other.read();
        if chosen || reads && differs {
            tally.values += usize::from(!chosen);
            changed.any = true;
            if let (Some(activation), Some(place)) = (changed.activations.last_mut(), place) {
                activation.sites.insert(place.address);
            }
        }
    }

    /// Whether an entry, if it is one, is that of the same function in both runs. The trace has
    /// the place of the call; which function it is shows at its first event or block.
    fn same_callee(&self, index: usize) -> bool {
        let callee = |recording: &Recording| {
            let event = &recording.trace.steps[index].event;
            let own = |event: &Event| !recording.is_marker(event) || recording.is_block(event);
            let (_, first) = next_of(recording, event.thread(), index + 1, own)?;
            (event.op() == Op::Enter && first.op() != Op::Leave)
                .then(|| recording.function_of(first.pc()))?
        };
        match (callee(self.first), callee(self.second)) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }

    /// The runs part at this step: some thread goes another way.
    fn part(&mut self, index: usize, tally: &mut Tally) {
        let thread = |recording: &Recording| recording.trace.steps[index].event.thread();
        for thread in BTreeSet::from([thread(self.first), thread(self.second)]) {
            let next = |recording| next_of(recording, thread, index, |_| true);
            let event = |recording: &Recording| {
                next_of(recording, thread, index, |event| {
                    !recording.is_marker(event)
                })
            };
            let (Some((_, one)), Some((_, other))) = (next(self.first), next(self.second)) else {
                continue;
            };
            if same_place(&one, &other) && self.same_callee(index) {
                continue; // it goes on the same way at another time
            }
            let changed = self.threads.entry(thread).or_default();
            let same_call = [(self.first, &one), (self.second, &other)]
                .iter()
                .any(|(run, event)| !run.is_marker(event) && Some(event.pc()) == changed.last);
            if changed.strayed || same_call {
                continue; // for example more or fewer pieces of what one call copies
            }
            let (Some((one, first)), Some((other, second))) =
                (event(self.first), event(self.second))
            else {
                continue;
            };
            let ways = [&self.first_passed[one], &self.second_passed[other]];
            let explained = ways.iter().all(|passed| match passed {
                Some(Passed::Branched(depends)) => changed.explains(depends),
                _ => false,
            });
            if explained {
                tally.turns += 1;
                let anything = Some(Passed::Branched(Depends::Everything));
                tally.explained += usize::from(ways.iter().all(|passed| **passed != anything));
            } else {
                let location = |pc| self.first.trace.tables.location(pc);
                tally.contradictions.push(format!(
                    "{thread} goes on from {:?} at {} or {}; passed is said to be {:x?} or {:x?}; \
                     changed are {changed:x?}",
                    changed.last.map(location),
                    location(first.pc()),
                    location(second.pc()),
                    ways[0],
                    ways[1],
                ));
            }
        }
    }
}

/// The next event of a thread from some step on.
fn next_of(
    recording: &Recording,
    thread: ThreadId,
    from: usize,
    wanted: impl Fn(&Event) -> bool,
) -> Option<(usize, Event)> {
    let steps = recording.trace.steps.iter().enumerate().skip(from);
    steps
        .map(|(index, step)| (index, step.event))
        .find(|(_, event)| event.thread() == thread && wanted(event))
}

/// Whether it is an event of a call that can make several, such as a lock's.
fn is_one_call(event: &Event) -> bool {
    !event.op().is_access() && !matches!(event.op(), Op::Enter | Op::Leave)
}

/// Whether two events are of the same thread at the same place. A compare-and-swap that fails
/// is a read.
fn same_place(one: &Event, other: &Event) -> bool {
    one.thread() == other.thread()
        && one.pc() == other.pc()
        && (one.op() == other.op()
            || one.op().is_atomic() && other.op().is_atomic()
            || is_one_call(one) && is_one_call(other))
}
