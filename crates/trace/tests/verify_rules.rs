//! Every rule of the verifier: a trace that breaks it, and one close by that does not.

use deadheat_trace::verify::{self, Report};
use deadheat_trace::{Op, Steps, text};

fn report(text: &str) -> (Report, Vec<String>) {
    let trace = text::parse(text).unwrap();
    let report = verify::verify(&mut trace.stream()).unwrap();
    let said = report.violations.iter().map(|v| v.describe(&trace.tables));
    let said = said.collect();
    (report, said)
}

#[track_caller]
fn fine(text: &str) {
    let (report, said) = report(text);
    assert_eq!((report.errors, report.warnings), (0, 0), "{said:?}");
}

#[track_caller]
fn broken(text: &str, expected: &[&str]) {
    assert_eq!(report(text).1, expected);
}

#[test]
fn locks_have_one_owner() {
    fine("T0|acq(m)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT0|rel(m)|4\nT1|acq(m)|5\n");
    broken(
        "T0|acq(m)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT1|acq(m)|5\n",
        &["#3 at 5: T1 acquires m, which T0 holds"],
    );
    broken(
        "T0|acq(m)|1\nT1|rel(m)|2\n",
        &["#1 at 2: T1 releases m, which T0 holds"],
    );
    broken(
        "T0|rel(m)|1\n",
        &["#0 at 1: T0 releases m, which nobody holds"],
    );
    // A robust mutex outlives its owner; an initialised lock is free.
    fine("T0|acq(m)|1\nT0|end|2\nT1|acq(m)|3\n");
    fine("T0|acq(m)|1\nT0|init(lock:m)|2\nT1|acq(m)|3\n");
    // Requests take nothing.
    fine("T0|acq(m)|1\nT1|req(m)|2\nT2|rdreq(m)|2\nT0|rel(m)|3\nT1|acq(m)|4\n");
    // Nor do attempts that were refused, perhaps because of somebody whom nobody saw.
    fine("T0|acq(m)|1\nT1|refused(m)|2\nT2|rdrefused(m)|2\nT0|rel(m)|3\nT1|refused(m)|4\n");
}

#[test]
fn locks_have_readers_or_an_owner() {
    fine("T0|rdlock(m)|1\nT1|rdlock(m)|2\nT0|rdunlock(m)|3\nT1|rdunlock(m)|4\nT0|acq(m)|5\n");
    broken(
        "T0|rdlock(m)|1\nT1|acq(m)|2\n",
        &["#1 at 2: T1 acquires m, which T0 holds for reading"],
    );
    broken(
        "T0|acq(m)|1\nT1|rdlock(m)|2\n",
        &["#1 at 2: T1 acquires m for reading, which T0 holds"],
    );
    broken(
        "T0|rdlock(m)|1\nT0|rdunlock(m)|2\nT0|rdunlock(m)|3\n",
        &["#2 at 3: T0 releases m, which it does not hold for reading"],
    );
    broken(
        "T0|rdlock(m)|1\nT0|rel(m)|2\n",
        &["#1 at 2: T0 releases m, which nobody holds"],
    );
}

#[test]
fn threads_have_lives() {
    fine("T0|begin|1\nT0|fork(T1)|2\nT1|begin|3\nT1|end|4\nT0|join(T1)|5\nT0|end|6\n");
    fine("T1|w(x)|1\nT2|w(x)|2\nT0|join(T1)|3\n");
    broken(
        "T1|w(x)|1\nT0|fork(T1)|2\n",
        &["#1 at 2: T0 creates T1, which runs already"],
    );
    broken(
        "T0|fork(T1)|1\nT0|fork(T1)|2\nT1|w(x)|3\n",
        &["#1 at 2: T0 creates T1 a second time"],
    );
    broken(
        "T0|w(x)|1\nT0|begin|2\n",
        &["#1 at 2: T0 begins, but has run before"],
    );
    broken(
        "T0|begin|1\nT0|begin|2\n",
        &["#1 at 2: T0 begins, but has run before"],
    );
    broken(
        "T0|end|1\nT0|w(x)|2\nT0|w(x)|3\n",
        &["#1 at 2: T0 goes on after its end"],
    );
    broken(
        "T1|w(x)|1\nT0|join(T1)|2\nT1|w(x)|3\n",
        &["#2 at 3: T1 goes on after it was joined"],
    );
    broken(
        "T1|begin|1\nT0|join(T1)|2\nT1|w(x)|3\n",
        &["#1 at 2: T0 joins T1, which has not ended"],
    );
}

#[test]
fn threads_that_never_run_are_named_with_what_was_meant() {
    broken(
        "T1|fork(151)|7\nT151|w(x)|8\n",
        &["#0 at 7: T1 creates 151, which never runs; did you mean T151?"],
    );
    broken(
        "T0|fork(T1)|7\nT2|w(x)|8\n",
        &["#0 at 7: T0 creates T1, which never runs"],
    );
    let (report, _) = report("T0|fork(T1)|7\n");
    assert!(report.is_well_formed());
    assert_eq!(report.warnings, 1);
    fine("T0|fork(T1)|7\nT0|lost(3)|-\n");
}

#[test]
fn who_wakes_has_waited() {
    fine("T0|wait(c)|1\nT1|notify(c)|2\nT0|wake(c)|3\nT0|wait(c)|4\nT0|timeout(c)|5\n");
    broken(
        "T0|wait(c)|1\nT0|wake(d)|2\n",
        &["#1 at 2: T0 wakes at d, where it did not wait"],
    );
    broken(
        "T0|wait(c)|1\nT0|wake(c)|2\nT0|timeout(c)|3\n",
        &["#2 at 3: T0 wakes at c, where it did not wait"],
    );
}

#[test]
fn barriers_let_pass_as_many_as_came() {
    let twice = "T0|init(barrier:b=2)|1\nT0|benter(b)|2\nT1|benter(b)|3\nT1|bexit(b)|4\n\
                 T1|benter(b)|5\nT0|bexit(b)|6\nT0|benter(b)|7\nT0|bexit(b)|8\nT1|bexit(b)|9\n";
    fine(twice);
    broken(
        "T0|init(barrier:b=2)|1\nT0|benter(b)|2\nT0|bexit(b)|3\n",
        &["#2 at 3: T0 leaves barrier b before enough have entered"],
    );
    // Three at a barrier of two: two may leave, the third may not.
    broken(
        "T0|init(barrier:b=2)|1\nT0|benter(b)|2\nT1|benter(b)|3\nT2|benter(b)|4\n\
         T2|bexit(b)|5\nT1|bexit(b)|6\nT0|bexit(b)|7\n",
        &["#6 at 7: T0 leaves barrier b before enough have entered"],
    );
    // Without its start nothing is known of the barrier, but of the thread.
    fine("T0|benter(b)|2\nT0|bexit(b)|3\n");
    broken(
        "T0|bexit(b)|3\n",
        &["#0 at 3: T0 leaves barrier b, which it did not enter"],
    );
}

#[test]
fn semaphores_stay_above_zero() {
    fine("T0|init(sem:s=1)|1\nT0|take(s)|2\nT1|post(s)|3\nT0|take(s)|4\n");
    broken(
        "T0|init(sem:s=1)|1\nT0|take(s)|2\nT0|take(s)|4\n",
        &["#2 at 4: T0 lowers semaphore s below zero"],
    );
    fine("T0|take(s)|2\n");
}

#[test]
fn blocks_are_freed_once() {
    fine("T0|alloc(p:8)|1\nT0|free(p)|2\nT0|alloc(p:8)|3\nT0|free(p)|4\n");
    broken(
        "T0|alloc(0x100:8)|1\nT0|free(0x100)|2\nT0|free(0x100)|3\n",
        &["#2 at 3: T0 frees 0x100 a second time"],
    );
    broken(
        "T0|free(0x100)|2\n",
        &["#0 at 2: T0 frees 0x100, which was never allocated"],
    );
    // Use after free is a fault of the program.
    fine("T0|alloc(p:8)|1\nT0|free(p)|2\nT0|w(p=1)|3\n");
}

#[test]
fn functions_are_left_once() {
    fine("T0|enter|1\nT0|enter|2\nT0|leave|3\nT1|enter|4\n");
    broken(
        "T0|enter|1\nT1|leave|2\n",
        &["#1 at 2: T1 leaves a function it did not enter"],
    );
}

#[test]
fn behind_a_gap_nothing_is_known() {
    // Each of these would break a rule without the gap.
    fine("T0|acq(m)|1\nT0|lost(9)|-\nT1|acq(m)|2\nT1|rel(m)|3\n");
    fine("T0|lost(9)|-\nT1|rel(m)|3\n");
    fine("T0|lost(9)|-\nT1|acq(m)|3\nT1|rel(m)|3\nT1|rel(m)|3\n");
    fine("T0|lost(9)|-\nT1|rdunlock(m)|3\n");
    fine("T0|lost(9)|-\nT0|leave|1\nT0|wake(c)|2\nT0|bexit(b)|3\nT0|free(p)|4\n");
    fine("T0|init(sem:s=0)|1\nT0|lost|-\nT0|take(s)|2\n");
    fine("T1|begin|1\nT0|lost|-\nT0|join(T1)|2\n");
    // But what follows the gap is.
    broken(
        "T0|lost(9)|-\nT0|acq(m)|1\nT1|acq(m)|2\n",
        &["#2 at 2: T1 acquires m, which T0 holds"],
    );
    broken(
        "T0|lost(9)|-\nT0|acq(m)|1\nT0|rel(m)|2\nT1|acq(m)|3\nT1|rel(m)|4\nT1|rel(m)|5\n",
        &["#5 at 5: T1 releases m, which nobody holds"],
    );
    broken(
        "T0|lost(9)|-\nT0|free(0x10)|1\nT0|free(0x10)|2\n",
        &["#2 at 2: T0 frees 0x10 a second time"],
    );
    let (report, _) = report("T0|w(x=1)|1\nT0|lost(2)|-\nT0|r(x=2)|2\nT0|r(x=3)|3\n");
    assert_eq!((report.mismatches, report.gaps), (1, 1));
}

#[test]
fn reads_return_what_was_written_byte_by_byte() {
    let text = "T0|w(x:8=0x1122334455667788)|1\n\
                T1|r(x+3:2=0x4455)|2\n\
                T1|w(x+4:1=0)|3\n\
                T0|r(x:4=0x55667788)|4\n\
                T0|r(x=0x1122330055667788)|5\n\
                T0|r(x=0x1122334455667788)|6\n\
                T0|rmw(x:4=0->7,rlx)|7\n\
                T0|ar(x:4=7)|8\n";
    let trace = text::parse(text).unwrap();
    let report = verify::verify(&mut trace.stream()).unwrap();
    let said = report.first_mismatches.iter();
    let said: Vec<String> = said.map(|m| m.describe(&trace.tables)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    #5 at 6: T0 reads 0x1122334455667788 from x, last written 0x1122330055667788
    #6 at 7: T0 reads 0x0 from x, last written 0x55667788
    ");
    assert_eq!(report.values_checked, 6);

    let parallel = format!("#! deadheat-trace 1 parallel\n{text}");
    let trace = text::parse(&parallel).unwrap();
    let report = verify::verify(&mut trace.stream()).unwrap();
    assert_eq!((report.mismatches, report.values_checked), (0, 0));
}

#[test]
fn blocks_and_gaps_and_unknown_writes_are_forgotten() {
    for (between, mismatches) in [
        ("T0|branch|2", 1),
        ("T0|alloc(x:8)|2", 0),
        ("T0|w(x)|2", 0),
        ("T0|w(x:4)|2", 0),
        ("T0|w(x+4:4)|2", 1),
        ("T0|extern(x)|2", 0),
        ("T0|extern(x=2)|2", 0),
        ("T0|lost|2", 0),
    ] {
        let text = format!("T0|w(x=1)|1\n{between}\nT0|r(x=2)|3\n");
        assert_eq!(report(&text).0.mismatches, mismatches, "{between}");
    }
    assert_eq!(
        report("T0|alloc(x:8)|1\nT0|w(x=1)|1\nT0|free(x)|1\nT0|r(x=2)|3\n")
            .0
            .mismatches,
        0
    );
}

#[test]
fn large_accesses_have_the_value_of_their_first_bytes() {
    let found = |second: &str| {
        let text = format!("T0|w(x:16=5)|1\n{second}\n");
        report(&text).0.mismatches
    };
    assert_eq!(found("T0|r(x=5)|2"), 0);
    assert_eq!(found("T0|r(x=6)|2"), 1);
    assert_eq!(found("T0|r(x+8:8=6)|2"), 0);
    assert_eq!(found("T0|r(x:16=6)|2"), 1);
}

#[test]
fn repaired_reads_are_explained() {
    let trace = text::parse("T0|w(x=1)|1\nT1|r(x+2:2=3)|2\nT1|r(x=0x30001)|3\n").unwrap();
    let repaired = verify::repair(trace.stream()).collect_trace().unwrap();
    assert_eq!(repaired.steps.len(), 4);
    let inserted = repaired.steps[1];
    assert_eq!(inserted.event.op(), Op::ExternalWrite);
    assert_eq!(inserted.event.thread(), trace.steps[1].event.thread());
    assert_eq!(inserted.event.pc(), trace.steps[1].event.pc());
    assert_eq!(inserted.event.addr(), trace.steps[1].event.addr());
    assert_eq!((inserted.event.size(), inserted.written()), (2, Some(3)));
    let report = verify::verify(&mut repaired.stream()).unwrap();
    assert_eq!(report.mismatches, 0);
}

#[test]
fn all_are_counted_and_the_first_kept() {
    let frees = (0..300).map(|i| format!("T0|free({:#x})|1\n", 0x1000 + i * 16));
    let text: String = frees.chain(["T0|rel(m)|2\n".to_owned()]).collect();
    let (report, said) = report(&text);
    assert_eq!((report.warnings, report.errors), (300, 1));
    assert_eq!(said.len(), 101);
    assert_eq!(said[100], "#300 at 2: T0 releases m, which nobody holds");
}
