//! What tools say, compared with the marks in a program's text.
//!
//! A report is a race or a deadlock at lines of the program's own file: of each thread the innermost frame that is there.
//! Stock ThreadSanitizer's deadlocks are warnings about the order of locks: they name the cycle and no schedule, so of a
//! program that can deadlock any of them counts.

use std::collections::BTreeSet;

use deadheat_oracle::Oracle;
use deadheat_report::{Kind, Rung, json};

/// Something that was reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Report {
    /// A race of these lines, in order.
    Race([u32; 2]),
    /// A deadlock of these lines, in order.
    Deadlock(Vec<u32>),
    /// A cycle in the order of locks.
    LockOrder,
}

/// How much of what is marked was reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Marked errors that were reported.
    pub found: usize,
    /// Reports of what is not marked.
    pub wrong: usize,
}

/// How many errors are marked. A race of the memory model only is none that a run can show.
pub fn errors(oracle: &Oracle) -> usize {
    let races = oracle.races.iter().filter(|race| !race.weak);
    races.count() + oracle.deadlocks.len()
}

/// Compares reports with marks.
pub fn score(oracle: &Oracle, reports: &BTreeSet<Report>) -> Score {
    let races = oracle.races.iter().filter(|race| {
        let lines = [race.lines.0, race.lines.1];
        !race.weak && reports.contains(&Report::Race(lines))
    });
    let deadlocks = oracle.deadlocks.iter().filter(|deadlock| {
        let lines = deadlock.requests.iter().map(|request| request.line);
        reports.contains(&Report::Deadlock(lines.collect())) || reports.contains(&Report::LockOrder)
    });
    let is_wrong = |report: &&Report| match report {
        Report::Race([a, b]) => oracle.race(*a, *b).is_none(),
        Report::Deadlock(lines) => oracle.deadlock(lines).is_none(),
        Report::LockOrder => oracle.deadlocks.is_empty(),
    };
    Score {
        found: races.count() + deadlocks.count(),
        wrong: reports.iter().filter(is_wrong).count(),
    }
}

/// The line of a program's file that a frame is in, if it is.
pub fn line_in(frame: &str, file: &str) -> Option<u32> {
    let behind = frame.split_once(&format!("/{file}:"))?.1;
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The innermost lines of a program's file: one for each part of a text that a line for which `begins` is true starts. A race has two;
/// where a block comes from may follow.
fn sides(text: &[&str], file: &str, is_race: bool, begins: impl Fn(&str) -> bool) -> Vec<u32> {
    let mut sides: Vec<Option<u32>> = Vec::new();
    for line in text {
        if begins(line) {
            sides.push(None);
        } else if let Some(side @ None) = sides.last_mut() {
            *side = line_in(line, file);
        }
    }
    sides.truncate(if is_race { 2 } else { usize::MAX });
    let mut lines: Vec<u32> = sides.into_iter().map(Option::unwrap_or_default).collect();
    lines.sort_unstable();
    lines
}

fn report(is_race: bool, lines: Vec<u32>) -> Report {
    match (is_race, lines.as_slice()) {
        (true, [a, b]) => Report::Race([*a, *b]),
        _ => Report::Deadlock(lines),
    }
}

/// What `deadheat check --format json` printed, without what is only suspicious.
pub fn of_check(printed: &str, file: &str) -> Result<BTreeSet<Report>, String> {
    at_least(Rung::Warning, printed, file)
}

/// What of it was confirmed.
pub fn confirmed(printed: &str, file: &str) -> Result<BTreeSet<Report>, String> {
    at_least(Rung::Confirmed, printed, file)
}

fn at_least(rung: Rung, printed: &str, file: &str) -> Result<BTreeSet<Report>, String> {
    let findings = json::findings(printed).map_err(|error| error.to_string())?;
    let findings = findings.iter().filter(|finding| finding.rung >= rung);
    let reports = findings.map(|finding| {
        let sides = finding.accesses.iter().map(|side| {
            let own = side
                .stack
                .iter()
                .find_map(|frame| line_in(&frame.told(), file));
            own.unwrap_or_default()
        });
        let mut lines: Vec<u32> = sides.collect();
        lines.sort_unstable();
        report(finding.kind == Kind::Race, lines)
    });
    Ok(reports.collect())
}

/// What a run under stock ThreadSanitizer said.
pub fn of_tsan(said: &str, file: &str) -> BTreeSet<Report> {
    const RULE: &str = "==================";
    let mut reports = BTreeSet::new();
    for part in said.split(RULE) {
        if part.contains("lock-order-inversion") {
            reports.insert(Report::LockOrder);
        }
        if part.contains("ThreadSanitizer: data race") || part.contains("heap-use-after-free") {
            let lines: Vec<&str> = part.lines().collect();
            let is_side = |line: &str| {
                let line = line.trim_start().to_ascii_lowercase();
                let words = ["read of size", "write of size", "atomic"];
                let line = line.strip_prefix("previous ").unwrap_or(&line);
                words.iter().any(|word| line.starts_with(word)) && line.ends_with(':')
            };
            reports.insert(report(true, sides(&lines, file, true, is_side)));
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use deadheat_report::{Access, Finding, Frame, Thread};

    use super::*;

    #[test]
    fn tsan_s_words_are_understood() {
        let said = "\
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Read of size 4 at 0x1 by main thread:
    #0 main /p/a.c:54 (a.c-gcc+0x1)

  Previous write of size 4 at 0x1 by thread T1:
    #0 helper /p/other.h:3
    #1 writer /p/a.c:14:5 (a+0x2)
==================
==================
WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=1)
==================
";
        let expected = BTreeSet::from([Report::Race([14, 54]), Report::LockOrder]);
        assert_eq!(of_tsan(said, "a.c"), expected);
    }

    #[test]
    fn check_s_report_is_understood() {
        let side = |stack: &[(&str, u32)]| {
            let frame = |(file, line): &(&str, u32)| Frame {
                function: Some("f".to_owned()),
                file: Some((*file).to_owned()),
                line: Some(*line),
                ..Frame::default()
            };
            let stack: Vec<Frame> = stack.iter().map(frame).collect();
            Access {
                thread: Thread {
                    number: 1,
                    name: "T1".to_owned(),
                    parent: None,
                    created_at: Vec::new(),
                },
                op: "write".to_owned(),
                size: 4,
                address: 16,
                place: stack[0].clone(),
                stack,
                folded: false,
                locks: Vec::new(),
                waits_for: None,
                index: None,
            }
        };
        let finding = |kind, sides| Finding::new(kind, Rung::Confirmed, "maximal", sides);
        let race = vec![
            side(&[("/p/b.h", 3), ("/p/a.c", 54)]),
            side(&[("/p/a.c", 14)]),
        ];
        let wait = vec![
            side(&[("/p/a.c", 38)]),
            side(&[("/p/a.c", 12), ("/p/a.c", 7)]),
        ];
        let findings = [finding(Kind::Race, race), finding(Kind::Deadlock, wait)];
        let printed = json::report(&findings, ());
        let deadlock = Report::Deadlock(vec![12, 38]);
        let expected = BTreeSet::from([Report::Race([14, 54]), deadlock]);
        assert_eq!(of_check(&printed, "a.c"), Ok(expected.clone()));
        assert_eq!(confirmed(&printed, "a.c"), Ok(expected));
        let derived = Finding {
            rung: Rung::Witness,
            ..findings[0].clone()
        };
        let printed = json::report(&[derived], ());
        assert_eq!(of_check(&printed, "a.c").map(|all| all.len()), Ok(1));
        assert_eq!(confirmed(&printed, "a.c"), Ok(BTreeSet::new()));
        assert!(of_check("no report", "a.c").is_err());
    }

    #[test]
    fn what_is_not_marked_is_wrong() {
        let text = "x++; // RACE: x with line 2\nx++; // RACE: x with line 1\n";
        let oracle = Oracle::parse("a.c", text).unwrap();
        let reports = BTreeSet::from([Report::Race([1, 2]), Report::LockOrder]);
        assert_eq!(score(&oracle, &reports), Score { found: 1, wrong: 1 });
    }
}
