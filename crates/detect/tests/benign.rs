//! Each pattern of races that may do no harm, and the same with one thing changed.

use deadheat_detect::{Access, Benign, Hint, Race};
use deadheat_trace::{EventIndex, LockId, ThreadId, text};

/// The hints for `x` in a trace; its first and its last access are the race.
fn hints(lines: &[&str]) -> Vec<Hint> {
    let text: String = lines
        .iter()
        .enumerate()
        .map(|(i, line)| format!("{line}|{i}\n"))
        .collect();
    let trace = text::parse(&text).unwrap();
    let accesses: Vec<Access> = trace
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.event.op().is_access())
        .map(|(i, step)| Access {
            index: EventIndex(i as u64),
            event: step.event,
        })
        .collect();
    let race = Race {
        first: accesses[0],
        second: *accesses.last().unwrap(),
    };
    let mut benign = Benign::of(&[race]);
    for (i, step) in trace.steps.iter().enumerate() {
        benign.step(EventIndex(i as u64), step);
    }
    benign.hints(0)
}

#[test]
fn constant_writes() {
    assert_eq!(
        hints(&["T0|w(x=1)", "T1|w(x=1)", "T2|r(x=1)"]),
        [Hint::SameValue(1)]
    );
    assert_eq!(hints(&["T0|w(x=1)", "T1|w(x=2)", "T2|r(x=2)"]), []);
    assert_eq!(
        hints(&["T0|r(x=7)", "T1|w(x=7)", "T0|r(x=7)"]),
        [Hint::Unchanged]
    );
    assert_eq!(hints(&["T0|w(x=1)", "T2|r(x=1)"]), []);
}

#[test]
fn statistics_counters() {
    let counter = ["T0|r(x=4)", "T0|w(x=5)", "T1|r(x=5)", "T1|w(x=7)"];
    assert_eq!(hints(&counter), [Hint::Counter]);
    // Somebody decides by it.
    let looked_at = [&counter[..], &["T2|r(x=7)", "T2|r(x=7)"]].concat();
    assert_eq!(hints(&looked_at), []);
    // A write that does not add to what was read.
    assert_eq!(hints(&["T0|r(x=4)", "T0|w(x=5)", "T1|w(x=6)"]), []);
}

#[test]
fn double_checked_locking() {
    let checked = [
        "T0|r(x)",
        "T0|acq(m)",
        "T0|r(x)",
        "T0|w(x)",
        "T0|rel(m)",
        "T1|r(x)",
    ];
    let named = hints(&checked);
    assert!(
        matches!(named[..], [Hint::DoubleChecked(LockId(0))]),
        "{named:?}"
    );
    let unlocked = [
        "T0|r(x)",
        "T0|acq(m)",
        "T0|r(x)",
        "T0|rel(m)",
        "T0|w(x)",
        "T1|r(x)",
    ];
    assert_eq!(hints(&unlocked), []);
}

#[test]
fn lazy_initialisation() {
    let lazy = ["T0|r(x=0)", "T0|w(x=64)", "T1|r(x=64)"];
    assert_eq!(hints(&lazy), [Hint::LazyInitialisation]);
    assert_eq!(hints(&["T0|r(x=3)", "T0|w(x=64)", "T1|r(x=64)"]), []);
}

#[test]
fn flags() {
    // One place that looks again and again: the same location.
    let text = "T0|r(x=0)|a:1\nT0|r(x=0)|a:1\nT1|w(x=1)|b:2\nT0|r(x=1)|a:1\n";
    let trace = text::parse(text).unwrap();
    let access = |i: usize| Access {
        index: EventIndex(i as u64),
        event: trace.steps[i].event,
    };
    let race = Race {
        first: access(0),
        second: access(2),
    };
    let mut benign = Benign::of(&[race]);
    for (i, step) in trace.steps.iter().enumerate() {
        benign.step(EventIndex(i as u64), step);
    }
    assert_eq!(
        benign.hints(0),
        [Hint::Flag {
            poller: ThreadId(0)
        }]
    );
    assert_eq!(
        hints(&["T0|r(x=0)", "T0|r(x=0)", "T1|w(x=1)", "T0|r(x=1)"]),
        []
    );
}

#[test]
fn timestamps() {
    let rising = ["T0|w(x=10)", "T0|w(x=12)", "T0|w(x=15)", "T1|r(x=15)"];
    assert_eq!(
        hints(&rising),
        [Hint::Timestamp {
            writer: ThreadId(0)
        }]
    );
    assert_eq!(
        hints(&["T0|w(x=10)", "T0|w(x=9)", "T0|w(x=15)", "T1|r(x=15)"]),
        []
    );
}

#[test]
fn another_block_at_the_same_address_is_another_object() {
    let reused = [
        "T0|alloc(x:8)",
        "T0|w(x=1)",
        "T0|free(x)",
        "T0|alloc(x:8)",
        "T1|w(x=2)",
        "T0|w(x=2)",
    ];
    let trace = text::parse(&reused.map(|line| format!("{line}|1\n")).concat());
    let Ok(trace) = trace else {
        panic!("{trace:?}");
    };
    let access = |i: usize| Access {
        index: EventIndex(i as u64),
        event: trace.steps[i].event,
    };
    let mut benign = Benign::of(&[Race {
        first: access(4),
        second: access(5),
    }]);
    for (i, step) in trace.steps.iter().enumerate() {
        benign.step(EventIndex(i as u64), step);
    }
    assert_eq!(benign.hints(0), [Hint::SameValue(2)]);
}
