//! `deadheat trace` on text traces: what goes in comes out, and what is wrong is said.

mod support;

use support::{Sandbox, printed, succeed};

const TRACE: &str = "\
T0 | fork(T1)     | main.c:3
T0 | acq(m)       | main.c:5
T0 | w(x=1)       | main.c:6
T0 | rel(m)       | main.c:7
T1 | acq(m)       | main.c:12
T1 | r(x=1)       | main.c:13
T1 | branch       | main.c:13
T1 | rel(m)       | main.c:14
T0 | join(T1)     | main.c:9
";

fn with_trace() -> Sandbox {
    let here = Sandbox::new();
    here.file("run.trace", TRACE);
    here
}

#[test]
fn a_trace_is_printed_in_every_format() {
    let here = with_trace();
    let text = printed(&mut here.deadheat(["trace", "cat", "run.trace"]));
    here.file("again.trace", &text);
    assert_eq!(
        printed(&mut here.deadheat(["trace", "cat", "again.trace"])),
        text
    );
    let std = printed(&mut here.deadheat(["trace", "cat", "--format", "std", "run.trace"]));
    insta::assert_snapshot!("cat_std", std);
    let json = printed(&mut here.deadheat(["trace", "cat", "--format", "json", "run.trace"]));
    assert_eq!(json.lines().count(), 9);
    for line in json.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_part_of_a_trace_is_printed() {
    let here = with_trace();
    let part = |args: &[&str]| {
        let mut command = here.deadheat(["trace", "cat", "run.trace", "--format", "std"]);
        printed(command.args(args)).lines().count()
    };
    assert_eq!(part(&["--window", "2..5"]), 3);
    assert_eq!(part(&["--window", "7.."]), 2);
    assert_eq!(part(&["--thread", "T1", "--window", "..6"]), 2);
    assert_eq!(
        part(&["--thread", "T0", "--thread", "1"]),
        8,
        "STD has no branches"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let here = Sandbox::new();
    let many: String = (0..50_000).map(|i| format!("T0|w(x{i})|{i}\n")).collect();
    here.file("long.std", &many);
    let script = "set -o pipefail; deadheat trace cat long.std | head -n 1";
    let output = here.command("bash").args(["-c", script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("#!") || output.stdout.len() > 3);
}

#[test]
fn a_trace_is_counted() {
    let here = with_trace();
    insta::assert_snapshot!(printed(&mut here.deadheat(["trace", "stats", "run.trace"])));
    let json = printed(&mut here.deadheat(["trace", "stats", "--json", "run.trace"]));
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(stats["steps"], 9);
}

#[test]
fn a_trace_is_converted_and_losses_are_told() {
    let here = with_trace();
    let args = [
        "trace",
        "convert",
        "run.trace",
        "--to",
        "std",
        "-o",
        "run.std",
    ];
    let output = succeed(&mut here.deadheat(args));
    insta::assert_snapshot!("convert_losses", String::from_utf8_lossy(&output.stderr));
    let std = std::fs::read_to_string(here.path().join("run.std")).unwrap();
    assert_eq!(std.lines().count(), 8);
    succeed(&mut here.deadheat(["trace", "verify", "run.std"]));
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    let same = [
        "trace",
        "convert",
        "run.std",
        "--to",
        "text",
        "-o",
        "./run.std",
    ];
    insta::assert_snapshot!("convert_onto_itself", told(&same));
    let nowhere = [
        "trace",
        "convert",
        "run.std",
        "--to",
        "text",
        "-o",
        "no/folder",
    ];
    insta::assert_snapshot!("convert_nowhere", told(&nowhere));
}

#[test]
fn traces_are_verified() {
    let here = with_trace();
    let told = |name: &str| here.told(&mut here.deadheat(["trace", "verify", name]));
    insta::assert_snapshot!("verify_good", told("run.trace"));
    here.file(
        "bad.trace",
        "T0|acq(m)|a.c:1\nT1|acq(m)|a.c:2\nT0|end|a.c:3\nT0|w(x=1)|a.c:4\n",
    );
    insta::assert_snapshot!("verify_bad", told("bad.trace"));
    here.file("external.trace", "T0|w(x=1)|a.c:1\nT0|r(x=2)|a.c:2\n");
    insta::assert_snapshot!("verify_external", told("external.trace"));
    let repaired = ["trace", "cat", "--repair", "external.trace"];
    assert_eq!(
        printed(&mut here.deadheat(repaired)).matches("T0").count(),
        3
    );
}

#[test]
fn a_part_keeps_its_places() {
    let here = Sandbox::new();
    here.file(
        "some.trace",
        "T0|w(x=1)|1\nT1|r(x=1)|2\nT0|w(x=2)|3\nT1|r(x=2)|4\n",
    );
    let part = [
        "trace", "cat", "--format", "json", "--window", "1..", "--thread", "T1",
    ];
    let lines = printed(here.deadheat(part).arg("some.trace"));
    let index = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["index"].as_u64().unwrap()
    };
    assert_eq!(lines.lines().map(index).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let here = with_trace();
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    insta::assert_snapshot!("no_recordings", told(&["trace", "cat"]));
    insta::assert_snapshot!("no_such_number", told(&["trace", "stats", "7"]));
    insta::assert_snapshot!("no_such_file", told(&["trace", "stats", "nothing.dht"]));
    insta::assert_snapshot!("empty_folder", told(&["trace", "stats", ".git"]));
    here.file("malformed.trace", "T0|w(x)|1\nT0|write(x)|2\n");
    insta::assert_snapshot!("malformed", told(&["trace", "stats", "malformed.trace"]));
    std::fs::write(
        here.path().join("binary"),
        [0xFF, 0xFE, 0, 1, 2, 3, 4, 5, 6],
    )
    .unwrap();
    insta::assert_snapshot!("binary", told(&["trace", "verify", "binary"]));
    insta::assert_snapshot!("itself", told(&["trace", "cat", support::DEADHEAT]));
}
