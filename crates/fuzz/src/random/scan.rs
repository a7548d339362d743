//! A file of programs put to `scan`, which warns and proves nothing: it has to end as it says it does, and
//! what it warns of is counted.

use super::build::Built;
use super::compare::{Disagreement, Found, Judge, Wrong};
use super::program::Language;
use crate::tool::{Report, Tool};
use std::collections::BTreeSet;
use std::io;

/// What was warned of in a program.
#[derive(Debug, Clone, Default)]
pub struct Warned {
    /// What is there.
    pub found: Found,
    /// How many pairs of lines are none that race.
    pub in_vain: usize,
}

/// Scans a file; its report, or what is wrong.
///
/// # Errors
///
/// If it cannot be started.
pub fn scan(tool: &Tool, built: &Built) -> io::Result<Result<Report, Disagreement>> {
    let arguments = vec!["scan", "--all-pairs", built.file.as_str()];
    let language = match built.file.rsplit('.').next() {
        Some("cpp") => Language::Cpp,
        Some("rs") => Language::Rust,
        _ => Language::C,
    };
    let rest: &[&str] = match language {
        Language::Cpp => &["--", "-std=c++20"],
        Language::Rust => &["--", "--edition", "2021"],
        Language::C => &[],
    };
    let (ran, report) = tool.report(&built.folder, "scan", &arguments, rest)?;
    let wrong = if ran.timed_out {
        Wrong::Hang
    } else {
        Wrong::Crash
    };
    let documented = matches!(ran.code, Some(0 | 66));
    Ok(match report {
        Some(report) if documented && !ran.timed_out => Ok(report),
        _ => Err(Disagreement {
            command: "scan",
            wrong,
            detail: format!("ended with {:?}: {}", ran.code, ran.stderr.trim()),
        }),
    })
}

/// What a report has to say about one program of its file.
#[must_use]
pub fn warned(report: &Report, judge: &Judge<'_>) -> Warned {
    let mut warned = Warned::default();
    let mut in_vain = BTreeSet::new();
    for finding in &report.findings {
        let lines: BTreeSet<u32> = finding.lines(judge.file).into_iter().collect();
        if !lines.iter().any(|line| judge.own.contains(line)) {
            continue;
        }
        if finding.kind == "race" {
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
                continue;
            };
            if judge.most.races.contains(&(*first, *last)) {
                warned.found.races.insert((*first, *last));
            } else {
                in_vain.insert((*first, *last));
            }
        } else {
            warned.found.deadlocks.push(lines);
        }
    }
    warned.in_vain = in_vain.len();
    warned
}
