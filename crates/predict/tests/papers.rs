//! The examples of Huang, Meredith and Rosu (PLDI 2014), and small traces of real programs, as the slow answers have them.

mod oracle;

use std::collections::BTreeSet;

use deadheat_predict::{Cut, Goal, Window};
use deadheat_trace::Pc;
use oracle::z3::{Verdict, verdict};
use oracle::{Needed, axioms, reachable, window};

/// The races of a trace with the paper's events, by both oracles, as numbers of lines from 1.
fn races(trace: &str, needed: Needed) -> Vec<(u32, u32)> {
    let window = window(trace, needed);
    let reachable: BTreeSet<[u32; 2]> = reachable::races(&window).into_keys().collect();
    assert_eq!(axioms::races(&window, needed), reachable);
    reachable.into_iter().map(|[a, b]| (a + 1, b + 1)).collect()
}

/// What the paper's formula says of two lines.
fn formula(trace: &str, (a, b): (u32, u32)) -> Verdict {
    let cut = Cut {
        goal: Goal::Race,
        next: vec![a - 1, b - 1],
    };
    verdict(&window(trace, Needed::ByBranch), &cut, 60)
}

const FIGURE_4: &str = "\
T1|fork(T2)|1
T1|acq(l)|2
T1|w(x=1)|3
T1|w(y=1)|4
T1|rel(l)|5
T2|begin|6
T2|acq(l)|7
T2|r(y=1)|8
T2|rel(l)|9
T2|r(x=1)|10
T2|branch|11
T2|w(z=1)|12
T2|end|13
T1|join(T2)|14
T1|r(z=1)|15
T1|branch|16
";

#[test]
fn figure_4() {
    assert_eq!(races(FIGURE_4, Needed::ByBranch), [(3, 10)]);
    assert_eq!(races(FIGURE_4, Needed::ByNext), []);
    assert_eq!(formula(FIGURE_4, (3, 10)), Verdict::Sat);
    assert_eq!(formula(FIGURE_4, (4, 8)), Verdict::Unsat);
    assert_eq!(formula(FIGURE_4, (12, 15)), Verdict::Unsat);
}

/// The second thread is created under the lock: what it does under the lock comes after the first has left it.
#[test]
fn figure_4_with_the_first_lines_switched() {
    let mut lines: Vec<&str> = FIGURE_4.lines().collect();
    lines.swap(0, 1);
    let switched = lines.join("\n");
    assert_eq!(races(&switched, Needed::ByBranch), []);
    assert_eq!(formula(&switched, (3, 10)), Verdict::Unsat);
}

/// `r1 = y` and `while (y == 0)`: the same accesses, but something depends on what the second reads.
#[test]
fn figure_2() {
    let first = "T1|w(x=1)|1\nT1|w(y=1)|2\nT2|r(y=1)|3\nT2|r(x=1)|4\n";
    assert!(races(first, Needed::ByBranch).contains(&(1, 4)));
    assert!(!races(first, Needed::ByNext).contains(&(1, 4)));
    let second = "T1|w(x=1)|1\nT1|w(y=1)|2\nT2|r(y=1)|3\nT2|branch|3\nT2|r(x=1)|4\n";
    assert!(!races(second, Needed::ByBranch).contains(&(1, 5)));
    assert_eq!(formula(first, (1, 4)), Verdict::Sat);
    assert_eq!(formula(second, (1, 5)), Verdict::Unsat);
}

/// `a[x] = 2` writes elsewhere once `x` has changed.
#[test]
fn array_of_section_4() {
    let trace = "\
T1|acq(l)|1
T1|r(x=0)|2
T1|branch|2
T1|w(\"a[0]\"=2)|2
T1|rel(l)|3
T2|acq(l)|4
T2|w(x=1)|5
T2|rel(l)|6
T2|w(\"a[0]\"=1)|7
";
    assert_eq!(races(trace, Needed::ByBranch), []);
    assert_eq!(formula(trace, (4, 9)), Verdict::Unsat);
}

/// What the first thread needs to be true is written by a thread that would not be there: the second thread
/// creates it because of what it read, and it can read that only after the race is past. The paper's formula asks of a
/// write that is needed nothing but its own thread's reads.
#[test]
fn the_formula_accepts_what_no_schedule_leads_to() {
    let trace = "\
T1|w(z=1)|1
T1|w(x=1)|2
T0|r(x=1)|3
T0|branch|3
T0|fork(T2)|4
T2|begin|5
T2|w(y=1)|6
T3|r(y=1)|7
T3|branch|7
T3|w(z=2)|8
";
    assert!(!races(trace, Needed::ByBranch).contains(&(1, 10)));
    assert_eq!(formula(trace, (1, 10)), Verdict::Sat);
}

/// Both threads stand at their accesses, and behind that is a deadlock: no order of all events.
#[test]
fn the_formula_rejects_what_a_schedule_leads_to() {
    let trace = "\
T1|acq(l)|1
T1|w(z=1)|2
T1|acq(m)|3
T1|rel(m)|4
T1|rel(l)|5
T2|acq(m)|6
T2|w(z=2)|7
T2|acq(l)|8
T2|rel(l)|9
T2|rel(m)|10
";
    assert_eq!(races(trace, Needed::ByBranch), [(2, 7)]);
    assert_eq!(formula(trace, (2, 7)), Verdict::Unsat);
}

/// The pairs of places that race in a trace of a real program, all of its reads being needed.
fn places(trace: &str) -> BTreeSet<[Pc; 2]> {
    let window = window(trace, Needed::ByNext);
    let races = reachable::races(&window).into_keys();
    let place = |at: u32| window.steps[at as usize].event.pc();
    let places = races.map(|pair| {
        let mut places = pair.map(place);
        places.sort_unstable();
        places
    });
    places.collect()
}

#[test]
fn races_of_real_programs() {
    assert_eq!(places(include_str!("traces/array.txt")).len(), 0);
    assert_eq!(places(include_str!("traces/demo_example.txt")).len(), 1);
    assert_eq!(places(include_str!("traces/critical.txt")).len(), 8);
}

/// A thread that is joined has got to its end: what it read on the way was so.
#[test]
fn nothing_races_with_what_comes_after_a_join_that_needs_it() {
    assert_eq!(places(include_str!("traces/joinfeas_java.txt")).len(), 1);
    let window = window(include_str!("traces/joinfeas.std"), Needed::ByNext);
    let races = reachable::races(&window);
    assert!(!races.contains_key(&[3, 7]), "{races:?}");
}

fn deadlocks(window: &Window) -> Vec<Vec<u32>> {
    reachable::deadlocks(window).into_keys().collect()
}

#[test]
fn deadlocks_of_real_programs() {
    let real = window(include_str!("traces/dl_real.std"), Needed::ByNext);
    // The two threads, and once more with the one that joins them.
    assert_eq!(deadlocks(&real).len(), 2);
    let gate = window(include_str!("traces/dl_gate.std"), Needed::ByNext);
    assert!(deadlocks(&gate).is_empty());
}
