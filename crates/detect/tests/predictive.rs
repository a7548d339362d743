//! `wcp`, `cp` and `syncp` against their definitions, against all reorderings, and against weaker
//! methods.

mod oracle;
mod reported;

use std::collections::BTreeSet;

use deadheat_detect::{Cp, Hb, Races, Shb, Signature, SyncP, Wcp};
use deadheat_trace::{Event, Pc, Step, Trace, text};
use oracle::causal::{Lies, Relation};
use oracle::interleave::interleave;
use oracle::random::{Shape, traces};
use oracle::reorder::Reorder;
use proptest::prelude::*;
use reported::{Pairs, pairs, run};

/// Accesses, forks, joins, and locks, which may be held for reading.
const LOCKS: Shape = Shape {
    threads: 3,
    steps: 24,
    variables: 3,
    locks: 3,
    read_locks: true,
    parts: true,
    ..Shape::PLAIN
};

/// Locks that exclude each other, and nothing but them: most of the steps.
const NESTED: Shape = Shape {
    threads: 4,
    steps: 28,
    variables: 2,
    locks: 2,
    ..Shape::PLAIN
};

/// Long enough for orders that come about by other orders.
const LONG: Shape = Shape {
    steps: 60,
    variables: 4,
    locks: 3,
    ..Shape::PLAIN
};

fn seconds(pairs: &Pairs) -> BTreeSet<usize> {
    pairs.iter().map(|pair| pair.1).collect()
}

/// The same trace in a program of two places.
fn with_two_places(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    for (i, step) in trace.steps.iter_mut().enumerate() {
        let event = &step.event;
        let (thread, op, pc) = (event.thread(), event.op(), Pc(i as u32 / 2 % 2));
        let event = match op.is_access() {
            true => Event::access(thread, op, event.addr(), event.size() as u16, pc),
            false => Event::new(thread, op, event.target(), pc),
        };
        *step = Step::new(event);
    }
    trace
}

/// Every access that races is counted, and every pair of places is found.
fn check_places(trace: &Trace, found: &Races, races: &Pairs) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.racy_events() as usize, seconds(races).len());
    let place = |i: usize| trace.steps[i].event.pc();
    let signature = |(i, j): &(usize, usize)| {
        let (a, b) = (place(*i), place(*j));
        Signature(a.min(b), a.max(b))
    };
    let expected: BTreeSet<Signature> = races.iter().map(signature).collect();
    let found = found.found().iter().map(|found| found.race.signature());
    prop_assert_eq!(found.collect::<BTreeSet<_>>(), expected);
    Ok(())
}

/// The first access that races, with those that it races with.
fn first(pairs: &Pairs) -> Pairs {
    let first = seconds(pairs).first().copied();
    let pairs = pairs.iter().copied();
    pairs.filter(|pair| Some(pair.1) == first).collect()
}

/// The reported races are races, and every access that races is reported.
fn check_exact(reported: &Pairs, races: &Pairs) -> Result<(), TestCaseError> {
    prop_assert!(reported.is_subset(races), "{reported:?} {races:?}");
    prop_assert_eq!(seconds(reported), seconds(races));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn wcp_is_its_definition(trace in traces(Shape::EVERYTHING)) {
        let lies = Lies::new(&trace, 0..trace.steps.len(), Relation::Weak);
        check_exact(&pairs(&run(Wcp::new(), &trace)), &lies.races(&trace))?;
    }

    #[test]
    fn wcp_is_its_definition_with_locks_alone(trace in prop_oneof![traces(LOCKS), traces(NESTED)]) {
        let lies = Lies::new(&trace, 0..trace.steps.len(), Relation::Weak);
        check_exact(&pairs(&run(Wcp::new(), &trace)), &lies.races(&trace))?;
    }

    #[test]
    fn cp_is_its_definition(trace in prop_oneof![traces(Shape::EVERYTHING), traces(LOCKS), traces(NESTED)]) {
        let lies = Lies::new(&trace, 0..trace.steps.len(), Relation::Strong);
        check_exact(&pairs(&run(Cp::new(), &trace)), &lies.races(&trace))?;
    }

    #[test]
    fn long_traces(trace in traces(LONG)) {
        let all = 0..trace.steps.len();
        let weak = Lies::new(&trace, all.clone(), Relation::Weak).races(&trace);
        check_exact(&pairs(&run(Wcp::new(), &trace)), &weak)?;
        let strong = Lies::new(&trace, all, Relation::Strong).races(&trace);
        check_exact(&pairs(&run(Cp::new(), &trace)), &strong)?;
    }

    /// Accesses at the same place stand for each other.
    #[test]
    fn few_places(trace in traces(NESTED)) {
        let trace = with_two_places(&trace);
        let all = 0..trace.steps.len();
        let weak = Lies::new(&trace, all.clone(), Relation::Weak).races(&trace);
        check_places(&trace, &run(Wcp::new(), &trace), &weak)?;
        let strong = Lies::new(&trace, all, Relation::Strong).races(&trace);
        check_places(&trace, &run(Cp::new(), &trace), &strong)?;
        check_places(&trace, &run(SyncP::new(), &trace), &interleave(&trace, true).races)?;
    }

    /// Each window by itself; a pair belongs to the first window that has it.
    #[test]
    fn cp_is_its_definition_in_every_window(trace in traces(NESTED), half in 2usize..8) {
        let mut races = Pairs::new();
        let (mut start, mut told) = (0, 0);
        while told < trace.steps.len() {
            let end = (start + 2 * half).min(trace.steps.len());
            let lies = Lies::new(&trace, start..end, Relation::Strong).races(&trace);
            races.extend(lies.into_iter().filter(|pair| pair.1 >= told));
            (start, told) = (start + half, end);
        }
        check_exact(&pairs(&run(Cp::with_window(2 * half), &trace)), &races)?;
    }

    /// All pairs: every step has its own place.
    #[test]
    fn syncp_is_its_definition(trace in prop_oneof![traces(LOCKS), traces(NESTED)]) {
        let races = interleave(&trace, true).races;
        prop_assert_eq!(pairs(&run(SyncP::new(), &trace)), races);
    }

    #[test]
    fn every_syncp_race_is_real(trace in traces(Shape { heap: false, channels: false, ..Shape::EVERYTHING })) {
        let reported = pairs(&run(SyncP::new(), &trace));
        let real = Reorder::new(&trace).real_races();
        prop_assert!(reported.is_subset(&real), "{reported:?} {real:?}");
    }

    #[test]
    fn a_short_history_misses_races_and_adds_none(trace in traces(NESTED)) {
        let all = pairs(&run(SyncP::new(), &trace));
        let races = interleave(&trace, true).races;
        let reported = pairs(&run(SyncP::with_history(1), &trace));
        prop_assert!(reported.is_subset(&races));
        prop_assert!(seconds(&reported).is_subset(&seconds(&all)));
    }

    /// By second accesses: of several partners a method tells those that no other stands for.
    #[test]
    fn methods_are_within_each_other(trace in prop_oneof![traces(Shape::EVERYTHING), traces(NESTED)]) {
        let hb = seconds(&pairs(&run(Hb::new(), &trace)));
        let shb = seconds(&pairs(&run(Shb::new(), &trace)));
        let cp = seconds(&pairs(&run(Cp::new(), &trace)));
        let wcp = seconds(&pairs(&run(Wcp::new(), &trace)));
        let syncp = seconds(&pairs(&run(SyncP::new(), &trace)));
        prop_assert!(hb.is_subset(&cp), "{hb:?} {cp:?}");
        prop_assert!(cp.is_subset(&wcp), "{cp:?} {wcp:?}");
        prop_assert!(shb.is_subset(&syncp), "{shb:?} {syncp:?}");
    }

    #[test]
    fn the_first_wcp_race_is_real_or_there_is_a_deadlock(trace in prop_oneof![traces(LOCKS), traces(NESTED)]) {
        let first = first(&pairs(&run(Wcp::new(), &trace)));
        let shown = interleave(&trace, false);
        prop_assert!(shown.deadlock || first.is_subset(&shown.races), "{first:?} {shown:?}");
    }

    #[test]
    fn the_first_cp_race_is_real_or_there_is_a_deadlock(trace in prop_oneof![traces(LOCKS), traces(NESTED)]) {
        let first = first(&pairs(&run(Cp::new(), &trace)));
        let shown = interleave(&trace, false);
        prop_assert!(shown.deadlock || first.is_subset(&shown.races), "{first:?} {shown:?}");
    }
}

/// Steps as `thread op(target)`, separated by semicolons.
fn trace(steps: &str) -> Trace {
    let line = |(i, step): (usize, &str)| format!("{}|{i}\n", step.trim().replacen(' ', "|", 1));
    let text: String = steps.split(';').enumerate().map(line).collect();
    text::parse(&text).unwrap()
}

/// The end of U's section of `l` is put before the end of T's, because V carries something from the one into
/// the other; whatever sections of `l` there were before.
#[test]
fn an_order_between_sections_orders_their_ends() {
    let rest = "U acq(l); U acq(m); U w(y); U rel(m); V acq(m); V r(y); V rel(m); V acq(n); V rel(n); \
                U w(x); U rel(l); T acq(l); T acq(n); T rel(n); T rel(l); T r(x)";
    let earlier = [
        "",
        "T acq(l); T rel(l); ",
        "U acq(l); U rel(l); ",
        "V acq(l); V rel(l); ",
    ];
    for steps in earlier.map(|earlier| trace(&format!("{earlier}{rest}"))) {
        let lies = Lies::new(&steps, 0..steps.steps.len(), Relation::Weak);
        assert_eq!(lies.races(&steps), Pairs::new());
        assert_eq!(pairs(&run(Wcp::new(), &steps)), Pairs::new());
        assert_eq!(pairs(&run(Cp::new(), &steps)), Pairs::new());
    }
    let without_v = rest.replace("V r(y); ", "");
    let steps = trace(&without_v);
    assert_eq!(pairs(&run(Wcp::new(), &steps)).len(), 1);
    assert_eq!(pairs(&run(Cp::new(), &steps)).len(), 1);
}

/// What a thread sends and receives itself orders nothing.
#[test]
fn messages_to_oneself() {
    for messages in ["T aw(f,rel); T ar(f,acq)", "T post(s); T take(s)"] {
        let steps = trace(&format!(
            "T w(x); {messages}; T acq(l); T rel(l); U acq(l); U w(x); U rel(l)"
        ));
        assert_eq!(pairs(&run(Wcp::new(), &steps)).len(), 1, "{messages}");
        assert_eq!(pairs(&run(Cp::new(), &steps)).len(), 1, "{messages}");
        assert_eq!(pairs(&run(SyncP::new(), &steps)).len(), 1, "{messages}");
    }
}
