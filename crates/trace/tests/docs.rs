//! The examples in the documentation of the text format are traces.

use std::path::Path;

use deadheat_trace::text;
use deadheat_trace::verify;

#[test]
fn examples_parse_and_are_well_formed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-text.md");
    let book = std::fs::read_to_string(path).unwrap();
    let examples: Vec<&str> = book
        .split("```trace\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let trace = text::parse(example).unwrap_or_else(|error| panic!("{error}\n{example}"));
        let report = verify::verify(&mut trace.stream()).unwrap();
        assert!(report.is_well_formed(), "{:?}", report.violations);
        assert_eq!(report.mismatches, 0, "{:?}", report.first_mismatches);
    }
}

/// Every operation in the table, in the form in which it stands there.
#[test]
fn operations_in_the_table_parse() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-text.md");
    let book = std::fs::read_to_string(path).unwrap();
    let table = book.split("## Operations").nth(1).unwrap();
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| |") || line.starts_with("| yes"));
    let mut ops = std::collections::BTreeSet::new();
    for row in rows {
        let cell = row.split('|').nth(2).unwrap();
        for op in cell.split('`').skip(1).step_by(2) {
            let line = format!("T0|{op}|1\n");
            let trace = text::parse(&line).unwrap_or_else(|error| panic!("{line}{error}"));
            ops.insert(trace.steps[0].event.op());
        }
    }
    assert_eq!(ops.len(), deadheat_trace::Op::ALL.len());
}
