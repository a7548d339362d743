//! Findings in ThreadSanitizer's shape, held against a report that gcc's runtime has printed.

use deadheat_report::{Finding, json, tsan};

/// What gcc 12's ThreadSanitizer says of a race and of a lock order: paths of the machine shortened.
const REAL: &str = include_str!("tsan-of-gcc.txt");

fn bank() -> Vec<Finding> {
    json::findings(include_str!("bank/report.json")).unwrap()
}

/// A line's shape: what a reader of these reports tells it by.
#[derive(Debug, PartialEq, Eq, Clone, Copy, PartialOrd, Ord)]
enum Line {
    Ruler,
    Warning,
    Access,
    Previous,
    Cycle,
    Acquired,
    Location,
    Mutex,
    Thread,
    Frame,
    Hint,
    Empty,
    Summary,
    Total,
}

/// Whether the text is these pieces with something between them; nothing where a piece is empty.
fn has(text: &str, pieces: &[&str]) -> bool {
    let mut rest = text;
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    text.starts_with(pieces[0])
}

fn is_frame(text: &str) -> bool {
    let Some((number, rest)) = text
        .strip_prefix("    #")
        .and_then(|rest| rest.split_once(' '))
    else {
        return false;
    };
    let source = rest.split(" (").next().unwrap_or_default();
    number.parse::<usize>().is_ok() && source.contains(' ') && rest.ends_with(')')
}

fn line(text: &str) -> Line {
    let shapes: [(Line, &[&str]); 11] = [
        (Line::Ruler, &["=================="]),
        (
            Line::Warning,
            &["WARNING: ThreadSanitizer: ", " (pid=", ")"],
        ),
        (
            Line::Previous,
            &["  Previous ", " of size ", " at 0x", " by ", ":"],
        ),
        (
            Line::Cycle,
            &["  Cycle in lock order graph: M", " (0x", ") => M", " => M"],
        ),
        (
            Line::Acquired,
            &[
                "  Mutex M",
                " acquired here while holding mutex M",
                " in ",
                ":",
            ],
        ),
        (Line::Location, &["  Location is "]),
        (Line::Mutex, &["  Mutex M", " (0x", ") created at:"]),
        (
            Line::Thread,
            &["  Thread T", " (tid=", ") created by ", " at:"],
        ),
        (Line::Summary, &["SUMMARY: ThreadSanitizer: ", " in "]),
        (Line::Hint, &["    Hint: "]),
        (Line::Total, &["ThreadSanitizer: reported ", " warnings"]),
    ];
    if text.is_empty() {
        return Line::Empty;
    }
    if is_frame(text) {
        return Line::Frame;
    }
    for (shape, pieces) in shapes {
        if has(text, pieces) {
            return shape;
        }
    }
    let is_access = ["  Write", "  Read", "  Atomic write", "  Atomic read"]
        .iter()
        .any(|op| has(text, &[op, " of size ", " at 0x", " by ", ":"]));
    assert!(is_access, "no line of such a report: {text:?}");
    Line::Access
}

/// The shapes of all lines; several frames are one, hints are left out.
fn shapes(report: &str) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let mut lines = report.lines();
    while let Some(text) = lines.next() {
        match line(text) {
            Line::Hint => drop(lines.next()), // an empty line follows
            Line::Frame if all.last() == Some(&Line::Frame) => {}
            shape => all.push(shape),
        }
    }
    all
}

#[test]
fn a_race_has_the_shape_of_a_real_one() {
    let (real, _) = REAL.split_once("-- deadlock\n").unwrap();
    let ours = tsan::report(&bank()[..1]);
    let mut ours = shapes(&ours);
    // Both sides hold a lock, and two threads were created; in the real one it is one each.
    let mutex = [Line::Mutex, Line::Frame, Line::Empty];
    let at = ours.iter().position(|shape| *shape == Line::Mutex).unwrap();
    assert_eq!(ours.drain(at..at + 3).collect::<Vec<_>>(), mutex);
    let at = ours
        .iter()
        .position(|shape| *shape == Line::Thread)
        .unwrap();
    ours.drain(at..at + 3);
    assert_eq!(ours, shapes(real));
}

#[test]
fn a_deadlock_has_the_shape_of_a_real_one() {
    let (_, real) = REAL.split_once("-- deadlock\n").unwrap();
    let all = bank();
    let deadlock = all.iter().find(|finding| finding.id == "91b7e2f4").unwrap();
    let ours = tsan::report(std::slice::from_ref(deadlock));
    assert_eq!(shapes(&ours), shapes(real));
}

#[test]
fn all_findings_as_they_are_printed() {
    insta::assert_snapshot!(tsan::report(&bank()));
}

#[test]
fn names_cannot_fake_lines() {
    let mut finding = bank().remove(0);
    finding.accesses[0].stack[0].function = Some("f\nWARNING: ThreadSanitizer: x".to_owned());
    finding.accesses[0].thread.name = "a\nSUMMARY: none".to_owned();
    let told = tsan::report(&[finding]);
    let warnings = told.lines().filter(|text| line(text) == Line::Warning);
    assert_eq!(warnings.count(), 1);
}
