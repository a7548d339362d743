use deadheat_trace::text;

use super::*;

fn suspects(listing: &str) -> (Suspects, Vec<Step>) {
    let trace = text::parse(listing).unwrap();
    let mut suspects = Suspects::default();
    trace.steps.iter().for_each(|step| suspects.step(step));
    (suspects, trace.steps)
}

fn is_suspicious(listing: &str) -> bool {
    let (suspects, steps) = suspects(listing);
    assert_eq!(
        suspects.is_empty(),
        !steps.iter().any(|step| {
            let is_access = matches!(step.event.op(), Op::Read | Op::Write);
            is_access && suspects.may_race(&step.event)
        })
    );
    !suspects.is_empty()
}

const FORKED: &str = "A|w(x)|1\nA|fork(B)|2\nB|begin|3\nB|w(x)|4\n";

#[test]
fn creation_and_join_order() {
    assert!(!is_suspicious(FORKED));
    assert!(is_suspicious(&format!("{FORKED}A|r(x)|5\n")));
    assert!(!is_suspicious(&format!(
        "{FORKED}B|end|5\nA|join(B)|6\nA|w(x)|7\n"
    )));
    // What happened between creation and join is not ordered by either.
    assert!(is_suspicious(
        "A|fork(B)|1\nA|w(x)|2\nB|begin|3\nB|w(x)|4\nB|end|5\nA|join(B)|6\n"
    ));
    let (suspects, _) = suspects(FORKED);
    assert!(!suspects.has_unordered() && !suspects.has_synchronisation());
}

#[test]
fn a_lock_keeps_apart_unless_both_read() {
    let with = |one: &str, other: &str| {
        is_suspicious(&format!(
            "A|{one}(m)|1\nA|w(x)|2\nA|rel(m)|3\nB|{other}(m)|4\nB|w(x)|5\nB|rel(m)|6\n"
        ))
    };
    assert!(!with("acq", "acq"));
    let both_read =
        "A|rdlock(m)|1\nA|w(x)|2\nA|rdunlock(m)|3\nB|rdlock(m)|4\nB|w(x)|5\nB|rdunlock(m)|6\n";
    assert!(is_suspicious(both_read));
    assert!(is_suspicious(
        "A|acq(m)|1\nA|w(x)|2\nA|rel(m)|3\nB|acq(n)|4\nB|w(x)|5\nB|rel(n)|6\n"
    ));
    let (suspects, _) =
        suspects("A|acq(m)|1\nA|w(x)|2\nA|rel(m)|3\nB|acq(m)|4\nB|w(x)|5\nB|rel(m)|6\n");
    assert!(suspects.has_unordered() && suspects.has_synchronisation());
}

#[test]
fn an_access_with_fewer_locks_is_not_forgotten() {
    // The second access of A has more locks than the first, and does not stand for it.
    assert!(is_suspicious(
        "A|w(x)|1\nA|acq(m)|2\nA|w(x)|3\nA|rel(m)|4\nB|acq(m)|5\nB|w(x)|6\nB|rel(m)|7\n"
    ));
}

#[test]
fn what_is_not_understood_is_suspicious() {
    let (suspects, steps) = suspects("A|acq(m)|1\nB|rel(m)|2\nA|w(x)|3\n");
    assert!(steps.iter().all(|step| suspects.may_race(&step.event)));
    assert!(!suspects.is_empty() && suspects.has_unordered());
}

#[test]
fn releasing_a_block_is_a_write_and_a_new_one_has_no_history() {
    let used = "A|alloc(x:8)|1\nA|w(x)|2\n";
    assert!(is_suspicious(&format!("{used}B|free(x)|3\n")));
    assert!(!is_suspicious(&format!(
        "{used}A|free(x)|3\nB|alloc(x:8)|4\nB|w(x)|5\n"
    )));
}

#[test]
fn barriers_order_what_comes_before_and_behind_them() {
    let listing = |count: u32| {
        format!(
            "A|init(barrier:b={count})|1\nA|fork(B)|2\nA|w(x)|3\nA|benter(b)|4\nB|benter(b)|5\nB|bexit(b)|6\nB|w(x)|7\nA|bexit(b)|8\n"
        )
    };
    assert!(!is_suspicious(&listing(2)));
    assert!(is_suspicious(
        &listing(2).replace("B|bexit(b)|6\nB|w(x)|7", "B|w(x)|6\nB|bexit(b)|7")
    ));
    // Rounds may be others: nothing is known.
    assert!(is_suspicious(&listing(1)));
}

/// Where there is no room for words, whole pages are looked at: nothing that is a suspect is none there.
#[test]
fn without_room_there_are_more_suspects() {
    let listing = "A|fork(B)|1\nA|w(0x1000:8)|2\nA|w(0x1008:8)|3\nB|r(0x1008:8)|4\nB|w(0x1010:8)|5\nA|w(0x3000:8)|6\n\
                   A|alloc(0x5000:64)|7\nA|w(0x5000:8)|8\nB|w(0x5010:8)|9\n";
    let trace = text::parse(listing).unwrap();
    let (exact, _) = suspects(listing);
    let mut coarse = Suspects::within(0);
    trace.steps.iter().for_each(|step| coarse.step(step));
    let of = |suspects: &Suspects| -> Vec<bool> {
        let steps = trace.steps.iter();
        steps.map(|step| suspects.may_race(&step.event)).collect()
    };
    let (t, f) = (true, false);
    assert_eq!(of(&exact), [t, f, t, t, f, f, t, f, f]);
    assert_eq!(of(&coarse), [t, t, t, t, t, f, t, t, t]);
}
