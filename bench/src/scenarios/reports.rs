//! What tools say, compared with the marks in a program's text.
//!
//! A report is a race or a deadlock at lines of the program's own file: of each thread the innermost frame that is there.
//! Stock ThreadSanitizer's deadlocks are warnings about the order of locks: they name the cycle and no schedule, so of a
//! program that can deadlock any of them counts.

use std::collections::BTreeSet;

use deadheat_oracle::Oracle;

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
fn line_in(frame: &str, file: &str) -> Option<u32> {
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

/// What `deadheat check` printed. What is only suspicious is no report.
pub fn of_check(printed: &str, file: &str) -> BTreeSet<Report> {
    let is_side =
        |line: &str| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':');
    let is_head = |line: &str| !line.starts_with(' ') && line.contains(") [");
    let lines: Vec<&str> = printed.lines().collect();
    let findings = lines.chunk_by(|_, next| !is_head(next));
    let sure = findings.filter(|part| is_head(part[0]) && !part[0].starts_with("warning"));
    let reports = sure.map(|part| {
        let is_race = part[0].contains("race on") || part[0].starts_with("race");
        report(is_race, sides(part, file, is_race, is_side))
    });
    reports.collect()
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
    fn check_s_words_are_understood() {
        let printed = "\
deadlocks       1 confirmed

confirmed race on value (hybrid, maximal) [a270612b]
  write of 4 bytes by T1:
      writer /p/a.c:14
    holding no lock
  read of 4 bytes by T0:
      main /p/a.c:54
    holding no lock
  byte 4 of a heap block of 8 bytes at 0x10, allocated by T0:
      main /p/a.c:8

deadlock of 2 threads (maximal) [b8b3d40e]
  T0 waits for posted (semaphore):
      main /p/a.c:38
    holding lock, taken at main /p/a.c:37
  T1 waits for lock (lock):
      poster /p/a.c:12
";
        let deadlock = Report::Deadlock(vec![12, 38]);
        let expected = BTreeSet::from([Report::Race([14, 54]), deadlock]);
        assert_eq!(of_check(printed, "a.c"), expected);
    }

    #[test]
    fn what_is_not_marked_is_wrong() {
        let text = "x++; // RACE: x with line 2\nx++; // RACE: x with line 1\n";
        let oracle = Oracle::parse("a.c", text).unwrap();
        let reports = BTreeSet::from([Report::Race([1, 2]), Report::LockOrder]);
        assert_eq!(score(&oracle, &reports), Score { found: 1, wrong: 1 });
    }
}
