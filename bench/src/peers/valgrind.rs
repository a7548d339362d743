//! What Valgrind's two detectors print, as reports.

use std::collections::BTreeSet;

use deadheat_oracle::Oracle;

use crate::scenarios::reports::{Report, Score, line_in};

/// Lines without `==123== `.
fn lines(said: &str) -> impl Iterator<Item = &str> {
    let line = |line| {
        let (_, rest) = str::split_once(line, "==")?.1.split_once("==")?;
        Some(rest.trim())
    };
    said.lines().filter_map(line)
}

/// What Helgrind said: a race has the place of the access and that of an earlier one.
pub fn of_helgrind(said: &str, file: &str) -> BTreeSet<Report> {
    let mut reports = BTreeSet::new();
    let mut sides: Vec<Option<u32>> = Vec::new();
    let finish = |sides: &mut Vec<Option<u32>>, reports: &mut BTreeSet<Report>| {
        if let [first, second] = sides[..] {
            let (first, second) = (first.unwrap_or(0), second.unwrap_or(0));
            reports.insert(Report::Race([first.min(second), first.max(second)]));
        }
        sides.clear();
    };
    for line in lines(said) {
        if line.starts_with("Possible data race during") {
            finish(&mut sides, &mut reports);
            sides.push(None);
        } else if line.starts_with("This conflicts with a previous") {
            sides.push(None);
        } else if line.contains("lock order") && line.contains("violated") {
            reports.insert(Report::LockOrder);
        } else if line.starts_with("at 0x") || line.starts_with("by 0x") {
            if let Some(side @ None) = sides.last_mut() {
                *side = line_in(line, file);
            }
        } else if !sides.is_empty() && line.starts_with("-----") {
            finish(&mut sides, &mut reports);
        }
    }
    finish(&mut sides, &mut reports);
    reports
}

/// What DRD said: of a race only the place of the access, twice here. The other one lies between two places.
pub fn of_drd(said: &str, file: &str) -> BTreeSet<Report> {
    let mut reports = BTreeSet::new();
    let mut is_open = false;
    for line in lines(said) {
        if line.starts_with("Conflicting ") {
            is_open = true;
        } else if is_open && (line.starts_with("at 0x") || line.starts_with("by 0x")) {
            if let Some(line) = line_in(line, file) {
                reports.insert(Report::Race([line, line]));
                is_open = false;
            }
        } else {
            is_open = is_open && !line.is_empty();
        }
    }
    reports
}

/// Compares reports that know one side with marks: a race is found if a side of it was named.
pub fn score_of_one_side(oracle: &Oracle, reports: &BTreeSet<Report>) -> Score {
    let named: BTreeSet<u32> = reports
        .iter()
        .filter_map(|report| match report {
            Report::Race([line, _]) => Some(*line),
            _ => None,
        })
        .collect();
    let races = || oracle.races.iter().filter(|race| !race.weak);
    let is_side =
        |line: &&u32| races().any(|race| race.lines.0 == **line || race.lines.1 == **line);
    let found = races()
        .filter(|race| named.contains(&race.lines.0) || named.contains(&race.lines.1))
        .count();
    Score {
        found,
        wrong: named.len() - named.iter().filter(is_side).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELGRIND: &str = "\
==7== ----------------------------------------------------------------
==7== Possible data race during write of size 4 at 0x10C038 by thread #1
==7== Locks held: none
==7==    at 0x1091F4: main (/p/a.c:54)
==7== 
==7== This conflicts with a previous write of size 4 by thread #2
==7== Locks held: none
==7==    at 0x109186: helper (/p/other.h:3)
==7==    by 0x4849DE8: writer (/p/a.c:14)
==7==  Address 0x10c038 is 0 bytes inside data symbol \"x\"
==7== ----------------------------------------------------------------
==7== Thread #1: lock order \"0x10C060 before 0x10C0A0\" violated
";

    #[test]
    fn helgrind_s_words_are_understood() {
        let expected = BTreeSet::from([Report::Race([14, 54]), Report::LockOrder]);
        assert_eq!(of_helgrind(HELGRIND, "a.c"), expected);
    }

    const DRD: &str = "\
==7== Conflicting load by thread 1 at 0x0010c038 size 4
==7==    at 0x1091F4: main (/p/a.c:54)
==7== Allocation context: BSS section of /p/a
==7== Other segment start (thread 2)
==7==    at 0x4BB2: clone (clone.S:100)
";

    #[test]
    fn drd_s_words_are_understood() {
        let reports = of_drd(DRD, "a.c");
        assert_eq!(reports, BTreeSet::from([Report::Race([54, 54])]));
        let text = "x++; // RACE: x with line 2\nx++; // RACE: x with line 1\n";
        let oracle = Oracle::parse("a.c", text).unwrap();
        let one = |line| BTreeSet::from([Report::Race([line, line])]);
        let found = Score { found: 1, wrong: 0 };
        assert_eq!(score_of_one_side(&oracle, &one(2)), found);
        let wrong = Score { found: 0, wrong: 1 };
        assert_eq!(score_of_one_side(&oracle, &one(3)), wrong);
    }
}
