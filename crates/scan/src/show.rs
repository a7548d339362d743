//! The result of a scan for people: how many there were at each stage, and the warnings.

use std::fmt::Write;

use anstyle::Style;
use deadheat_report::Finding;
use deadheat_report::text::{self, Look};

use crate::found::{Figures, Scanned};

const BOLD: Style = Style::new().bold();

/// Which of the warnings are shown.
pub struct Shown<'a> {
    /// These, and how many there are of them.
    pub findings: &'a [Finding],
    /// How many are shown at most.
    pub limit: usize,
    /// How many the user does not want to see: by their files, and by suppressions.
    pub hidden: [usize; 2],
}

/// The table and the warnings.
pub fn text(scanned: &Scanned, shown: &Shown) -> String {
    let mut out = table(&scanned.figures);
    for (count, by) in shown
        .hidden
        .iter()
        .zip(["in other files", "by suppressions"])
    {
        if *count > 0 {
            row(&mut out, "not shown", format!("{count} {by}"));
        }
    }
    let shown_ones = &shown.findings[..shown.findings.len().min(shown.limit)];
    let look = Look::of_terminal(false);
    for finding in shown_ones {
        let _ = write!(out, "\n{}", text::finding(finding, &look));
    }
    let more = shown.findings.len() - shown_ones.len();
    if more > 0 {
        let _ = writeln!(out, "\n{more} more, ranked lower: --limit shows them");
    }
    out
}

/// How many there were at each stage, in the terms of the paper.
fn table(figures: &Figures) -> String {
    let mut out = String::new();
    let warnings = match figures.disjoint == figures.warnings {
        true => figures.warnings.to_string(),
        false => format!(
            "{} of {} pairs with disjoint locksets; histories and order rule out the rest",
            figures.warnings, figures.disjoint
        ),
    };
    row(&mut out, "functions", figures.functions.to_string());
    row(
        &mut out,
        "shared variables",
        figures.shared_variables.to_string(),
    );
    row(&mut out, "warnings", warnings);
    row(
        &mut out,
        "after reduction",
        figures.after_reduction.to_string(),
    );
    row(
        &mut out,
        "after contexts",
        figures.after_contexts.to_string(),
    );
    row(&mut out, "deadlocks", figures.deadlocks.to_string());
    let time = format!("{:.2} s", figures.seconds);
    row(&mut out, "time", time);
    out
}

fn row(out: &mut String, name: &str, value: String) {
    let _ = writeln!(out, "{name:<18}{BOLD}{value}{BOLD:#}");
}
