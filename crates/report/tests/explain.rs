//! From a trace and two positions to what people read.

use deadheat_report::{Contexts, Explain, Finding, Names, Rung, Suppressions, json, text};
use deadheat_trace::{EventIndex, LockId, Trace, text as trace_text};

const BANK: &str = "\
main|fork(T1)|bank.c:50
main|fork(T2)|bank.c:51
T1|enter|bank.c:50
T1|enter|bank.c:40
T1|alloc(block:16)|bank.c:12
T1|acq(m)|bank.c:30
T1|rdlock(table)|bank.c:31
T1|w(block+4:4=7)|bank.c:32
T1|rdunlock(table)|bank.c:33
T1|rel(m)|bank.c:34
T1|leave|bank.c:40
T2|acq(m)|bank.c:60
T2|rel(m)|bank.c:61
T2|r(block:8=0)|bank.c:62
T2|free(block)|bank.c:63
T2|acq(b)|bank.c:70
T2|acq(a)|bank.c:71
";

fn trace() -> Trace {
    trace_text::parse(BANK).unwrap()
}

fn explained(trace: &Trace, ask: impl Fn(&Explain) -> Option<Finding>) -> Finding {
    let mut contexts = Contexts::of((0..trace.steps.len() as u64).map(EventIndex));
    for (i, step) in trace.steps.iter().enumerate() {
        contexts.step(EventIndex(i as u64), step);
    }
    let explain = Explain {
        names: &Names::of(&trace.tables),
        tables: &trace.tables,
        contexts: &contexts,
    };
    ask(&explain).unwrap()
}

fn race(trace: &Trace) -> Finding {
    let pair = [EventIndex(7), EventIndex(13)];
    explained(trace, |explain| {
        explain.race(pair, Rung::Observed, "happens-before")
    })
}

fn plain(finding: &Finding) -> String {
    anstream::adapter::strip_str(&text::finding(finding, &text::Look::default())).to_string()
}

#[test]
fn a_race_for_people() {
    let mut finding = race(&trace());
    finding.count = 3;
    finding
        .hints
        .push("every write stores the same value (7)".to_owned());
    insta::assert_snapshot!(plain(&finding));
}

#[test]
fn a_race_with_a_free_is_about_the_bytes_that_were_accessed() {
    let pair = [EventIndex(7), EventIndex(14)];
    let finding = explained(&trace(), |explain| {
        explain.race(pair, Rung::Warning, "hybrid")
    });
    insta::assert_snapshot!(plain(&finding));
    let object = finding.object.unwrap();
    assert_eq!((object.size, &*object.name), (4, "block+4"));
}

#[test]
fn a_deadlock_for_people() {
    let requests = [(EventIndex(6), LockId(1)), (EventIndex(16), LockId(3))];
    let finding = explained(&trace(), |explain| {
        explain.deadlock(&requests, Rung::Warning, "lock order")
    });
    insta::assert_snapshot!(plain(&finding));
}

#[test]
fn findings_for_programs() {
    insta::assert_snapshot!(json::report(&[race(&trace())], [("events", 17)]));
}

#[test]
fn the_name_does_not_depend_on_who_came_first() {
    let trace = trace();
    let [a, b] = [[7, 13], [13, 7]].map(|pair| {
        let pair = pair.map(EventIndex);
        explained(&trace, |explain| explain.race(pair, Rung::Observed, "hb"))
    });
    assert_eq!((a.id, a.signature), (b.id, b.signature));
}

#[test]
fn suppressions_match_places_variables_and_nothing_else() {
    let finding = race(&trace());
    let suppresses = |line: &str| {
        let mut list = Suppressions::default();
        list.read(line).unwrap();
        let matched = list.match_finding(&finding);
        assert_eq!(
            list.unused().count() == 0,
            matched || line.starts_with("thread:")
        );
        matched
    };
    assert!(suppresses("race:bank.c"));
    assert!(suppresses("race:^bank*c$"));
    assert!(suppresses("race:block"));
    assert!(suppresses("race_top:bank.c"));
    assert!(!suppresses("race:^ank"));
    assert!(!suppresses("race:bank.cpp"));
    assert!(!suppresses("deadlock:bank.c"));
    assert!(!suppresses("thread:bank.c"));
    assert!(!suppresses("called_from_lib:bank.c"));
}

#[test]
fn a_terminal_obeys_nobody_else() {
    let mut finding = race(&trace());
    finding.accesses[0].stack[0].function = Some("\u{1b}[2Jevil\n".to_owned());
    finding.accesses[0].thread.name = "\u{7}bell".to_owned();
    let shown = text::finding(&finding, &text::Look::default());
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{7}'));
    assert!(!shown.contains("evil\n "));
}
