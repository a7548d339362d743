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

/// Whether every race that was reported as seen is marked, and no near miss is among them. Warnings
/// promise nothing and are not looked at.
pub fn agree(oracle: &Oracle, report: &str, lines: Lines) -> Result<usize, String> {
    let report: Value =
        serde_json::from_str(report).map_err(|error| format!("{error}: {report}"))?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let seen: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["kind"] == "race" && finding["rung"] != "warning")
        .collect();
    for finding in &seen {
        let places: Vec<(String, u32)> = finding["accesses"]
            .as_array()
            .ok_or("no accesses")?
            .iter()
            .map(place)
            .collect();
        if !is_marked(oracle, &places, lines) {
            return Err(format!(
                "a race that is not marked: {} on {}\n{finding:#}",
                finding["signature"], finding["object"]["name"]
            ));
        }
    }
    Ok(seen.len())
}

/// File name and line of an access.
fn place(access: &Value) -> (String, u32) {
    let file = access["file"].as_str().unwrap_or_default();
    let name = file.rsplit('/').next().unwrap_or_default();
    (name.to_owned(), access["line"].as_u64().unwrap_or(0) as u32)
}

fn is_marked(oracle: &Oracle, places: &[(String, u32)], lines: Lines) -> bool {
    let [(file_a, a), (file_b, b)] = places else {
        return false;
    };
    let own = oracle
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let same = |found: u32, marked: u32| match lines {
        Lines::Exact => found == marked,
        Lines::Near => found.abs_diff(marked) <= NEAR,
    };
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
