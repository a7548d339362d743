//! The recorded traces in `traces/`: they parse, they are well-formed, and STD goes round.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_trace::text::{self, Flavor};
use deadheat_trace::verify::{self, Severity};
use deadheat_trace::{Steps, Trace};

fn traces(extension: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    paths.iter().map(|path| (name(path), read(path))).collect()
}

fn written(trace: &Trace, flavor: Flavor) -> String {
    let mut out = Vec::new();
    text::write(&mut trace.stream(), &mut out, flavor).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn std_reads_the_same_in_both_flavours_and_goes_round() {
    let all = traces("std");
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
    let all = traces("dht");
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
    for ((name, std), (_, full)) in traces("std").into_iter().zip(traces("dht")) {
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
    for extension in ["std", "dht"] {
        for (name, text) in traces(extension) {
            let trace = text::parse(&text).unwrap();
            let report = verify::verify(&mut trace.stream()).unwrap();
            for violation in &report.violations {
                let said = violation.describe(&trace.tables);
                table += &format!("{name}.{extension}: {said}\n");
                assert_eq!(violation.rule.severity(), Severity::Warning);
            }
            for mismatch in &report.first_mismatches {
                let said = mismatch.describe(&trace.tables);
                table += &format!("{name}.{extension}: {said}\n");
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
    account.dht: #102 at 472: T15 creates T11, which never runs
    airlinetickets.dht: #137 at 471: T23 creates T11, which never runs
    array.dht: #19 at 446: T14 creates T11, which never runs
    boundedbuffer.dht: #1342 at 589: T1 creates T11, which never runs
    critical.dht: #27 at 459: T15 creates T11, which never runs
    demo_example.dht: #13 at 443: T14 creates T11, which never runs
    dl_gate.dht: #18 at 444: T15 creates T11, which never runs
    dl_real.dht: #18 at 444: T15 creates T11, which never runs
    joinfeas_java.dht: #10 at 439: T15 creates T11, which never runs
    ");
}
