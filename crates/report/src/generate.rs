//! Lines for a file of suppressions that hold back given findings, and no others where the syntax
//! allows that.

use std::fmt::Write;

use crate::finding::{Finding, Kind, Memory};
use crate::suppress::Suppressions;
use crate::text::printable;

/// A comment and a line for every finding. Of the lines that would do, one is chosen that holds back
/// none of the `others`; if there is none, the comment says which of them it takes along.
///
/// ```
/// use deadheat_report::{Finding, Kind, Rung, generated_suppressions};
/// let failure = Finding::new(Kind::Failure, Rung::Confirmed, "explore", Vec::new());
/// let lines = generated_suppressions(&[failure], &[]);
/// assert!(lines.contains("there is no suppression for it"));
/// ```
pub fn generated_suppressions(findings: &[Finding], others: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let _ = writeln!(out, "# {} {}", finding.id, told(finding));
        match narrowest(finding, others) {
            None => out.push_str("# (there is no suppression for it)\n"),
            Some((line, also)) => {
                if !also.is_empty() {
                    let _ = writeln!(out, "# (also holds back {})", also.join(", "));
                }
                let is_new = !out.lines().any(|known| known == line);
                match is_new {
                    true => drop(writeln!(out, "{line}")),
                    false => out.push_str("# (held back by a line above)\n"),
                }
            }
        }
    }
    out
}

/// The finding in a line.
fn told(finding: &Finding) -> String {
    let mut text = finding.kind.name().to_owned();
    if let Some(object) = &finding.object {
        let _ = write!(text, " on {}", object.name);
    }
    let _ = write!(text, ": {}", finding.signature);
    printable(&text)
}

/// The first line that holds back the finding and none of the others, or the one that takes fewest of
/// them along; with the names of those.
fn narrowest(finding: &Finding, others: &[Finding]) -> Option<(String, Vec<String>)> {
    let mut best: Option<(String, Vec<String>)> = None;
    for line in candidates(finding) {
        let mut list = Suppressions::default();
        if list.read(&line).is_err() || !list.match_finding(finding) {
            continue;
        }
        let also = others.iter().filter(|other| list.match_finding(other));
        let also: Vec<String> = also.map(|other| other.id.clone()).collect();
        if best
            .as_ref()
            .is_none_or(|(_, fewest)| also.len() < fewest.len())
        {
            best = Some((line, also));
        }
    }
    best
}

/// Lines that hold it back, those first that say most clearly what is meant.
fn candidates(finding: &Finding) -> Vec<String> {
    let mut lines = Vec::new();
    let kind = match finding.kind {
        Kind::Race => "race",
        Kind::Deadlock => "deadlock",
        Kind::Failure => return lines,
    };
    if let Some(object) = &finding.object
        && matches!(object.memory, Memory::Global { .. } | Memory::Variable)
    {
        lines.push(line(kind, &object.name));
    }
    let requests = finding.accesses.iter();
    let requests = requests.filter_map(|access| access.waits_for.as_ref());
    lines.extend(requests.map(|lock| line(kind, &lock.name)));
    if finding.kind == Kind::Race {
        let tops = finding.accesses.iter().map(|access| access.stack.first());
        let functions = tops.flatten().filter_map(|frame| frame.function.as_ref());
        lines.extend(functions.map(|function| line("race_top", function)));
    }
    let frames = || finding.accesses.iter().flat_map(|access| &access.stack);
    lines.extend(frames().filter_map(|frame| Some(line(kind, frame.function.as_ref()?))));
    lines.extend(frames().filter_map(|frame| Some(line(kind, frame.file.as_ref()?))));
    lines.extend(frames().filter_map(|frame| Some(line(kind, frame.module.as_ref()?))));
    lines
}

/// A line that matches this name as a whole. What would end the line matches anything.
fn line(kind: &str, name: &str) -> String {
    let name: String = name
        .chars()
        .map(|char| if char.is_control() { '*' } else { char })
        .collect();
    format!("{kind}:^{name}$")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Access, Frame, Lock, Object, Rung, Thread};

    fn access(function: &str, file: &str, waits_for: Option<&str>) -> Access {
        let place = Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            ..Frame::default()
        };
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
            stack: vec![place.clone()],
            place,
            folded: false,
            locks: Vec::new(),
            waits_for: waits_for.map(|name| Lock {
                name: name.to_owned(),
                address: 0,
                read: false,
                acquired_at: Vec::new(),
            }),
            index: None,
        }
    }

    fn race(object: Option<&str>, functions: [&str; 2]) -> Finding {
        let sides = functions.map(|function| access(function, "a.c", None));
        let mut finding = Finding::new(Kind::Race, Rung::Witness, "hb", sides.into());
        finding.object = object.map(|name| Object {
            name: name.to_owned(),
            address: 16,
            size: 4,
            memory: Memory::Global {
                variable: name.to_owned(),
                offset: 0,
                declared: None,
            },
        });
        finding
    }

    fn deadlock(functions: [&str; 2], locks: [&str; 2]) -> Finding {
        let sides = [0, 1].map(|i| access(functions[i], "a.c", Some(locks[i])));
        Finding::new(Kind::Deadlock, Rung::Witness, "maximal", sides.into())
    }

    /// All kinds of names: those that contain each other, that have signs of patterns in them, that would end a line.
    fn all() -> Vec<Finding> {
        vec![
            race(Some("total"), ["add", "sum"]),
            race(Some("total_of_all"), ["add", "sum2"]),
            race(Some("grid[2][3].x"), ["add", "f(char*, $)"]),
            race(None, ["reader", "writer"]),
            race(None, ["odd\nrace:*", "sum"]),
            deadlock(["reader", "writer"], ["a", "b"]),
            deadlock(["add", "sum"], ["a", "c"]),
        ]
    }

    #[test]
    fn what_is_read_back_holds_back_these_and_no_others() {
        let all = all();
        for wanted in 0..1usize << all.len() {
            let chosen = |at: &usize| wanted >> at & 1 == 1;
            let (mine, others): (Vec<_>, Vec<_>) = (0..all.len()).partition(chosen);
            let pick = |at: Vec<usize>| at.into_iter().map(|at| all[at].clone()).collect();
            let (mine, others): (Vec<Finding>, Vec<Finding>) = (pick(mine), pick(others));
            let lines = generated_suppressions(&mine, &others);
            let mut list = Suppressions::default();
            list.read(&lines)
                .unwrap_or_else(|error| panic!("{error}: {lines}"));
            for finding in &mine {
                assert!(list.match_finding(finding), "{lines}");
            }
            for finding in &others {
                assert!(!list.match_finding(finding), "{} in\n{lines}", finding.id);
            }
            assert_eq!(list.unused().count(), 0, "{lines}");
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_said() {
        let mine = race(None, ["f", "f"]);
        let mut other = race(None, ["f", "f"]);
        other.id = "other".to_owned();
        let lines = generated_suppressions(&[mine], &[other]);
        assert!(lines.contains("# (also holds back other)\n"), "{lines}");
    }
}
