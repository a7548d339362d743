//! Findings as SARIF 2.1.0, the form that code hosts and editors read.
//!
//! Each finding is one result. It stands at its first access; the others are related locations. Its code
//! flow has one thread flow for each thread: see [`flows`]. The first fingerprint is the finding's name, the second is made of
//! functions and the object, so that it stays when lines move. Files in the current folder are relative to it.
//!
//! GitHub refuses a run of more than 25,000 results or a result of more than 10,000 steps, and shows 5,000 and 1,000. So no more
//! are written, the surest findings and the last steps; what is left out is said in the file.

mod flows;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::finding::{Access, Finding, Frame, Kind, Rung};
use flows::code_flow;

/// Where the form is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The name of the folder that files are relative to.
const BASE: &str = "SRCROOT";

/// The most findings that are written.
const MOST_RESULTS: usize = 5_000;

/// Identifiers of the kinds of findings, with a name and what they are.
const RULES: [(Kind, &str, &str, &str); 3] = [
    (
        Kind::Race,
        "deadheat/race",
        "DataRace",
        "Two threads access the same memory, one of them writes, and nothing orders them.",
    ),
    (
        Kind::Deadlock,
        "deadheat/deadlock",
        "Deadlock",
        "Threads wait for each other, and none of them can go on.",
    ),
    (
        Kind::Failure,
        "deadheat/failure",
        "Failure",
        "There is a schedule in which the program crashes, fails, or does not end.",
    ),
];

/// A log with one run.
///
/// ```
/// let text = deadheat_report::sarif::report(&[], "0.1.0");
/// assert!(text.contains("\"version\": \"2.1.0\""));
/// ```
pub fn report(findings: &[Finding], version: &str) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(_, id, name, what)| {
            json!({
                "id": id,
                "name": name,
                "shortDescription": { "text": what },
                "defaultConfiguration": { "level": "error" },
            })
        })
        .collect();
    let surest = surest(findings);
    let all = surest.len();
    let results = surest.into_iter().map(|finding| result(finding, all));
    let results: Vec<Value> = results.collect();
    let left_out = findings.len() - results.len();
    let mut run = json!({
        "tool": { "driver": { "name": "Deadheat", "version": version, "rules": rules } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    if left_out > 0 {
        let text = format!(
            "{left_out} of {} findings are left out: the least sure ones. All are in the JSON report.",
            findings.len()
        );
        let note = json!({ "level": "warning", "message": { "text": text } });
        run["invocations"] =
            json!([{ "executionSuccessful": true, "toolExecutionNotifications": [note] }]);
    }
    if let Some(here) = std::env::current_dir()
        .ok()
        .filter(|here| here.is_absolute())
    {
        let uri = format!("file://{}/", encoded(&here.to_string_lossy()));
        run["originalUriBaseIds"] = json!({ BASE: { "uri": uri } });
    }
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    // Strings, numbers and lists of them cannot fail to be written.
    serde_json::to_string_pretty(&log).unwrap_or_default()
}

/// As many as there is room for, in their order.
fn surest(findings: &[Finding]) -> Vec<&Finding> {
    let mut all: Vec<(usize, &Finding)> = findings.iter().enumerate().collect();
    all.sort_by_key(|(at, finding)| (std::cmp::Reverse(finding.rung), *at));
    all.truncate(MOST_RESULTS);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, finding)| finding).collect()
}

fn result(finding: &Finding, all: usize) -> Value {
    let rule = RULES
        .iter()
        .position(|(kind, ..)| *kind == finding.kind)
        .unwrap_or_default();
    let level = match finding.rung {
        Rung::Warning => "warning",
        _ => "error",
    };
    let mut places = finding.accesses.iter().enumerate().map(|(number, access)| {
        let mut place = location(&access.place, &side(access));
        place["id"] = json!(number);
        place
    });
    let first: Vec<Value> = places.by_ref().take(1).collect();
    let related: Vec<Value> = places.collect();
    let mut result = json!({
        "ruleId": RULES[rule].1,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": message(finding) },
        "locations": first,
        "partialFingerprints": {
            "deadheat/v1": finding.id,
            "deadheat/functions/v1": finding.fingerprint(),
        },
        "properties": {
            "id": finding.id,
            "rung": finding.rung,
            "method": finding.method,
            "reasons": finding.reasons,
        },
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    if let Some(flow) = code_flow(finding, all) {
        result["codeFlows"] = json!([flow]);
    }
    result
}

fn message(finding: &Finding) -> String {
    let mut text = String::new();
    let is_sure = finding.rung != Rung::Warning;
    let what = match (finding.kind, is_sure) {
        (Kind::Race, true) => "Data race",
        (Kind::Race, false) => "Possible data race",
        (Kind::Deadlock, true) => "Deadlock",
        (Kind::Deadlock, false) => "Possible deadlock",
        (Kind::Failure, _) => "Failure",
    };
    text.push_str(what);
    if let Some(object) = &finding.object {
        let _ = write!(text, " on {}", object.name);
    }
    for (number, access) in finding.accesses.iter().enumerate() {
        let mark = match number {
            0 => ": ",
            _ => "; ",
        };
        let _ = write!(text, "{mark}{} at {}", side(access), access.place.told());
    }
    text.push('.');
    text
}

/// What one side does.
fn side(access: &Access) -> String {
    let thread = &access.thread.name;
    let held: Vec<&str> = access.locks.iter().map(|lock| &*lock.name).collect();
    let held = match held.is_empty() {
        true => "no lock".to_owned(),
        false => held.join(", "),
    };
    match &access.waits_for {
        Some(lock) => format!("{thread} waits for {} holding {held}", lock.name),
        None => format!("{} by {thread} holding {held}", access.op),
    }
}

fn location(frame: &Frame, text: &str) -> Value {
    let mut location = json!({ "message": { "text": text } });
    if let Some(file) = &frame.file {
        let artifact = match file.starts_with('/') {
            true => json!({ "uri": format!("file://{}", encoded(file)) }),
            false => json!({ "uri": encoded(file), "uriBaseId": BASE }),
        };
        let mut place = json!({ "artifactLocation": artifact });
        if let Some(line) = frame.line.filter(|line| *line > 0) {
            place["region"] = json!({ "startLine": line });
            if let Some(column) = frame.column.filter(|column| *column > 0) {
                place["region"]["startColumn"] = json!(column);
            }
        }
        location["physicalLocation"] = place;
    }
    if let Some(function) = &frame.function {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    }
    location
}

/// A path as part of a URI.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char);
            }
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Lock, Memory, Object, Thread};

    fn frame(function: &str, file: &str, line: u32) -> Frame {
        Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(line),
            ..Frame::default()
        }
    }

    fn access(thread: u32, op: &str, file: &str, line: u32) -> Access {
        let place = frame("add", file, line);
        Access {
            thread: Thread {
                number: thread,
                name: format!("T{thread}"),
                parent: Some(0),
                created_at: vec![frame("main", file, 90)],
            },
            op: op.to_owned(),
            size: 4,
            address: 0,
            stack: vec![place.clone(), frame("worker", file, 50)],
            place,
            folded: false,
            locks: vec![Lock {
                name: "guard".to_owned(),
                address: 0,
                read: false,
                acquired_at: vec![frame("worker", file, 49)],
            }],
            waits_for: None,
            index: None,
        }
    }

    fn log(rung: Rung) -> Value {
        let sides = vec![
            access(1, "write", "src/a b.c", 7),
            access(2, "read", "/usr/include/x.h", 3),
        ];
        let mut finding = Finding::new(Kind::Race, rung, "scan", sides);
        finding.object = Some(Object {
            name: "total".to_owned(),
            address: 0,
            size: 4,
            memory: Memory::Unknown,
        });
        serde_json::from_str(&report(&[finding], "1.2.3")).unwrap()
    }

    #[test]
    fn a_finding_is_one_result_with_both_places() {
        let log = log(Rung::Warning);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "Deadheat");
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 1);
        let result = &results[0];
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(result["level"], "warning");
        assert_eq!(
            result["message"]["text"],
            "Possible data race on total: write by T1 holding guard at add src/a b.c:7; \
             read by T2 holding guard at add /usr/include/x.h:3."
        );
        let first = &result["locations"][0]["physicalLocation"];
        assert_eq!(first["artifactLocation"]["uri"], "src/a%20b.c");
        assert_eq!(first["artifactLocation"]["uriBaseId"], BASE);
        assert!(
            run["originalUriBaseIds"][BASE]["uri"]
                .as_str()
                .unwrap()
                .ends_with('/')
        );
        assert_eq!(first["region"]["startLine"], 7);
        let second = &result["relatedLocations"][0]["physicalLocation"];
        assert_eq!(second["artifactLocation"]["uri"], "file:///usr/include/x.h");
        assert_eq!(second["artifactLocation"]["uriBaseId"], Value::Null);
        assert_eq!(
            result["partialFingerprints"]["deadheat/v1"]
                .as_str()
                .map(str::len),
            Some(8)
        );
    }

    #[test]
    fn each_thread_has_its_flow() {
        let log = log(Rung::Confirmed);
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["level"], "error");
        let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
        let names: Vec<&str> = flows
            .iter()
            .filter_map(|flow| flow["id"].as_str())
            .collect();
        assert_eq!(names, ["T1", "T2"]);
        let lines: Vec<u64> = flows[0]["locations"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|step| step["location"]["physicalLocation"]["region"]["startLine"].as_u64())
            .collect();
        assert_eq!(lines, [90, 50, 49, 7]);
    }
}
