//! What `deadheat predict` reports, as JSON.

use serde_json::Value;

use super::Sandbox;

/// What a command that finds something or nothing prints.
pub fn found(here: &Sandbox, args: &[&str]) -> Value {
    let output = here
        .deadheat(args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 66)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The findings of a kind.
pub fn of_kind<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["kind"] == kind).collect()
}
