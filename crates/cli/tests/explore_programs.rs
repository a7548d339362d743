//! The programs of `programs/explore` with two threads: from a recorded run, `explore` comes to a race that is marked in the text,
//! and to none that is not. Prediction is left out: the search has to do it.

mod support;

use std::path::Path;

use deadheat_oracle::{Oracle, read_folder};
use serde_json::Value;
use support::verdict::{Lines, agree};
use support::{Sandbox, compilers, succeed};

/// The seed of the recorded runs: each leads to a warning.
const SEED: &str = "1";

/// The only program of that name.
fn oracle(name: &str) -> Oracle {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/explore");
    let oracles = read_folder(folder).unwrap_or_else(|error| panic!("{error}"));
    let found = oracles.into_iter().find(|oracle| {
        let stem = oracle.path.file_stem();
        stem.is_some_and(|stem| stem == name)
    });
    found.unwrap_or_else(|| panic!("no program {name}"))
}

/// Records the program and explores from there; the findings that are more than warnings, and what became of the warnings.
fn explored(oracle: &Oracle) -> (Vec<Value>, Vec<Value>) {
    let here = Sandbox::new();
    let mut build = here.deadheat(["cc", "-O0", "-g", "-pthread", "-o", "prog"]);
    succeed(build.env("DEADHEAT_CC", compilers()[0]).arg(&oracle.path));
    let mut record = here.deadheat(["record", "--serial", "--seed", SEED, "-o", "trace.dht"]);
    succeed(record.args(["--", "./prog", "2"]));
    let mut explore = here.deadheat(["explore", "--no-predict", "--format", "json"]);
    explore.args(["--search-time", "30s", "trace.dht"]);
    let output = explore.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{told}");
    let printed = String::from_utf8_lossy(&output.stdout);
    agree(oracle, &printed, Lines::Exact).unwrap_or_else(|problem| panic!("{problem}"));
    let report: Value = serde_json::from_str(&printed).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let sure = findings.filter(|finding| finding["rung"] != "warning");
    let warnings = report["stats"]["warnings"].as_array().unwrap();
    (sure.cloned().collect(), warnings.clone())
}

/// What is found is confirmed, and every warning leads there.
fn comes_to_a_marked_race(name: &str) {
    let (findings, warnings) = explored(&oracle(name));
    assert!(!findings.is_empty(), "{name}: nothing was found");
    for finding in &findings {
        assert_eq!(finding["kind"], "race", "{name}: {finding:#}");
        assert_eq!(finding["rung"], "confirmed", "{name}: {finding:#}");
    }
    for warning in &warnings {
        assert_eq!(warning["verdict"], "confirmed", "{name}: {warning:#}");
    }
}

#[test]
fn tsp() {
    comes_to_a_marked_race("tsp");
}

#[test]
fn our_tsp() {
    comes_to_a_marked_race("our_tsp");
}

#[test]
fn sort_array() {
    comes_to_a_marked_race("sort_array");
}

#[test]
fn prime_finder() {
    comes_to_a_marked_race("prime_finder");
}

#[test]
fn elevsim() {
    comes_to_a_marked_race("elevsim");
}

#[test]
fn dqueries() {
    comes_to_a_marked_race("dqueries");
}

#[test]
fn hedc() {
    comes_to_a_marked_race("hedc");
}
