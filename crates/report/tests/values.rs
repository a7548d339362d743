//! Which values are told of steps: those that hold in the order of the schedule.

mod support;

use deadheat_report::{Kind, Rung, Then, Way, Ways};
use deadheat_trace::{EventIndex, ThreadId};
use proptest::prelude::*;
use support::{at, explained, parse, tell, way};

/// A write of a constant, or a read: who, of which variable.
type Deed = (u8, u16, Option<u8>);

/// Short ones of few variables, and long ones of many with few writes, so that most writes that are read lie far back.
fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let short = (0u8..3, 0u16..4, proptest::option::of(0u8..9));
    let long = (0u8..3, 0u16..300, proptest::option::weighted(0.05, 0u8..9));
    prop_oneof![
        4 => proptest::collection::vec(short, 0..30),
        1 => proptest::collection::vec(long, 1700..2600),
    ]
}

proptest! {
    /// Threads that write constants do the same in every order: what is told of a value is what an execution in that order has.
    #[test]
    fn values_are_those_of_the_schedule(
        deeds in deeds(),
        start in any::<proptest::sample::Index>(),
        parts in proptest::collection::vec((0u32..3, 1usize..900), 0..6),
    ) {
        let mut text = "T0|fork(T1)|1\nT0|fork(T2)|1\n".to_owned();
        let mut memory = [0u64; 300];
        for (thread, variable, write) in &deeds {
            let cell = &mut memory[usize::from(*variable)];
            *cell = write.map_or(*cell, u64::from);
            let op = if write.is_some() { "w" } else { "r" };
            text.push_str(&format!("T{thread}|{op}(v{variable}={cell})|1\n"));
        }
        let trace = parse(&text);
        let start = 2 + start.index(deeds.len() + 1);
        let mut order: Vec<usize> = (0..start).collect();
        let mut rest: Vec<usize> = (start..trace.steps.len()).collect();
        let mut real: Vec<(ThreadId, u64)> = Vec::new();
        for (thread, count) in parts {
            let own = |at: &usize| trace.steps[*at].event.thread().0 == thread;
            let (those, _): (Vec<usize>, Vec<usize>) = rest.iter().copied().partition(own);
            // Of a few events a few at a time.
            let count = if deeds.len() < 30 { count % 5 } else { count };
            let those = &those[..those.len().min(count)];
            rest.retain(|at| those.binary_search(at).is_err());
            real.push((ThreadId(thread), those.len() as u64));
            order.extend(those);
        }
        // What an execution in this order does.
        let mut memory = [0u64; 300];
        let mut actual: Vec<Option<u64>> = vec![None; trace.steps.len()];
        for at in order.iter().filter(|at| **at >= 2) {
            let (_, variable, write) = deeds[at - 2];
            let cell = &mut memory[usize::from(variable)];
            *cell = write.map_or(*cell, u64::from);
            actual[*at] = Some(*cell);
        }
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
        for step in ways.told(0, &nothing, &explain).unwrap().steps {
            if let (Some(told), Some(actual)) = (step.value, actual[step.index as usize]) {
                prop_assert_eq!(told, actual, "step {}", step.index);
            }
        }
    }
}

#[test]
fn a_value_that_was_written_long_before_in_this_order_is_not_told() {
    let mut text = "T0|fork(T1)|a.c:1\nT0|r(x=0)|a.c:2\nT1|w(x=5)|a.c:3\n".to_owned();
    for _ in 0..2000 {
        text.push_str("T1|w(other=1)|a.c:4\n");
    }
    let trace = parse(&text);
    let last_value = |parts: Vec<(ThreadId, u64)>| {
        let mut finding = explained(&trace, |explain| {
            explain.failure(at(1), Rung::Witness, "explore")
        });
        let way = Way {
            then: Then::Parts(parts),
            ..way(1, &[], &[])
        };
        tell(&trace, way, &mut finding);
        finding.interleaving.unwrap().steps.pop().unwrap().value
    };
    let (reader, writer) = (ThreadId(0), ThreadId(1));
    assert_eq!(last_value(vec![(writer, 2001), (reader, 1)]), None);
    assert_eq!(last_value(vec![(writer, 1), (reader, 1)]), Some(5));
    assert_eq!(last_value(vec![(reader, 1)]), Some(0));
}

#[test]
fn what_happens_as_recorded_has_the_recorded_values() {
    // Somebody whom nobody sees has written 7.
    let text = "\
T0|fork(T1)|a.c:1
T0|w(x=5)|a.c:2
T0|r(x=7)|a.c:3
T0|w(y=8)|a.c:4
T1|w(x=1)|a.c:9
";
    let trace = parse(text);
    let mut finding = explained(&trace, |explain| {
        explain.failure(at(3), Rung::Witness, "explore")
    });
    tell(&trace, way(4, &[], &[]), &mut finding);
    let values = |finding: &deadheat_report::Finding| -> Vec<Option<u64>> {
        let steps = &finding.interleaving.as_ref().unwrap().steps;
        steps.iter().map(|step| step.value).collect()
    };
    assert_eq!(values(&finding), [None, Some(5), Some(7), Some(8)]);
    // In another order it is not known whether they write again, and what follows.
    tell(&trace, way(1, &[4, 1, 2, 3], &[]), &mut finding);
    assert_eq!(values(&finding), [None, Some(1), Some(5), Some(5), None]);
}
