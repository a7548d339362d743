//! Reference counts against programs that are executed as they really go: what is proven from one run happens in another one,
//! along the very schedule.

mod owners;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use deadheat_predict::{
    Count, Effort, Observer, Options, Prediction, Proven, Reads, Release, Size, Source, needed_by,
    predict,
};
use deadheat_trace::{EventIndex, Mode, Op, Pc, Step, Steps, Tables, ThreadId, verify};
use proptest::prelude::*;

use owners::Statement::{Down, Fork, Free, Hidden, IfOne, Read, Up, Use, Write};
use owners::{Program, Recorded, Statement, programs};

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

/// A recorded run as a stream.
struct Stream<'a>(std::slice::Iter<'a, Step>, Tables);

impl Steps for Stream<'_> {
    type Error = std::convert::Infallible;

    fn next_step(&mut self) -> Result<Option<Step>, Self::Error> {
        Ok(self.0.next().copied())
    }

    fn tables(&self) -> &Tables {
        &self.1
    }

    fn mode(&self) -> Mode {
        Mode::Serial
    }
}

/// The run with the writes that nobody saw.
fn repaired(recorded: &Recorded) -> Recorded {
    let mut stream = verify::repair(Stream(recorded.steps.iter(), Tables::default()));
    let (mut steps, mut positions) = (Vec::new(), Vec::new());
    while let Ok(Some(step)) = stream.next_step() {
        if step.event.op() != Op::ExternalWrite {
            positions.push(steps.len() as u32);
        }
        steps.push(step);
    }
    let there = |at: u32| positions[at as usize];
    let counts = recorded.counts.iter().map(|(at, count)| {
        let count = match *count {
            Count::Down(Some(Release { first, last })) => Count::Down(Some(Release {
                first: there(first),
                last: there(last),
            })),
            other => other,
        };
        (there(*at), count)
    });
    Recorded {
        counts: counts.collect(),
        steps,
    }
}

fn predicted(run: &Recorded) -> Prediction {
    let source = Source {
        steps: &run.steps,
        needed_by: &needed_by(&run.steps, Reads::ByBranch),
        counts: &run.counts,
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Auto,
        budget: Effort::ALL,
        first: Effort::ALL,
        growth: Effort::NONE,
        jobs: 1,
        memory: usize::MAX,
    };
    predict(&source, &options, &Nobody(AtomicBool::new(false)))
}

/// All events of a schedule, which names where threads go on to.
fn expanded(steps: &[Step], proven: &Proven) -> Vec<EventIndex> {
    let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut all = Vec::new();
    for upto in &proven.schedule {
        let thread = steps[upto.0 as usize].event.thread();
        let done = done.entry(thread).or_insert(proven.start.0);
        for at in (*done..=upto.0).map(EventIndex) {
            let is_skipped = proven.skipped.iter().any(|part| part.has(thread, at));
            if steps[at.0 as usize].event.thread() == thread && !is_skipped {
                all.push(at);
            }
        }
        *done = (*done).max(upto.0 + 1);
    }
    all
}

/// What one run proves, each along a schedule that the program follows; all of it, and what skips something.
fn proven(program: &Program, choices: &[usize]) -> (BTreeSet<[Pc; 2]>, BTreeSet<[Pc; 2]>) {
    let run = repaired(&program.record(choices));
    let found = predicted(&run);
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    let place = |at: &EventIndex| {
        let event = &run.steps[at.0 as usize].event;
        (event.thread(), event.pc())
    };
    let (mut all, mut skipping) = (BTreeSet::new(), BTreeSet::new());
    for race in &found.races {
        let seen = |at: &&EventIndex| run.steps[at.0 as usize].event.op() != Op::ExternalWrite;
        let before = run.steps[..race.start.0 as usize].iter();
        let before = before.map(|step| (step.event.thread(), step.event.pc()));
        let schedule = expanded(&run.steps, race);
        let schedule = schedule.iter().filter(seen).map(place);
        let schedule: Vec<(ThreadId, Pc)> = before.chain(schedule).collect();
        let next: Vec<(ThreadId, Pc)> = race.next.iter().map(place).collect();
        let steps = run.steps.iter().zip(0..);
        let skipped = steps.filter(|(step, at)| {
            let mut parts = race.skipped.iter();
            parts.any(|part| part.has(step.event.thread(), EventIndex(*at)))
        });
        let skipped: Vec<Pc> = skipped.map(|(step, _)| step.event.pc()).collect();
        assert!(
            program.follows(&schedule, &skipped, &next),
            "{race:#?}\n{:#?}",
            run.steps
        );
        let mut pair = [next[0].1, next[1].1];
        pair.sort_unstable();
        all.insert(pair);
        if !race.skipped.is_empty() {
            skipping.insert(pair);
        }
    }
    (all, skipping)
}

fn one_after_the_other(threads: &[Vec<Statement>]) -> (Program, Vec<usize>) {
    // The last thread that can go on goes on.
    (Program::new(threads), vec![5])
}

/// Threads of a scope: the creator gives up its share of the first thread's record before it creates the second.
fn scope(release: Vec<Statement>) -> Vec<Vec<Statement>> {
    let thread = || vec![Write(0), Down(0, vec![Free(0)])];
    let mut first = vec![Up(0), Fork(1), Down(0, release), Fork(2)];
    first.push(Down(1, vec![]));
    vec![first, thread(), vec![Write(0)]]
}

#[test]
fn a_release_is_skipped() {
    let (program, choices) = one_after_the_other(&scope(vec![Use(0), Free(0)]));
    let (all, skipping) = proven(&program, &choices);
    assert_eq!(skipping.len(), 1, "{all:?}");
    assert!(program.races().is_superset(&all));
}

#[test]
fn a_count_that_code_without_hooks_takes_down_is_not_known() {
    let threads = |release: Vec<Statement>, late: Vec<Statement>| {
        let first = vec![Fork(1), Down(0, release), Fork(2)];
        let mut second = vec![Write(0)];
        second.extend(late);
        second.extend([Write(1), Hidden(0)]);
        vec![first, second, vec![Write(0), Read(1)]]
    };
    let (program, choices) = one_after_the_other(&threads(vec![Free(0)], vec![]));
    assert_eq!(proven(&program, &choices).1.len(), 2);
    // What may be gone is not used, so the race behind that is not proven.
    let (program, choices) = one_after_the_other(&threads(vec![Free(0)], vec![Use(0)]));
    assert_eq!(proven(&program, &choices).1.len(), 1);
    // What the release does besides would have to be known.
    let (program, choices) = one_after_the_other(&threads(vec![Use(0), Free(0)], vec![]));
    assert_eq!(proven(&program, &choices).1.len(), 0);
}

#[test]
fn the_last_owner_s_destructor_comes_after_all_others() {
    let thread = || vec![Write(0), Down(0, vec![Write(0), Free(0)])];
    let threads = [vec![Fork(1), Fork(2)], thread(), thread()];
    let (program, choices) = one_after_the_other(&threads);
    let (all, _) = proven(&program, &choices);
    // Only the two writes before.
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(program.races().is_superset(&all));
}

#[test]
fn who_asks_for_the_count_itself_needs_its_value() {
    let first = vec![Fork(1), Fork(2)];
    let asks = vec![IfOne(0, vec![Write(0)])];
    let threads = [first, vec![Write(0), Down(0, vec![])], asks];
    let mut program = Program::new(&threads);
    program.share(0, 2);
    let (all, _) = proven(&program, &[5]);
    assert!(all.is_empty(), "{all:?}");
    let (all, _) = proven(&program, &[0]);
    assert!(all.is_empty(), "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proven_happens(
        threads in programs(),
        choices in prop::collection::vec(0..6usize, 1..12),
    ) {
        let program = Program::new(&threads);
        if program.record(&choices).is_sound() {
            proven(&program, &choices);
        }
    }
}
