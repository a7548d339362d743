//! Compares reported findings with the marks in a program's text.

use deadheat_oracle::Oracle;
use serde_json::Value;

/// How closely lines must agree: optimised code may move an access to a neighbouring line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// As marked.
    Exact,
    /// A few lines apart.
    Near,
}

const NEAR: u32 = 3;

impl Lines {
    fn are_same(self, found: u32, marked: u32) -> bool {
        match self {
            Lines::Exact => found == marked,
            Lines::Near => found.abs_diff(marked) <= NEAR,
        }
    }
}

/// Whether every race that was reported as seen or proven is marked, and no near miss is among them; and every
/// proven deadlock. Warnings promise nothing and are not looked at.
pub fn agree(oracle: &Oracle, report: &str, lines: Lines) -> Result<usize, String> {
    let report: Value =
        serde_json::from_str(report).map_err(|error| format!("{error}: {report}"))?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let seen: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["kind"] == "race" && finding["rung"] != "warning")
        .collect();
    let proven = findings
        .iter()
        .filter(|finding| finding["kind"] == "deadlock" && finding["rung"] != "warning");
    for finding in proven {
        let own = own_places(oracle, finding)?;
        // Nobody knows the locks of a library that makes its own: some who wait for them may be missing.
        let is_library = own != places(finding)?;
        if !is_marked_deadlock(oracle, &own, lines, is_library) {
            return Err(format!("a deadlock that is not marked: {finding:#}"));
        }
    }
    for finding in &seen {
        if !is_marked(oracle, &places(finding)?, lines) {
            return Err(format!(
                "a race that is not marked: {} on {}\n{finding:#}",
                finding["signature"], finding["object"]["name"]
            ));
        }
    }
    Ok(seen.len())
}

/// Whether all that is marked was found, but for races of the memory model only.
pub fn complete(oracle: &Oracle, report: &str, lines: Lines, weak: bool) -> Result<(), String> {
    let report: Value =
        serde_json::from_str(report).map_err(|error| format!("{error}: {report}"))?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let of_kind = |kind: &str| -> Result<Vec<Vec<u32>>, String> {
        let sure = findings
            .iter()
            .filter(|finding| finding["kind"] == kind && finding["rung"] != "warning");
        let lines = |finding| {
            let mut lines: Vec<u32> = places(finding)?.iter().map(|(_, line)| *line).collect();
            lines.sort_unstable();
            Ok(lines)
        };
        sure.map(lines).collect()
    };
    let (races, deadlocks) = (of_kind("race")?, of_kind("deadlock")?);
    let is_among = |found: &[Vec<u32>], marked: &[u32]| {
        found.iter().any(|found| {
            let mut pairs = found.iter().zip(marked);
            found.len() == marked.len()
                && pairs.all(|(found, marked)| lines.are_same(*found, *marked))
        })
    };
    for race in oracle.races.iter().filter(|race| weak || !race.weak) {
        if !is_among(&races, &[race.lines.0, race.lines.1]) {
            return Err(format!("the race of lines {:?} was not found", race.lines));
        }
    }
    for deadlock in &oracle.deadlocks {
        let marked: Vec<u32> = deadlock.requests.iter().map(|at| at.line).collect();
        if !is_among(&deadlocks, &marked) {
            return Err(format!("the deadlock of lines {marked:?} was not found"));
        }
    }
    Ok(())
}

/// File names and lines of a finding.
fn places(finding: &Value) -> Result<Vec<(String, u32)>, String> {
    let accesses = finding["accesses"].as_array().ok_or("no accesses")?;
    Ok(accesses.iter().map(place).collect())
}

/// The same as the program sees it: where it called a library that waits for it, that is where it waits.
fn own_places(oracle: &Oracle, finding: &Value) -> Result<Vec<(String, u32)>, String> {
    let own = own_name(oracle);
    let accesses = finding["accesses"].as_array().ok_or("no accesses")?;
    let inside = |access: &Value| {
        let stack = access["stack"].as_array()?;
        stack.iter().map(place).find(|(file, _)| *file == own)
    };
    let of = |access: &Value| inside(access).unwrap_or_else(|| place(access));
    Ok(accesses.iter().map(of).collect())
}

/// File name and line of an access.
fn place(access: &Value) -> (String, u32) {
    let file = access["file"].as_str().unwrap_or_default();
    let name = file.rsplit('/').next().unwrap_or_default();
    (name.to_owned(), access["line"].as_u64().unwrap_or(0) as u32)
}

fn own_name(oracle: &Oracle) -> String {
    let name = oracle.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Whether these are the requests of a marked deadlock.
fn is_marked_deadlock(
    oracle: &Oracle,
    places: &[(String, u32)],
    lines: Lines,
    in_part: bool,
) -> bool {
    let own = own_name(oracle);
    let mut found: Vec<u32> = places.iter().map(|(_, line)| *line).collect();
    found.sort_unstable();
    places.iter().all(|(file, _)| *file == own)
        && oracle.deadlocks.iter().any(|deadlock| {
            let marked = deadlock.requests.iter().map(|request| request.line);
            let is_marked = |found: &u32| {
                let mut marked = marked.clone();
                marked.any(|marked| lines.are_same(*found, marked))
            };
            if in_part {
                return found.iter().all(is_marked);
            }
            marked.len() == found.len()
                && marked
                    .zip(&found)
                    .all(|(marked, found)| lines.are_same(*found, marked))
        })
}

fn is_marked(oracle: &Oracle, places: &[(String, u32)], lines: Lines) -> bool {
    let [(file_a, a), (file_b, b)] = places else {
        return false;
    };
    let own = own_name(oracle);
    let same = |found, marked| lines.are_same(found, marked);
    let pair = |(x, y): (u32, u32)| (same(*a, x) && same(*b, y)) || (same(*a, y) && same(*b, x));
    let within =
        *file_a == own && *file_b == own && oracle.races.iter().any(|race| pair(race.lines));
    let across = oracle.races_across.iter().any(|race| {
        let here = |file: &str, line: u32| file == own && same(line, race.line);
        let there = |file: &str, line: u32| file == race.other_file && same(line, race.other_line);
        (here(file_a, *a) && there(file_b, *b)) || (here(file_b, *b) && there(file_a, *a))
    });
    within || across
}
