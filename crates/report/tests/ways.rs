//! Which steps lead to a finding.

mod support;

use deadheat_report::{Kind, Rung, Then, Way, Ways};
use deadheat_trace::{EventIndex, Skipped, ThreadId};
use proptest::prelude::*;
use support::{at, deadlock, explained, lines, marked, parse, race, tell, way};

/// T2 ran behind T1, and reads nothing of it that matters before its own access.
const ACCOUNT: &str = "\
T0|w(balance=100)|bank.c:4
T0|fork(T1)|bank.c:31
T0|fork(T2)|bank.c:32
T1|acq(m)|bank.c:8
T1|r(balance=100)|bank.c:9
T1|w(balance=110)|bank.c:9 <1>
T1|rel(m)|bank.c:10
T2|r(balance=110)|bank.c:14
T2|w(balance=109)|bank.c:14 <2>
";

#[test]
fn a_race_comes_about_by_its_schedule() {
    let (trace, sides) = marked(ACCOUNT);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    // T2 reads before T1 has written: what it reads is 100, and what it writes then is not known.
    tell(&trace, way(3, &[3, 4, 7], &sides), &mut finding);
    insta::assert_snapshot!(lines(finding.interleaving.as_ref().unwrap()), @r#"
    T0 holds []
    T1 holds []
    T2 holds []
    0 earlier
    *   0 T0 write balance = 100 at bank.c:4
    *   1 T0 create T1 at bank.c:31
    *   2 T0 create T2 at bank.c:32
    *   3 T1 lock m at bank.c:8
    *   4 T1 read balance = 100 at bank.c:9
    *   7 T2 read balance = 100 at bank.c:14
    *   5 T1 write balance = 110 at bank.c:9 side 0
    *   8 T2 write balance at bank.c:14 side 1
    "#);
}

#[test]
fn counts_of_threads_say_the_same_as_events() {
    let (trace, sides) = marked(ACCOUNT);
    let mut by_events = race(&trace, [sides[0], sides[1]], Rung::Witness);
    let mut by_parts = by_events.clone();
    tell(&trace, way(3, &[3, 4, 7], &sides), &mut by_events);
    let parts = Way {
        then: Then::Parts(vec![(ThreadId(1), 2), (ThreadId(2), 1)]),
        ..way(3, &[], &sides)
    };
    tell(&trace, parts, &mut by_parts);
    assert_eq!(by_events.interleaving, by_parts.interleaving);
    // From the beginning, with the same events in the same order.
    let whole = Way {
        then: Then::Parts(vec![(ThreadId(0), 3), (ThreadId(1), 2), (ThreadId(2), 1)]),
        ..way(0, &[], &sides)
    };
    let mut from_start = by_parts.clone();
    tell(&trace, whole, &mut from_start);
    assert_eq!(by_events.interleaving, from_start.interleaving);
}

/// T0 freed what T1 had given up, which nobody does before T1 has.
const LAST_OWNER: &str = "\
T0|fork(T1)|a.rs:1
T1|w(x=1)|a.rs:2 <1>
T1|rmw(count=2->1)|a.rs:3
T0|rmw(count=1->0)|a.rs:4
T0|w(done=1)|a.rs:5
T0|w(done=2)|a.rs:6
T0|r(done=2)|a.rs:7
T0|r(x=1)|a.rs:8 <2>
";

#[test]
fn what_is_skipped_is_not_told_and_not_counted() {
    let (trace, sides) = marked(LAST_OWNER);
    let mut by_events = race(&trace, [sides[0], sides[1]], Rung::Witness);
    let mut by_parts = by_events.clone();
    let skipped = vec![Skipped {
        thread: ThreadId(0),
        first: at(4),
        last: at(5),
    }];
    let events = Way {
        skipped: skipped.clone(),
        ..way(0, &[0, 3, 6], &sides)
    };
    tell(&trace, events, &mut by_events);
    let parts = Way {
        then: Then::Parts(vec![(ThreadId(0), 3)]),
        skipped,
        ..way(0, &[], &sides)
    };
    tell(&trace, parts, &mut by_parts);
    let told = by_events.interleaving.as_ref().unwrap();
    assert_eq!(by_events.interleaving, by_parts.interleaving);
    let steps: Vec<u64> = told.steps.iter().map(|step| step.index).collect();
    assert_eq!(steps, [0, 3, 6, 1, 7]);
    // What was left out wrote it.
    assert_eq!(told.steps[2].value, None);
}

#[test]
fn sides_are_known_by_their_places_where_other_events_lead_there() {
    let text = "\
T0|fork(T1)|a.c:1
T0|w(x=1)|a.c:2 <1>
T1|r(x=1)|a.c:9 <2>
T0|w(x=2)|a.c:2
";
    let (trace, sides) = marked(text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    tell(&trace, way(2, &[], &[at(2), at(3)]), &mut finding);
    let steps = finding.interleaving.unwrap().steps;
    let ends: Vec<_> = steps[steps.len() - 2..]
        .iter()
        .map(|step| step.side)
        .collect();
    assert_eq!(ends, [Some(1), Some(0)]);
    assert_eq!(steps[1].side, None, "the same line, and not what is next");
}

#[test]
fn what_a_run_shows_is_told_as_it_went() {
    let mut text = "T0|fork(T1)|a.c:1\nT0|w(x=1)|a.c:2 <1>\n".to_owned();
    for i in 0..1000 {
        text.push_str(&format!("T0|w(other={i})|a.c:3\n"));
    }
    text.push_str("T1|r(x=1)|a.c:9 <2>\n");
    let (trace, sides) = marked(&text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Observed);
    let recorded = Way {
        start: sides[1],
        next: vec![sides[1]],
        also: sides.clone(),
        ..Way::default()
    };
    tell(&trace, recorded, &mut finding);
    let way = finding.interleaving.unwrap();
    assert_eq!(way.steps.len(), 400);
    let ends = [&way.steps[0], &way.steps[399]].map(|step| (step.index, step.side, step.key));
    assert_eq!(ends, [(1, Some(0), true), (1002, Some(1), true)]);
    assert_eq!(way.earlier, 1002 - 398);
}

#[test]
fn a_recorded_deadlock_ends_in_its_requests() {
    let text = "\
T0|fork(T1)|d.c:1
T0|acq(a)|d.c:2
T1|acq(b)|d.c:12
T0|req(b)|d.c:3 <1>
T1|req(a)|d.c:13 <2>
";
    let (trace, sides) = marked(text);
    let mut finding = deadlock(&trace, &sides, Rung::Witness);
    tell(&trace, way(5, &[], &sides), &mut finding);
    insta::assert_snapshot!(lines(finding.interleaving.as_ref().unwrap()), @r#"
    T0 holds []
    T1 holds []
    0 earlier
    *   0 T0 create T1 at d.c:1
    *   1 T0 lock a at d.c:2
    *   2 T1 lock b at d.c:12
    *   3 T0 ask for b at d.c:3 side 0
    *   4 T1 ask for a at d.c:13 side 1
    "#);
}

#[test]
fn a_failure_shows_who_wrote_what_was_read_last() {
    let text = "\
T0|w(p=1)|f.c:1
T0|fork(T1)|f.c:2
T0|w(q=5)|f.c:3
T1|w(p=0)|f.c:9
T0|r(q=5)|f.c:4
T0|r(p=0)|f.c:5 <1>
";
    let (trace, sides) = marked(text);
    let mut finding = explained(&trace, |explain| {
        explain.failure(sides[0], Rung::Witness, "explore")
    });
    assert_eq!(finding.kind, Kind::Failure);
    tell(&trace, way(6, &[], &[]), &mut finding);
    let way = finding.interleaving.unwrap();
    let key: Vec<u64> = way
        .steps
        .iter()
        .filter(|step| step.key)
        .map(|step| step.index)
        .collect();
    assert_eq!(key, [3, 5]);
}

#[test]
fn locks_that_were_taken_long_before_are_held() {
    let mut text = "T0|fork(T1)|a.c:1\nT0|acq(m)|a.c:2\n".to_owned();
    for _ in 0..2000 {
        text.push_str("T0|w(other=1)|a.c:3\n");
    }
    text.push_str("T0|w(x=1)|a.c:4 <1>\nT1|w(x=1)|a.c:9 <2>\n");
    let (trace, sides) = marked(&text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    tell(&trace, way(2002, &[], &sides), &mut finding);
    let way = finding.interleaving.unwrap();
    assert_eq!(way.threads[0].holds, ["m"]);
    assert_eq!((way.steps.len(), way.earlier), (400, 2002 - 398));
}

#[test]
fn a_schedule_of_events_that_are_not_there_is_not_told() {
    let (trace, sides) = marked(ACCOUNT);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    tell(&trace, way(3, &[], &[at(5), at(99)]), &mut finding);
    assert_eq!(finding.interleaving, None);
}

/// Steps of a few threads, as text: what each does is drawn.
fn text_of(steps: &[(u8, u8)]) -> String {
    let mut text = "T0|fork(T1)|1\nT0|fork(T2)|1\n".to_owned();
    for (thread, what) in steps {
        let op = match what {
            0 => "enter",
            1 => "leave",
            2 => "r(x)",
            3 => "w(y)",
            _ => "send(c)",
        };
        text.push_str(&format!("T{thread}|{op}|1\n"));
    }
    text
}

proptest! {
    /// Whatever the schedule, the last steps of it are told that are accesses or synchronisation, in its order.
    #[test]
    fn the_end_of_any_schedule_is_told(
        steps in proptest::collection::vec((0u8..3, 0u8..5), 0..900),
        start in 0usize..900,
        parts in proptest::collection::vec((0u32..3, 1u64..200), 0..8),
    ) {
        let trace = parse(&text_of(&steps));
        let start = start.min(trace.steps.len());
        // By hand: the recorded beginning, then the next events of each thread.
        let mut schedule: Vec<usize> = (0..start).collect();
        let mut rest: Vec<usize> = (start..trace.steps.len()).collect();
        let mut real: Vec<(ThreadId, u64)> = Vec::new();
        for (thread, count) in parts {
            let own = |at: &usize| trace.steps[*at].event.thread().0 == thread;
            let those: Vec<usize> =
                rest.iter().copied().filter(|at| own(at)).take(count as usize).collect();
            rest.retain(|at| !those.contains(at));
            real.push((ThreadId(thread), those.len() as u64));
            schedule.extend(those);
        }
        let looked_at = &schedule[schedule.len().saturating_sub(1600)..];
        let is_told = |at: &&usize| !matches!(steps.get((**at).wrapping_sub(2)), Some((_, 0 | 1)));
        let told: Vec<u64> = looked_at.iter().filter(is_told).map(|at| *at as u64).collect();
        let told = &told[told.len().saturating_sub(400)..];
        let way = Way { start: EventIndex(start as u64), then: Then::Parts(real), ..Way::default() };
        let mut ways = Ways::new([way]);
        for (i, step) in trace.steps.iter().enumerate() {
            ways.step(at(i as u64), step);
        }
        let nothing = deadheat_report::Finding::new(Kind::Failure, Rung::Witness, "x", Vec::new());
        let explain = deadheat_report::Explain {
            names: &deadheat_report::Names::of(&trace.tables),
            tables: &trace.tables,
            contexts: ways.contexts(),
        };
        let found = ways.told(0, &nothing, &explain);
        let found = found.map_or_else(Vec::new, |way| way.steps.iter().map(|step| step.index).collect());
        prop_assert_eq!(found, told.to_vec());
    }
}

/// The steps of a way that the few-line form shows.
fn key(trace: &deadheat_trace::Trace, events: &[u64], sides: &[EventIndex]) -> Vec<u64> {
    let mut finding = race(trace, [sides[0], sides[1]], Rung::Witness);
    tell(trace, way(1, events, sides), &mut finding);
    let steps = finding.interleaving.unwrap().steps;
    let key = steps.iter().filter(|step| step.key);
    key.map(|step| step.index).collect()
}

#[test]
fn a_critical_section_that_lies_behind_is_shown() {
    let text = "\
T0|fork(T1)|s.c:1
T0|w(x=1)|s.c:2 <1>
T0|acq(m)|s.c:3
T0|rel(m)|s.c:4
T1|acq(m)|s.c:10
T1|w(other=1)|s.c:11
T1|rel(m)|s.c:12
T1|w(x=2)|s.c:13 <2>
";
    let (trace, sides) = marked(text);
    assert_eq!(key(&trace, &[4, 5, 6], &sides), [0, 4, 6, 1, 7]);
}

#[test]
fn what_a_thread_was_waiting_for_is_shown_with_who_gave_it() {
    let text = "\
T0|fork(T1)|s.c:1
T1|send(c)|s.c:10
T0|recv(c)|s.c:3
T0|w(x=1)|s.c:4 <1>
T1|w(x=2)|s.c:13 <2>
";
    let (trace, sides) = marked(text);
    assert_eq!(key(&trace, &[1, 2], &sides), [0, 1, 2, 3, 4]);
}

#[test]
fn few_steps_stay_few() {
    let mut text = "T0|fork(T1)|s.c:1\n".to_owned();
    for lock in 0..20 {
        text.push_str(&format!("T0|acq(m{lock})|s.c:3\n"));
    }
    text.push_str("T0|w(x=1)|s.c:4 <1>\nT1|w(x=2)|s.c:13 <2>\n");
    let (trace, sides) = marked(&text);
    let events: Vec<u64> = (1..21).collect();
    let few = key(&trace, &events, &sides);
    assert_eq!(few.len(), 10);
    assert_eq!(few[8..], [21, 22], "the sides are always among them");
}
