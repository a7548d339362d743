//! What is suggested, and that nothing is where one event speaks against it.

mod support;

use deadheat_report::Rung;
use proptest::prelude::*;
use support::{deadlock, marked, race, tell, way};

/// What is suggested about the race or the deadlock of the marked lines.
fn suggested(text: &str) -> Option<String> {
    let (trace, sides) = marked(text);
    let is_race = trace.steps[sides[0].0 as usize].event.op().is_access();
    let mut finding = match is_race {
        true => race(&trace, [sides[0], sides[1]], Rung::Witness),
        false => deadlock(&trace, &sides, Rung::Witness),
    };
    tell(&trace, way(0, &[], &sides), &mut finding);
    finding.suggestion
}

const BALANCE: &str = "\
T0|w(balance=0)|bank.c:3
T0|fork(T1)|bank.c:4
T0|fork(T2)|bank.c:5
T1|acq(m)|bank.c:30
T1|r(balance)|bank.c:31
T1|w(balance)|bank.c:31 <1>
T1|rel(m)|bank.c:32
T2|acq(other)|bank.c:20
T2|acq(m)|bank.c:20
T2|r(balance)|bank.c:21
T2|rel(m)|bank.c:22
T2|rel(other)|bank.c:22
T2|r(balance)|bank.c:41
T2|w(balance)|bank.c:41 <2>
T1|end|bank.c:6
T2|end|bank.c:6
T0|join(T1)|bank.c:7
T0|join(T2)|bank.c:8
T0|r(balance)|bank.c:9
";

#[test]
fn the_lock_that_all_others_hold() {
    assert_eq!(
        suggested(BALANCE).unwrap(),
        "every other access to `balance` holds `m`: take it here, too (bank.c:41)"
    );
}

#[test]
fn one_access_without_it_speaks_against_it() {
    let also = BALANCE.replace(
        "T2|rel(other)|bank.c:22\n",
        "T2|rel(other)|bank.c:22\nT2|r(balance)|bank.c:23\n",
    );
    assert_eq!(suggested(&also), None);
    // Held for reading it does not keep other readers from reading: a write needs more.
    let read = BALANCE
        .replace("T1|acq(m)", "T1|rdlock(m)")
        .replace("T1|rel(m)", "T1|rdunlock(m)");
    assert_eq!(suggested(&read), None);
}

#[test]
fn what_one_thread_does_alone_needs_no_lock_but_only_then() {
    let early = BALANCE
        .replace("T0|join(T2)|bank.c:8\n", "")
        .replace("T2|end|bank.c:6\n", "");
    assert_eq!(
        suggested(&early),
        None,
        "T2 may still be running when T0 reads"
    );
}

#[test]
fn a_block_is_another_once_it_was_handed_out_again() {
    let text = "\
T0|fork(T1)|h.c:1
T0|alloc(block:16)|h.c:2
T0|w(block:8=1)|h.c:3
T0|free(block)|h.c:4
T0|alloc(block:16)|h.c:5
T0|acq(m)|h.c:6
T0|w(block:8=1)|h.c:7 <1>
T0|rel(m)|h.c:8
T1|w(block:8=2)|h.c:9 <2>
";
    // A variable of a text trace is not known to be a block, so the first life counts.
    assert_eq!(suggested(text), None);
    let heap = text.replace("block", "0x100000");
    assert_eq!(
        suggested(&heap).unwrap(),
        "every other access to `a heap block of 16 bytes` holds `m`: take it here, too (h.c:9)"
    );
}

#[test]
fn different_locks_are_said() {
    let text = "\
T0|fork(T1)|l.c:1
T0|acq(a)|l.c:2
T0|w(x=1)|l.c:3 <1>
T0|rel(a)|l.c:4
T1|acq(b)|l.c:12
T1|w(x=2)|l.c:13 <2>
";
    assert_eq!(
        suggested(text).unwrap(),
        "the two accesses hold different locks, `a` (l.c:2) and `b` (l.c:12): hold the same one wherever `x` is used"
    );
    assert_eq!(
        suggested(&text.replace("T1|acq(b)|l.c:12\n", "")).unwrap(),
        "every other access to `x` holds `a`: take it here, too (l.c:13)"
    );
    let none = text
        .replace("T1|acq(b)|l.c:12\n", "")
        .replace("T0|acq(a)|l.c:2\n", "")
        .replace("T0|rel(a)|l.c:4\n", "");
    assert_eq!(suggested(&none), None, "no lock is known");
}

const OPPOSITE: &str = "\
T0|fork(T1)|d.c:1
T0|acq(a)|d.c:10
T0|acq(b)|d.c:11 <1>
T0|rel(b)|d.c:12
T0|rel(a)|d.c:12
T1|acq(b)|d.c:20
T1|acq(a)|d.c:21 <2>
T1|rel(a)|d.c:22
T1|rel(b)|d.c:22
T1|acq(a)|d.c:30
T1|acq(b)|d.c:31
";

#[test]
fn locks_in_opposite_orders_are_taken_in_the_usual_one() {
    assert_eq!(
        suggested(OPPOSITE).unwrap(),
        "take `a` before `b` in both: T0 does (d.c:11), T1 takes `b` first (d.c:20)"
    );
}

#[test]
fn orders_that_are_both_usual_suggest_nothing() {
    let more = format!(
        "{OPPOSITE}T1|rel(b)|d.c:32\nT1|rel(a)|d.c:32\nT1|acq(b)|d.c:40\nT1|acq(a)|d.c:41\n"
    );
    assert_eq!(suggested(&more), None);
}

#[test]
fn three_locks_have_one_order() {
    let text = "\
T0|fork(T1)|d.c:1
T0|fork(T2)|d.c:1
T0|acq(a)|d.c:10
T0|acq(b)|d.c:11 <1>
T0|rel(b)|d.c:12
T0|rel(a)|d.c:12
T1|acq(b)|d.c:20
T1|acq(c)|d.c:21 <2>
T1|rel(c)|d.c:22
T1|rel(b)|d.c:22
T2|acq(c)|d.c:30
T2|acq(a)|d.c:31 <3>
";
    assert_eq!(
        suggested(text).unwrap(),
        "take `a`, `b`, `c` in this order everywhere: T2 takes `c` before `a` (d.c:30)"
    );
    // A wait for something else has no order.
    assert_eq!(
        suggested(&text.replace("T2|acq(a)|d.c:31", "T2|wait(q)|d.c:31")),
        None
    );
}

/// What a step of a random trace does: takes or gives back a lock, or accesses the variable at a line.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Toggle(usize),
    Access { writes: bool, line: u32 },
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        1 => (0usize..2).prop_map(Deed::Toggle),
        1 => (any::<bool>(), 0u32..5).prop_map(|(writes, line)| Deed::Access { writes, line }),
    ]
}

proptest! {
    /// Whenever a lock is suggested, all accesses on other lines hold it.
    #[test]
    fn what_is_said_of_all_accesses_is_true(deeds in proptest::collection::vec((0usize..3, deed()), 2..14)) {
        const LOCKS: [&str; 2] = ["m", "n"];
        let mut text = "T0|fork(T1)|f.c:90\nT0|fork(T2)|f.c:91\n".to_owned();
        let mut held = [[false; 2]; 3];
        let mut accesses: Vec<(usize, bool, u32, [bool; 2])> = Vec::new();
        let mut lines: Vec<String> = Vec::new();
        let mut of_accesses: Vec<usize> = Vec::new();
        for (thread, deed) in &deeds {
            lines.push(match deed {
                Deed::Toggle(lock) => {
                    let is_held = &mut held[*thread][*lock];
                    *is_held = !*is_held;
                    let op = if *is_held { "acq" } else { "rel" };
                    format!("T{thread}|{op}({})|f.c:80", LOCKS[*lock])
                }
                Deed::Access { writes, line } => {
                    of_accesses.push(lines.len());
                    accesses.push((*thread, *writes, *line, held[*thread]));
                    let op = if *writes { "w" } else { "r" };
                    format!("T{thread}|{op}(x)|f.c:{line}")
                }
            });
        }
        // The last two accesses that conflict.
        let conflict = |a: usize, b: usize| {
            let (one, other) = (accesses[a], accesses[b]);
            one.0 != other.0 && (one.1 || other.1)
        };
        let mut pairs = (0..accesses.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let Some((a, b)) = pairs.rfind(|(a, b)| conflict(*a, *b)) else {
            return Ok(());
        };
        lines[of_accesses[a]].push_str(" <1>");
        lines[of_accesses[b]].push_str(" <2>");
        text.push_str(&lines.join("\n"));
        let Some(told) = suggested(&text) else {
            return Ok(());
        };
        let Some((_, behind)) = told.split_once("holds `") else {
            let (one, other) = (accesses[a].3, accesses[b].3);
            prop_assert!(told.contains("different locks"), "{}", told);
            prop_assert!((0..2).all(|lock| !(one[lock] && other[lock])));
            prop_assert!(one.contains(&true) && other.contains(&true));
            return Ok(());
        };
        let lock = LOCKS.iter().position(|lock| behind.starts_with(lock)).unwrap();
        let without: Vec<u32> =
            [a, b].iter().filter(|side| !accesses[**side].3[lock]).map(|side| accesses[*side].2).collect();
        prop_assert!(!without.is_empty(), "both hold it: {}", told);
        for (_, _, line, held) in &accesses {
            prop_assert!(held[lock] || without.contains(line), "{}\n{}", told, text);
        }
    }
}
