//! Interleavings of synchronisation against the paper's processes: the same objects can race, the same locks deadlock,
//! and every schedule leads where it says.

mod oracle;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadheat_detect::Suspects;
use deadheat_predict::interleave::{LockWords, Observation, generate};
use deadheat_predict::{Effort, Observer, Options, Prediction, Size};
use deadheat_trace::{Event, Op, Step, text};
use proptest::prelude::*;

use oracle::Needed;
use oracle::processes::Program;
use oracle::random::{Rest, Shape, signals, windows, windows_of_parts};

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _: u64, _: u64, _: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

fn generated(steps: &[Step], size: Size) -> Prediction {
    let observation = Observation {
        steps,
        is_judged: &|_| true,
        lock_words: &LockWords::default(),
    };
    let options = Options {
        size,
        budget: Effort::about(Duration::from_secs(60)),
        first: Effort::ALL,
        growth: Effort::NONE,
        jobs: 1,
        memory: usize::MAX,
    };
    let found = generate(&observation, &options, &Nobody(AtomicBool::new(false)));
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    assert!(found.unknown.is_empty());
    // All are where others would look for them, too.
    let mut suspects = Suspects::default();
    steps.iter().for_each(|step| suspects.step(step));
    let next = found.races.iter().flat_map(|race| &race.next);
    assert!(
        next.map(|at| &steps[at.0 as usize].event)
            .all(|event| suspects.may_race(event) && !suspects.is_empty())
    );
    found
}

#[test]
fn elements_of_an_array_are_compared_with_those_that_overlap() {
    // One object of many elements, all of them written by both threads with a lock; one is read without.
    let mut listing = String::new();
    for thread in 0..2 {
        listing += &format!("T{thread}|acq(m)|1\n");
        for at in 0..5000 {
            let address = 0x10_0000 + at * 8;
            listing += &format!("T{thread}|w({address:#x}:8)|{}\n", 10 + at);
        }
        listing += &format!("T{thread}|rel(m)|2\n");
    }
    listing += "T1|r(0x100324:4)|3\n";
    let steps = deadheat_trace::text::parse(&listing).unwrap().steps;
    let found = generated(&steps, Size::Auto);
    let races: Vec<Vec<u64>> = found
        .races
        .iter()
        .map(|race| race.next.iter().map(|at| at.0).collect())
        .collect();
    // Element 100, behind the first thread's first event.
    assert_eq!(races, [[101, 10_004]]);
    assert_eq!(found.statistics.left_out, 0);
}

fn accesses(steps: &[Step]) -> impl Iterator<Item = &Event> {
    let events = steps.iter().map(|step| &step.event);
    events.filter(|event| event.op().is_access())
}

/// The first bytes of all shared objects: runs of bytes that several threads access and one writes.
fn object_of(steps: &[Step], byte: u64) -> Option<u64> {
    let is_shared = |byte: u64| {
        let touching: Vec<&Event> = accesses(steps)
            .filter(|event| (event.target()..event.target() + event.size()).contains(&byte))
            .collect();
        let threads: BTreeSet<u32> = touching.iter().map(|event| event.thread().0).collect();
        threads.len() > 1 && touching.iter().any(|event| event.op().writes())
    };
    let mut first = is_shared(byte).then_some(byte)?;
    while is_shared(first - 1) {
        first -= 1;
    }
    Some(first)
}

/// The object of two conflicting accesses.
fn object_of_pair(steps: &[Step], a: &Event, b: &Event) -> u64 {
    let common = a.target().max(b.target());
    object_of(steps, common).expect("two threads access it, and one writes")
}

fn agrees(steps: &[Step]) {
    let program = Program::of(steps);
    let states = program.states();
    let mut expected = BTreeSet::new();
    for state in &states {
        let next: Vec<&Event> = (0..program.threads.len())
            .filter_map(|thread| program.next(state, thread))
            .map(|at| &steps[at].event)
            .collect();
        for (place, a) in next.iter().enumerate() {
            for b in next[..place].iter().filter(|b| a.conflicts_with(b)) {
                // A thread that was not created yet is nowhere.
                let begun = |event: &Event| {
                    let thread = event.thread().index();
                    state[thread] > 0 || program.able(state).any(|able| able == thread)
                };
                if begun(a) && begun(b) {
                    expected.insert(object_of_pair(steps, a, b));
                }
            }
        }
    }
    let found = generated(steps, Size::Auto);
    let mut reported = BTreeSet::new();
    for race in &found.races {
        let [a, b] = [0, 1].map(|side| race.next[side].0 as usize);
        let (first, second) = (&steps[a].event, &steps[b].event);
        assert!(first.conflicts_with(second), "{first:?} {second:?}");
        reported.insert(object_of_pair(steps, first, second));
        let schedule: Vec<usize> = race.schedule.iter().map(|at| at.0 as usize).collect();
        let state = program.follow(&schedule);
        let state = state.unwrap_or_else(|at| panic!("{at} cannot be in {schedule:?}\n{steps:#?}"));
        for at in [a, b] {
            let own = &program.threads[steps[at].event.thread().index()];
            let done = state[steps[at].event.thread().index()];
            let left = own[done..].iter().take_while(|left| **left < at);
            let mut left = left.map(|left| steps[*left].event.op());
            assert!(
                left.all(|op| op.is_access()),
                "{at} is not next after {schedule:?}"
            );
        }
    }
    assert_eq!(reported, expected, "{steps:#?}");

    let has_cycle = states.iter().any(|state| program.has_cycle(state));
    // A lock that is taken after a notification only (`conditions`) is not asked for before it: a known miss.
    let notifies = |step: &Step| matches!(step.event.op(), Op::Notify | Op::NotifyAll);
    if found.deadlocks.is_empty() && has_cycle {
        assert!(steps.iter().any(notifies), "missed: {steps:#?}");
    }
    assert!(found.deadlocks.is_empty() || has_cycle, "{steps:#?}");
    if has_cycle {
        assert!(states.iter().any(|state| program.is_deadlock(state)));
    }
    for deadlock in &found.deadlocks {
        let schedule: Vec<usize> = deadlock.schedule.iter().map(|at| at.0 as usize).collect();
        let state = program
            .follow(&schedule)
            .expect("the schedule can be followed");
        assert!(program.has_cycle(&after_accesses(&program, steps, state)));
    }
}

/// The state after all accesses that come before a thread's next synchronisation.
fn after_accesses(program: &Program, steps: &[Step], mut state: Vec<usize>) -> Vec<usize> {
    for thread in 0..program.threads.len() {
        let begun = state[thread] > 0;
        while let Some(at) = program.next(&state, thread).filter(|_| begun)
            && steps[at].event.op().is_access()
        {
            state[thread] += 1;
        }
    }
    state
}

/// The paper's synchronisation, and read-write and re-entrant locks.
const PAPER: Shape = Shape {
    steps: 16,
    locks: 2,
    branches: false,
    rest: Rest {
        conditions: true,
        barriers: true,
        locks: true,
        parts: true,
        ..Shape::PAPER.rest
    },
    ..Shape::PAPER
};

/// Nested locks.
const NESTED: Shape = Shape {
    steps: 16,
    locks: 3,
    variables: 1,
    branches: false,
    ..Shape::PAPER
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutexes_forks_and_joins(window in windows(Shape { steps: 16, branches: false, locks: 2, ..Shape::PAPER }, Needed::ByNext)) {
        agrees(&window.steps);
    }

    #[test]
    fn conditions_and_barriers(window in windows_of_parts(PAPER, Needed::ByNext)) {
        agrees(&window.steps);
    }

    #[test]
    fn waits_that_happen_and_waits_that_never_do(steps in signals(24)) {
        agrees(&steps);
    }

    #[test]
    fn nested_locks(window in windows(NESTED, Needed::ByNext)) {
        agrees(&window.steps);
    }

    /// Whatever a window of any size reports, a schedule from the very beginning leads there.
    #[test]
    fn windows_carry_over_what_is_held(window in windows(NESTED, Needed::ByNext), size in 4usize..10) {
        let steps = &window.steps;
        let program = Program::of(steps);
        let found = generated(steps, Size::Events(size));
        for proven in found.races.iter().chain(&found.deadlocks) {
            let before = (0..proven.start.0 as usize)
                .filter(|at| !steps[*at].event.op().is_access());
            let schedule = proven.schedule.iter().map(|at| at.0 as usize);
            let schedule: Vec<usize> = before.chain(schedule).collect();
            prop_assert!(program.follow(&schedule).is_ok(), "{:?} {:#?}", proven, steps);
        }
    }
}

#[test]
fn the_paper_s_listing() {
    let trace = "\
T0|fork(T1)|1
T0|w(y)|2
T0|acq(m)|3
T0|w(x)|4
T0|rel(m)|5
T1|begin|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|w(y)|10
T1|end|11
T0|join(T1)|12
";
    let trace = text::parse(trace).unwrap();
    agrees(&trace.steps);
    let found = generated(&trace.steps, Size::Auto);
    let ops: Vec<Op> = found.races[0]
        .schedule
        .iter()
        .map(|at| trace.steps[at.0 as usize].event.op())
        .collect();
    // As in the paper.
    assert_eq!(ops, [Op::Fork, Op::Begin, Op::Acquire, Op::Release]);
    assert_eq!(found.races.len(), 1);
    assert!(found.deadlocks.is_empty());
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_was_made_for() {
    let trace = |places: u32| {
        let trace = format!(
            "T0|init(sem:s={places})|1\nT0|fork(T1)|2\nT0|fork(T2)|3\n\
             T1|begin|4\nT1|take(s)|5\nT1|w(x)|6\nT1|post(s)|7\n\
             T2|begin|8\nT2|take(s)|9\nT2|w(x)|10\nT2|post(s)|11\n"
        );
        generated(&text::parse(&trace).unwrap().steps, Size::Auto)
    };
    assert_eq!(trace(1).races.len(), 0);
    assert_eq!(trace(2).races.len(), 1);
}
