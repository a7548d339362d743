//! The recorded traces in `traces/`: they parse, they are well-formed, and STD goes round.

use std::fs;
use std::path::Path;

use deadheat_trace::text::{self, Flavor};
use deadheat_trace::verify::{self, Severity};
use deadheat_trace::{Steps, Trace};

/// Names and contents of all files whose name ends so.
fn traces(ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let stem = name.strip_suffix(ending)?.to_owned();
            Some((stem, fs::read_to_string(entry.path()).unwrap()))
        })
        .collect();
    files.sort();
    files
}

fn written(trace: &Trace, flavor: Flavor) -> String {
    let mut out = Vec::new();
    text::write(&mut trace.stream(), &mut out, flavor).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn std_reads_the_same_in_both_flavours_and_goes_round() {
    let all = traces(".std");
    assert_eq!(all.len(), 10);
    for (name, text) in all {
        let strict = text::parse_std(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let full = text::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(strict, full, "{name}");
        assert_eq!(strict.steps.len(), text.lines().count(), "{name}");
        assert_eq!(written(&strict, Flavor::Std), text, "{name}");
        assert_eq!(
            text::parse(&written(&strict, Flavor::Full)).unwrap(),
            strict
        );
    }
}

#[test]
fn full_traces_go_round() {
    let all = traces(".dht.txt");
    assert_eq!(all.len(), 10);
    for (name, text) in all {
        let trace = text::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let once = written(&trace, Flavor::Full);
        assert_eq!(text::parse(&once).unwrap(), trace, "{name}");
        let events = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(events(&once).len(), events(&text).len(), "{name}");
    }
}

/// What STD keeps of the full trace is what the recorder wrote as STD, but for locks that are
/// taken again by their owner.
#[test]
fn full_traces_convert_to_the_std_ones() {
    for ((name, std), (_, full)) in traces(".std").into_iter().zip(traces(".dht.txt")) {
        if name == "boundedbuffer" {
            continue;
        }
        let full = text::parse(&full).unwrap();
        assert_eq!(written(&full, Flavor::Std), std, "{name}");
    }
}

#[test]
fn all_are_well_formed() {
    let mut table = String::new();
    for ending in [".std", ".dht.txt"] {
        for (name, text) in traces(ending) {
            let trace = text::parse(&text).unwrap();
            let report = verify::verify(&mut trace.stream()).unwrap();
            for violation in &report.violations {
                let said = violation.describe(&trace.tables);
                table += &format!("{name}{ending}: {said}\n");
                assert_eq!(violation.rule.severity(), Severity::Warning);
            }
            for mismatch in &report.first_mismatches {
                let said = mismatch.describe(&trace.tables);
                table += &format!("{name}{ending}: {said}\n");
            }
            let mut repaired = verify::repair(trace.stream());
            let repaired_report = verify::verify(&mut repaired).unwrap();
            assert_eq!(repaired_report.mismatches, 0, "{name}");
            assert_eq!(repaired.inserted(), report.mismatches, "{name}");
            assert!(repaired.next_step().unwrap().is_none());
        }
    }
    // The Java runtime creates T11 at the end and it has no time to run.
    insta::assert_snapshot!(table, @r"
    account.std: #102 at 472: T15 creates T11, which never runs
    airlinetickets.std: #137 at 471: T23 creates T11, which never runs
    array.std: #19 at 446: T14 creates T11, which never runs
    boundedbuffer.std: #1228 at 589: T1 creates T11, which never runs
    critical.std: #27 at 459: T15 creates T11, which never runs
    demo_example.std: #13 at 443: T14 creates T11, which never runs
    dl_gate.std: #18 at 444: T15 creates T11, which never runs
    dl_real.std: #18 at 444: T15 creates T11, which never runs
    joinfeas_java.std: #10 at 439: T15 creates T11, which never runs
    account.dht.txt: #102 at 472: T15 creates T11, which never runs
    airlinetickets.dht.txt: #137 at 471: T23 creates T11, which never runs
    array.dht.txt: #19 at 446: T14 creates T11, which never runs
    boundedbuffer.dht.txt: #1342 at 589: T1 creates T11, which never runs
    critical.dht.txt: #27 at 459: T15 creates T11, which never runs
    demo_example.dht.txt: #13 at 443: T14 creates T11, which never runs
    dl_gate.dht.txt: #18 at 444: T15 creates T11, which never runs
    dl_real.dht.txt: #18 at 444: T15 creates T11, which never runs
    joinfeas_java.dht.txt: #10 at 439: T15 creates T11, which never runs
    ");
}
