//! `deadheat report`: which reports are read, what is shown of them, in which form, with which exit code.

mod support;

use serde_json::{Value, json};
use support::{Sandbox, printed, succeed};

const REPORT: &str = include_str!("../../report/tests/bank/report.json");
const SOURCE: &str = include_str!("../../report/tests/bank/bank.c");

/// A project with a report beside the source that it is about.
fn bank() -> Sandbox {
    let here = Sandbox::new();
    here.file("bank.c", SOURCE);
    here.file("report.json", REPORT);
    here
}

/// Standard output and exit code.
fn output(here: &Sandbox, args: &[&str]) -> (String, Option<i32>) {
    let output = here
        .deadheat([&["report"], args].concat())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    (told, output.status.code())
}

/// The names of findings in a JSON report that the command prints.
fn names(here: &Sandbox, args: &[&str]) -> Vec<String> {
    let (text, _) = output(here, &[args, &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&text).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let id = |finding: &Value| finding["id"].as_str().unwrap().to_owned();
    findings.map(id).collect()
}

const RACE: &str = "5c21d0a7";
const WARNING: &str = "0d4f6a18";
const DEADLOCK: &str = "91b7e2f4";
const FAILURE: &str = "7be93c55";

#[test]
fn all_forms_have_the_same_findings() {
    let here = bank();
    for format in ["text", "json", "sarif", "tsan", "junit", "chrome"] {
        let (told, exit) = output(&here, &["report.json", "--format", format]);
        assert_eq!(exit, Some(66), "{format}");
        for (id, function) in [
            (RACE, "transfer"),
            (DEADLOCK, "transfer"),
            (FAILURE, "main"),
        ] {
            let marks = if format == "tsan" { function } else { id };
            assert!(told.contains(marks), "{format}: {told}");
        }
        assert!(!told.contains(WARNING), "{format}");
        let file = format!("out.{format}");
        let (nothing, _) = output(&here, &["report.json", "--format", format, "-o", &file]);
        assert_eq!(nothing, "");
        let written = std::fs::read_to_string(here.path().join(file)).unwrap();
        assert_eq!(written, told, "{format}");
    }
    assert_eq!(
        output(&here, &["out.json", "--format", "json"]).1,
        Some(66),
        "read again"
    );
}

#[test]
fn what_is_shown_can_be_chosen() {
    let here = bank();
    let shown = |args: &[&str]| names(&here, &[&["report.json"], args].concat());
    assert_eq!(shown(&[]), [RACE, DEADLOCK, FAILURE]);
    assert_eq!(shown(&["--warnings"]), [RACE, WARNING, DEADLOCK, FAILURE]);
    assert_eq!(shown(&["--kind", "race"]), [RACE]);
    assert_eq!(shown(&["--rung", "confirmed"]), [RACE, FAILURE]);
    assert_eq!(
        shown(&["--rung", "warning", "--kind", "race"]),
        [RACE, WARNING]
    );
    assert_eq!(shown(&[WARNING]), [WARNING], "a name is enough");
    here.file("known.txt", "race:^accounts[1].balance$\n");
    assert_eq!(shown(&["--suppressions", "known.txt"]), [DEADLOCK, FAILURE]);
}

#[test]
fn several_reports_are_one() {
    let here = bank();
    let mut other: Value = serde_json::from_str(REPORT).unwrap();
    let findings = other["findings"].as_array_mut().unwrap();
    findings.truncate(2);
    findings[0]["rung"] = json!("observed");
    findings[1]["rung"] = json!("witness");
    here.file("other.json", &other.to_string());
    for order in [["report.json", "other.json"], ["other.json", "report.json"]] {
        let (text, _) = output(&here, &[&order[..], &["--format", "json"]].concat());
        let report: Value = serde_json::from_str(&text).unwrap();
        let rungs: Vec<(&str, &str, u64)> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                let text = |name: &str| finding[name].as_str().unwrap();
                (text("id"), text("rung"), finding["count"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(
            rungs,
            [
                (RACE, "confirmed", 6),
                (WARNING, "witness", 24),
                (DEADLOCK, "witness", 1),
                (FAILURE, "confirmed", 1)
            ]
        );
    }
}

#[test]
fn a_baseline_leaves_what_is_new() {
    let here = bank();
    let mut old: Value = serde_json::from_str(REPORT).unwrap();
    let findings = old["findings"].as_array_mut().unwrap();
    findings.retain(|finding| finding["id"] != DEADLOCK);
    findings[0]["id"] = json!("00000001");
    findings[0]["object"]["name"] = json!("another");
    here.file("old.json", &old.to_string());
    let args = ["report.json", "--baseline", "old.json"];
    assert_eq!(names(&here, &args), [RACE, DEADLOCK]);
    let (text, _) = output(&here, &[&args[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["stats"]["known"], 1);
    assert_eq!(report["stats"]["gone"], 1);
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    let new = told(&[
        "report",
        "report.json",
        "--baseline",
        "old.json",
        "-o",
        "new.txt",
    ]);
    insta::assert_snapshot!("baseline_new", new);
    let same = told(&["report", "report.json", "--baseline", "report.json"]);
    insta::assert_snapshot!("baseline_same", same);
}

#[test]
fn a_baseline_knows_what_has_moved() {
    let here = bank();
    let mut old: Value = serde_json::from_str(REPORT).unwrap();
    for (i, finding) in old["findings"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        finding["id"] = json!(format!("{i:08x}"));
        for access in finding["accesses"].as_array_mut().unwrap() {
            access["line"] = json!(access["line"].as_u64().unwrap() + 100);
        }
    }
    here.file("old.json", &old.to_string());
    let args = ["report.json", "--warnings", "--baseline", "old.json"];
    assert_eq!(output(&here, &args), (String::new(), Some(0)));
}

#[test]
fn generated_suppressions_hold_back_what_was_shown() {
    let here = bank();
    let (lines, exit) = output(&here, &["report.json", "--gen-suppressions"]);
    assert_eq!(exit, Some(66));
    insta::assert_snapshot!("generated_suppressions", lines);
    here.file("known.txt", &lines);
    let rest = names(
        &here,
        &["report.json", "--warnings", "--suppressions", "known.txt"],
    );
    assert_eq!(rest, [WARNING, FAILURE], "a failure cannot be suppressed");
}

#[test]
fn the_latest_recording_with_a_report_is_meant() {
    let here = bank();
    let store = ".deadheat/recordings";
    here.file(&format!("{store}/000001/report.json"), REPORT);
    let empty = r#"{"version": 1, "findings": [], "stats": {}}"#;
    here.file(&format!("{store}/000002/report.json"), empty);
    here.file(&format!("{store}/000003/info.json"), "{}");
    assert_eq!(
        printed(&mut here.deadheat(["report"])),
        "",
        "number 3 has none"
    );
    assert_eq!(names(&here, &["1"]), [RACE, DEADLOCK, FAILURE]);
    assert_eq!(names(&here, &["1", DEADLOCK]), [DEADLOCK]);
    assert_eq!(names(&here, &[&format!("{store}/000001")]).len(), 3);
    assert_eq!(names(&here, &["2", "1"]).len(), 3);
}

#[test]
fn a_page_can_be_written_with_another_form() {
    let here = bank();
    let args = ["report.json", "--html", "page.html"];
    assert_eq!(output(&here, &args), (String::new(), Some(66)));
    assert!(here.path().join("page.html").is_file());
    let (told, _) = output(&here, &[&args[..], &["--format", "tsan"]].concat());
    assert!(told.contains("WARNING: ThreadSanitizer"));
}

#[test]
fn what_cannot_be_read_is_said() {
    let here = bank();
    let told = |args: &[&str]| here.told(&mut here.deadheat([&["report"], args].concat()));
    insta::assert_snapshot!("no_report", told(&[]));
    insta::assert_snapshot!("no_file", told(&["nothing.json"]));
    insta::assert_snapshot!("no_finding", told(&["report.json", "00000000"]));
    insta::assert_snapshot!("page_name", told(&["--html", "3"]));
    insta::assert_snapshot!(
        "no_page",
        told(&["report.json", "--html", "no/such/page.html"])
    );
    here.file("broken.json", "{\"version\": 1, \"findings\": [");
    insta::assert_snapshot!("broken_report", told(&["broken.json"]));
    here.file("other.json", "[1, 2]");
    insta::assert_snapshot!("other_json", told(&["other.json"]));
    here.file("newer.json", r#"{"version": 99, "findings": "elsewhere"}"#);
    insta::assert_snapshot!("newer_report", told(&["newer.json"]));
    insta::assert_snapshot!(
        "broken_baseline",
        told(&["report.json", "--baseline", "broken.json"])
    );
    here.file(".deadheat/recordings/000001/info.json", "{}");
    insta::assert_snapshot!("recording_without_report", told(&["1"]));
    insta::assert_snapshot!("recording_missing", told(&["7"]));
    insta::assert_snapshot!("folder", told(&["."]));
}

#[test]
fn nothing_found_is_clean() {
    let here = Sandbox::new();
    here.file("report.json", r#"{"version": 1, "findings": []}"#);
    for format in ["text", "json", "sarif", "tsan", "junit", "chrome"] {
        succeed(&mut here.deadheat(["report", "report.json", "--format", format]));
    }
}
