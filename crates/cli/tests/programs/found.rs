//! Watches, checks and explores a program: what is found is marked in its text, and replays.

use crate::cases::{Case, on_other_paths};
use crate::support::verdict::{agree, complete};
use crate::support::{self, Sandbox};
use crate::told;

/// How often each confirmed finding is replayed.
const REPLAYS: &str = "20";

/// How many schedules of these are enough: twice as many as any of them needs.
const EXECUTIONS: &str = "1000";

/// The names of the findings of a report. All that is proven must be confirmed.
fn confirmed(report: &str) -> Result<Vec<String>, String> {
    let report: serde_json::Value =
        serde_json::from_str(report).map_err(|error| error.to_string())?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    // Schedules are enforced on the program itself, not on what it starts.
    let is_elsewhere = |one: &serde_json::Value| {
        let why = one["not_enforced"].as_str().unwrap_or_default();
        why.contains("a process that the program has started")
    };
    let sure = findings
        .iter()
        .filter(|one| one["rung"] != "observed" && !is_elsewhere(one));
    sure.map(|finding| match finding["rung"].as_str() {
        Some("confirmed") => Ok(finding["id"].as_str().unwrap_or_default().to_owned()),
        _ => Err(format!("not confirmed: {finding:#}")),
    })
    .collect()
}

/// Whether findings are reached so many times out of so many.
fn replays(here: &Sandbox, findings: &[String], times: &str) -> Result<(), String> {
    for id in findings {
        let mut replay = here.deadheat(["replay", id, "--times", times]);
        let output = replay.output().map_err(|error| error.to_string())?;
        let stood = format!("{times} of {times} times");
        if !String::from_utf8_lossy(&output.stderr).contains(&stood) {
            return Err(told(&output, &format!("{id} was not always reached")));
        }
    }
    Ok(())
}

impl Case {
    /// Watches the program: it does what it does without, and what is found is marked in its text.
    pub fn watch(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", self.seconds(), support::DEADHEAT, "watch"]);
        command.args(["--exit-code-from-program", "--format", "json"]);
        command.args(["-o", "found.json", "--", "./prog"]);
        command.args(&self.oracle.directives.run);
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.code() == Some(124) && !self.oracle.deadlocks.is_empty() {
            return Ok(());
        }
        self.behaves(&output)?;
        let found = std::fs::read_to_string(here.path().join("found.json"));
        let found = found.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &found, self.lines()).map(drop)
    }

    /// Checks the program: what is proven is marked in its text and stands when it is enforced, every time.
    pub fn check(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", "120", support::DEADHEAT, "check"]);
        command.args(["--format", "json", "-o", "found.json"]);
        command.args(["--question", "2s", "--growth", "1s", "--", "./prog"]);
        command.args(&self.oracle.directives.run);
        let output = command.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 5 | 66)) {
            return Err(told(&output, "check failed"));
        }
        let report = std::fs::read_to_string(here.path().join("found.json"));
        let report = report.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &report, self.lines())?;
        if self.shows_all() {
            complete(&self.oracle, &report, self.lines(), false)?;
        }
        self.fails_as_marked(&report, self.level != "-O1")?;
        replays(here, &confirmed(&report)?, REPLAYS)
    }

    /// Searches the program's schedules: what is found is marked in its text and replays; if all were seen, what is marked is found.
    pub fn explore(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", "120", support::DEADHEAT, "explore"]);
        command.args(["--format", "json", "-o", "found.json"]);
        let smallest = on_other_paths(&self.oracle.path).filter(|_| self.is_of_tables());
        match smallest {
            Some(size) => command
                .args(["--search-time", "100s", "--executions", EXECUTIONS])
                .args(["--", "./prog", size]),
            None => command
                .args(["--search-time", "2s", "--", "./prog"])
                .args(&self.oracle.directives.run),
        };
        let output = command.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 5 | 66)) {
            return Err(told(&output, "explore failed"));
        }
        let report = std::fs::read_to_string(here.path().join("found.json"));
        let report = report.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &report, self.lines())?;
        let figures: serde_json::Value =
            serde_json::from_str(&report).map_err(|error| error.to_string())?;
        let is_exhausted = figures["stats"]["exhausted"] == true && self.is_scenario();
        if is_exhausted || smallest.is_some() {
            complete(&self.oracle, &report, self.lines(), true)?;
        }
        self.fails_as_marked(&report, figures["stats"]["exhausted"] == true)?;
        replays(here, &confirmed(&report)?, "3")
    }

    /// Whether all failures that are found are marked, and, if all schedules were seen, the other way round. A program with
    /// races may fail because of them.
    fn fails_as_marked(&self, report: &str, all: bool) -> Result<(), String> {
        let report: serde_json::Value =
            serde_json::from_str(report).map_err(|error| error.to_string())?;
        let findings = report["findings"].as_array().into_iter().flatten();
        let failures: Vec<_> = findings.filter(|one| one["kind"] == "failure").collect();
        let line = |failure: &serde_json::Value| failure["accesses"][0]["line"].as_u64();
        let marked = |line: Option<u64>| {
            let mut marks = self.oracle.failures.iter();
            marks.any(|mark| Some(u64::from(*mark)) == line)
        };
        let mut unmarked = failures.iter().filter(|failure| !marked(line(failure)));
        if self.oracle.races.is_empty()
            && let Some(failure) = unmarked.next()
        {
            return Err(format!("a failure that is not expected: {failure:#}"));
        }
        let is_found = |mark: u32| {
            let mut lines = failures.iter().map(|failure| line(failure));
            lines.any(|line| line == Some(mark.into()))
        };
        let missing = self.oracle.failures.iter().find(|mark| !is_found(**mark));
        match missing.filter(|_| all) {
            Some(line) => Err(format!("the failure at line {line} is not found")),
            None => Ok(()),
        }
    }
}
