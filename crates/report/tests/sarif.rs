//! SARIF: valid by the published schema, within the limits of those who read it, the same name for the same finding.

use deadheat_report::{Finding, Rung, json, sarif};
use serde_json::{Value, json};

/// The schema as OASIS has published it.
const SCHEMA: &str = include_str!("sarif-schema-2.1.0.json");

/// What it asks for. Its pattern for languages, which our logs do not name, is not well-formed.
fn validator() -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for of in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][of]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    jsonschema::validator_for(&schema).unwrap()
}

fn bank() -> Vec<Finding> {
    json::findings(include_str!("bank/report.json")).unwrap()
}

/// The only run of a log that must be valid.
fn run(findings: &[Finding]) -> Value {
    let log: Value = serde_json::from_str(&sarif::report(findings, "1.2.3")).unwrap();
    let errors: Vec<String> = validator()
        .iter_errors(&log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    log["runs"][0].clone()
}

#[test]
fn every_kind_of_finding_is_valid() {
    assert_eq!(run(&[])["results"], json!([]));
    let all = bank();
    let run = run(&all);
    assert_eq!(run["results"].as_array().unwrap().len(), all.len());
}

#[test]
fn the_schema_would_notice() {
    let mut log: Value = serde_json::from_str(&sarif::report(&bank(), "1.2.3")).unwrap();
    log["runs"][0]["results"][0]["level"] = json!("terrible");
    assert!(!validator().is_valid(&log));
}

#[test]
fn steps_are_numbered_through_all_threads() {
    let run = run(&bank());
    let flow = &run["results"][0]["codeFlows"][0];
    assert_eq!(
        flow["message"]["text"],
        "12 earlier steps of the schedule are left out."
    );
    let flows = flow["threadFlows"].as_array().unwrap();
    let names: Vec<&str> = flows
        .iter()
        .filter_map(|flow| flow["id"].as_str())
        .collect();
    assert_eq!(names, ["main", "clerk", "teller"]);
    let orders = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().unwrap())
        .filter_map(|step| step["executionOrder"].as_u64());
    let mut orders: Vec<u64> = orders.collect();
    orders.sort_unstable();
    assert_eq!(orders, (0..16).collect::<Vec<u64>>());
    let last = flows[2]["locations"].as_array().unwrap().last().unwrap();
    assert_eq!(last["kinds"], json!(["danger"]));
    assert_eq!(last["importance"], "essential");
    assert_eq!(last["executionOrder"], 15);
}

#[test]
fn long_ways_are_cut_at_the_beginning() {
    let mut finding = bank().remove(0);
    let way = finding.interleaving.as_mut().unwrap();
    let last = way.steps.split_off(14);
    let step = way.steps[0].clone();
    way.steps.resize(3_000, step);
    way.steps.extend(last);
    let run = run(&[finding]);
    let flow = &run["results"][0]["codeFlows"][0];
    let flows = flow["threadFlows"].as_array().unwrap();
    let steps = flows
        .iter()
        .map(|flow| flow["locations"].as_array().unwrap().len());
    assert_eq!(steps.sum::<usize>(), 1_000);
    assert_eq!(
        flow["message"]["text"],
        "2014 earlier steps of the schedule are left out."
    );
    let danger = json!(["danger"]);
    for flow in &flows[1..] {
        assert_eq!(
            flow["locations"].as_array().unwrap().last().unwrap()["kinds"],
            danger
        );
    }
}

#[test]
fn of_too_many_the_surest_are_kept() {
    let mut template = bank().remove(1);
    template.interleaving = None;
    template.accesses.truncate(1);
    let all: Vec<Finding> = (0..6_000)
        .map(|i| {
            let mut finding = template.clone();
            finding.id = format!("{i:08x}");
            finding.rung = if i % 3 == 0 {
                Rung::Witness
            } else {
                Rung::Warning
            };
            finding
        })
        .collect();
    let log: Value = serde_json::from_str(&sarif::report(&all, "1")).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 5_000);
    let sure = results.iter().filter(|result| result["level"] == "error");
    assert_eq!(
        sure.count(),
        2_000,
        "none of those that are sure is left out"
    );
    let note = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(
        note,
        "1000 of 6000 findings are left out: the least sure ones. All are in the JSON report."
    );
}

/// The fingerprints of the first finding.
fn fingerprints(findings: &[Finding]) -> Value {
    run(findings)["results"][0]["partialFingerprints"].clone()
}

#[test]
fn a_fingerprint_stays_when_lines_move() {
    let first = bank().remove(0);
    let before = fingerprints(std::slice::from_ref(&first));
    let moved = include_str!("bank/report.json").replace("\"line\": 28", "\"line\": 128");
    let moved = json::findings(&moved).unwrap().remove(0);
    let moved = Finding::new(moved.kind, moved.rung, "maximal", moved.accesses);
    let mut same = moved.clone();
    same.object = first.object.clone();
    let after = fingerprints(&[same]);
    assert_ne!(
        before["deadheat/v1"], after["deadheat/v1"],
        "the name has the lines"
    );
    assert_eq!(
        before["deadheat/functions/v1"],
        after["deadheat/functions/v1"]
    );
    let other = fingerprints(&[moved]);
    assert_ne!(
        before["deadheat/functions/v1"], other["deadheat/functions/v1"],
        "another object"
    );
}
