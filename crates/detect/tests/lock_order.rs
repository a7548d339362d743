//! Potential deadlocks: what is one and what is not, and against all reorderings.

mod oracle;

use deadheat_detect::{Deadlocks, LockOrder};
use deadheat_trace::{EventIndex, Trace, text};
use oracle::random::{Shape, traces};
use oracle::reorder::Reorder;
use proptest::prelude::*;

fn run(trace: &Trace) -> Deadlocks {
    let mut locks = LockOrder::new();
    for (index, step) in trace.steps.iter().enumerate() {
        locks.step(EventIndex(index as u64), step, &trace.tables);
    }
    locks.deadlocks()
}

/// How many deadlocks a trace may have; each line is a thread's nesting of locks.
#[track_caller]
fn check(expected: usize, text: &str) {
    let lines = text.split("; ").map(|line| format!("{line}\n"));
    let text: String = lines
        .enumerate()
        .map(|(i, line)| line.replace('\n', &format!("|{i}\n")))
        .collect();
    let deadlocks = run(&text::parse(&text).unwrap());
    assert_eq!(deadlocks.found.len(), expected, "{text}");
    assert!(deadlocks.complete);
}

/// `T` takes the locks in order and gives them back.
fn nest(thread: &str, locks: &[&str]) -> String {
    let take = locks.iter().map(|lock| format!("{thread}|acq({lock})"));
    let give = locks
        .iter()
        .rev()
        .map(|lock| format!("{thread}|rel({lock})"));
    take.chain(give).collect::<Vec<_>>().join("; ")
}

fn all(nests: &[(&str, &[&str])]) -> String {
    let nests = nests.iter().map(|(thread, locks)| nest(thread, locks));
    nests.collect::<Vec<_>>().join("; ")
}

#[test]
fn cycles() {
    check(1, &all(&[("A", &["m", "n"]), ("B", &["n", "m"])]));
    check(0, &all(&[("A", &["m", "n"]), ("B", &["m", "n"])]));
    check(
        1,
        &all(&[("A", &["l", "m"]), ("B", &["m", "n"]), ("C", &["n", "l"])]),
    );
    // The inner lock of three is wanted while both others are held.
    check(1, &all(&[("A", &["x", "m", "n"]), ("B", &["n", "m"])]));
}

#[test]
fn one_thread_is_no_cycle() {
    check(0, &all(&[("A", &["m", "n"]), ("A", &["n", "m"])]));
    check(
        0,
        &all(&[("A", &["l", "m"]), ("B", &["m", "n"]), ("A", &["n", "l"])]),
    );
}

#[test]
fn gates() {
    check(0, &all(&[("A", &["g", "m", "n"]), ("B", &["g", "n", "m"])]));
    check(1, &all(&[("A", &["g", "m", "n"]), ("B", &["h", "n", "m"])]));
    let readers = all(&[("A", &["g", "m", "n"]), ("B", &["g", "n", "m"])]);
    let readers = readers
        .replace("acq(g)", "rdlock(g)")
        .replace("rel(g)", "rdunlock(g)");
    check(1, &readers);
}

#[test]
fn readers() {
    let text = all(&[("A", &["m", "n"]), ("B", &["n", "m"])]);
    let all_read = text.replace("acq(", "rdlock(").replace("rel(", "rdunlock(");
    check(0, &all_read);
    let one_lock_read = text
        .replace("acq(m)", "rdlock(m)")
        .replace("rel(m)", "rdunlock(m)");
    check(0, &one_lock_read);
    let one_read = text
        .replace("A|acq(m)", "A|rdlock(m)")
        .replace("A|rel(m)", "A|rdunlock(m)");
    check(1, &one_read);
}

#[test]
fn ordered_threads() {
    let (a, b) = (nest("A", &["m", "n"]), nest("B", &["n", "m"]));
    check(0, &format!("{a}; A|fork(B); {b}"));
    check(1, &format!("A|fork(B); {a}; {b}"));
    check(0, &format!("M|fork(A); {a}; M|join(A); M|fork(B); {b}"));
    // A second time without the order.
    check(1, &format!("{a}; A|fork(B); {b}; {a}"));
}

#[test]
fn tried_locks_are_not_waited_for() {
    let text = all(&[("A", &["m", "n"]), ("B", &["n", "m"])]);
    check(0, &text.replace("B|acq(m)", "B|acq(\"m\"=1)"));
    // But held they are.
    check(1, &text.replace("B|acq(n)", "B|acq(\"n\"=1)"));
}

#[test]
fn threads_that_stand_still() {
    check(1, "A|acq(m); B|acq(n); A|req(n); B|req(m)");
    check(1, "A|acq(m); A|req(m)");
    check(1, "A|rdlock(m); A|req(m)");
    check(0, "A|rdlock(m); A|rdreq(m)");
}

#[test]
fn a_place_once() {
    let twice = all(&[("A", &["m", "n"]), ("B", &["n", "m"])]);
    let text = format!(
        "{}\n{}",
        twice.replace("; ", "|1\n") + "|1",
        twice.replace("; ", "|1\n") + "|1"
    );
    assert_eq!(run(&text::parse(&text).unwrap()).found.len(), 1);
}

#[test]
fn recorded_traces() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");
    let found = |name: &str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.std")).unwrap();
        run(&text::parse_std(&text).unwrap()).found
    };
    let real = found("dl_real");
    assert_eq!(real.len(), 1);
    assert_eq!(real[0].steps.len(), 2);
    assert!(real[0].steps[0].requests.lock == real[0].steps[1].holds.lock);
    assert!(found("dl_gate").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever reordering leaves two threads each waiting for what the other holds is reported.
    #[test]
    fn every_deadlock_of_two_that_a_reordering_shows(trace in traces(Shape { steps: 18, ..Shape::PLAIN })) {
        let deadlocks = run(&trace).found;
        for (a, b) in Reorder::new(&trace).deadlocks_of_two() {
            let places: Vec<u64> = vec![a as u64, b as u64];
            let reported = deadlocks.iter().any(|deadlock| {
                let mut at: Vec<u64> = deadlock.steps.iter().map(|step| step.requests.at.0).collect();
                at.sort_unstable();
                at == places
            });
            prop_assert!(reported || same_request_earlier(&trace, a, b, &deadlocks), "{a} {b} {deadlocks:?}");
        }
    }
}

/// Of requests by the same threads for the same locks the first are reported.
fn same_request_earlier(
    trace: &Trace,
    a: usize,
    b: usize,
    deadlocks: &[deadheat_detect::Deadlock],
) -> bool {
    let wanted = |i: usize| (trace.steps[i].event.thread(), trace.steps[i].event.lock());
    let pair = [wanted(a), wanted(b)];
    deadlocks.iter().any(|deadlock| {
        let mut steps = deadlock.steps.iter();
        steps.all(|step| pair.contains(&(step.thread, step.requests.lock)))
    })
}
