//! `deadheat trace verify`: asks whether a trace is one.

use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::progress::Watched;
use deadheat_session::terminal::{BAD, GOOD, counted, styled};
use deadheat_trace::Tables;
use deadheat_trace::verify::{self, Report};

use super::Which;

const EXAMPLES: &str = "\
Examples:
  deadheat trace verify                     the latest recording
  deadheat trace verify my.trace && echo fine

What is checked:
  locks have one owner, threads run between their creation and their end, barriers and
  semaphores let no more pass than came, blocks of the heap are given back once; in serial
  traces a read returns what was written last. A read that does not shows a write by code that
  is not instrumented: that is reported, and no fault of the trace.
The exit code is 66 if a rule is broken.";

/// Checks that a trace is one that a program can have.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,
}

impl Args {
    /// Verifies and prints what was found.
    pub fn run(self) -> Result<Exit> {
        let path = self.which.path()?;
        let mut steps = Watched::new(input::open(&path)?, "verifying");
        let report = verify::verify(&mut steps).map_err(|error| input::broken(&path, &error))?;
        let input = steps.into_inner();
        anstream::print!("{}", told(&report, deadheat_trace::Steps::tables(&input)));
        input::tell(&input.remarks());
        Ok(verdict(&report))
    }
}

/// The exit code that a report stands for.
pub fn verdict(report: &Report) -> Exit {
    if report.is_well_formed() {
        Exit::Clean
    } else {
        Exit::Findings
    }
}

/// What was found, for people: details first, the verdict as the last line.
fn told(report: &Report, tables: &Tables) -> String {
    /// How many of each kind are shown; all are counted.
    const SHOWN: usize = 20;
    let mut out = String::new();
    for violation in report.violations.iter().take(SHOWN) {
        out += &format!("{}\n", violation.describe(tables));
    }
    let found = report.errors + report.warnings;
    let hidden = found.saturating_sub(report.violations.len().min(SHOWN) as u64);
    if hidden > 0 {
        out += &format!("and {hidden} more\n");
    }
    for mismatch in report.first_mismatches.iter().take(SHOWN) {
        out += &format!("{}\n", mismatch.describe(tables));
    }
    let hidden = report.mismatches - report.first_mismatches.len().min(SHOWN) as u64;
    if hidden > 0 {
        out += &format!("and {hidden} more\n");
    }
    out + &summary(report) + "\n"
}

/// The verdict in one line.
pub fn summary(report: &Report) -> String {
    let mut parts = vec![counted(report.steps, "event")];
    if report.values_checked > 0 {
        parts.push(format!(
            "{} compared",
            counted(report.values_checked, "value")
        ));
    }
    if report.mismatches > 0 {
        parts.push(counted(report.mismatches, "external write"));
    }
    if report.warnings > 0 {
        parts.push(counted(report.warnings, "warning"));
    }
    if report.gaps > 0 {
        parts.push(counted(report.gaps, "gap"));
    }
    let verdict = match report.errors {
        0 => styled(GOOD, "well-formed"),
        errors => styled(BAD, counted(errors, "violation")),
    };
    format!("{verdict}: {}", parts.join(", "))
}
