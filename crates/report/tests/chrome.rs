//! The way to a finding as a trace: what viewers of such traces ask for.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_report::{Finding, chrome, json};
use serde_json::Value;

fn bank() -> Vec<Finding> {
    json::findings(include_str!("bank/report.json")).unwrap()
}

fn events(findings: &[Finding]) -> Vec<Value> {
    let trace: Value = serde_json::from_str(&chrome::report(findings)).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

fn of_kind<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == kind)
}

/// Start and end of a span.
fn span(event: &Value) -> (u64, u64) {
    let start = event["ts"].as_u64().unwrap();
    (start, start + event["dur"].as_u64().unwrap())
}

#[test]
fn threads_steps_locks_and_sides() {
    let events = events(&bank()[..1]);
    let names = of_kind(&events, "M").filter_map(|event| event["args"]["name"].as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "race on accounts[1].balance [5c21d0a7]",
            "main",
            "clerk",
            "teller"
        ]
    );
    let steps = of_kind(&events, "X").filter(|event| event["cat"] == "step");
    assert_eq!(steps.count(), 16);
    let held: Vec<(u64, &str)> = of_kind(&events, "X")
        .filter(|event| event["cat"] == "lock")
        .map(|event| {
            (
                event["tid"].as_u64().unwrap(),
                event["name"].as_str().unwrap(),
            )
        })
        .collect();
    let (first, second) = ("holds accounts[0].guard", "holds accounts[1].guard");
    assert_eq!(held, [(1, second), (1, first), (2, second), (1, first)]);
    let sides: Vec<&str> = of_kind(&events, "i")
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert_eq!(
        sides,
        [
            "here: read accounts[1].balance",
            "here: write accounts[1].balance"
        ]
    );
}

#[test]
fn an_arrow_goes_from_who_gives_a_lock_back_to_who_takes_it() {
    let events = events(&bank());
    let starts: Vec<&Value> = of_kind(&events, "s").collect();
    let ends: Vec<&Value> = of_kind(&events, "f").collect();
    assert_eq!((starts.len(), ends.len()), (1, 1));
    assert_eq!(starts[0]["id"], ends[0]["id"]);
    assert_eq!((&starts[0]["tid"], &ends[0]["tid"]), (&1.into(), &2.into()));
    assert!(starts[0]["ts"].as_u64() < ends[0]["ts"].as_u64());
    for end in starts.iter().chain(&ends) {
        let time = end["ts"].as_u64().unwrap();
        let around = of_kind(&events, "X").any(|event| {
            let (from, to) = span(event);
            event["pid"] == end["pid"] && event["tid"] == end["tid"] && from <= time && time <= to
        });
        assert!(
            around,
            "arrows are tied to what is drawn at their ends: {end}"
        );
    }
}

/// Spans of a track lie within each other or apart: viewers draw nothing else.
fn assert_nested(events: &[Value]) {
    let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in of_kind(events, "X") {
        let track = (
            event["pid"].as_u64().unwrap(),
            event["tid"].as_u64().unwrap(),
        );
        tracks.entry(track).or_default().push(span(event));
    }
    for spans in tracks.values() {
        for (i, a) in spans.iter().enumerate() {
            for b in &spans[i + 1..] {
                let apart = a.1 <= b.0 || b.1 <= a.0;
                let within = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                assert!(apart || within, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn spans_nest_even_if_locks_do_not() {
    let mut findings = bank();
    assert_nested(&events(&findings));
    // What was locked first is given back first.
    let way = findings[0].interleaving.as_mut().unwrap();
    way.steps.swap(8, 9);
    let events = events(&findings[..1]);
    assert_nested(&events);
    let begin: BTreeSet<&str> = of_kind(&events, "b")
        .filter_map(|e| e["id"].as_str())
        .collect();
    let end: BTreeSet<&str> = of_kind(&events, "e")
        .filter_map(|e| e["id"].as_str())
        .collect();
    assert_eq!(
        begin.len(),
        1,
        "the one that does not nest has a track of its own"
    );
    assert_eq!(begin, end);
}

#[test]
fn who_waits_for_a_lock_does_not_hold_it() {
    let all = bank();
    let deadlock = all.iter().find(|finding| finding.id == "91b7e2f4").unwrap();
    let events = events(std::slice::from_ref(deadlock));
    let held = of_kind(&events, "X").filter(|event| event["cat"] == "lock");
    let held: Vec<&str> = held.filter_map(|event| event["name"].as_str()).collect();
    assert_eq!(held, ["holds accounts[0].guard", "holds accounts[1].guard"]);
}

#[test]
fn without_a_way_there_are_the_sides() {
    let finding = bank().remove(1);
    assert!(finding.interleaving.is_none());
    let events = events(&[finding]);
    let sides = of_kind(&events, "i").map(|event| event["tid"].as_u64().unwrap());
    assert_eq!(sides.collect::<Vec<_>>(), [0, 1]);
}
