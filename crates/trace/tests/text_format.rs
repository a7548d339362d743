//! The text format as people meet it: every operation, every directive, every complaint.

use deadheat_trace::text::{self, Flavor, Written};
use deadheat_trace::{Addr, Mode, Op, SyncKind, ThreadId, Trace};

fn write(trace: &Trace, flavor: Flavor) -> (String, Written) {
    let mut out = Vec::new();
    let written = text::write(&mut trace.stream(), &mut out, flavor).unwrap();
    (String::from_utf8(out).unwrap(), written)
}

/// One of everything, in the form in which it is written.
const EVERYTHING: &str = "\
#! deadheat-trace 1 serial
T0|begin|main.c:1
T0|fork(worker)|main.c:2
worker|begin|work.c:1
T0|w(x=5)|main.c:3:7
T0|r(x=5)|7
T0|w(y:4)|-
T0|r(y+2:1=0)|-
T0|w(z:16=0x123456789)|prog+0x1a2b
T0|r(0x7f001000:4=9999)|prog+0x1a2b
T0|ar(x=1,acq)|8
T0|aw(x=1,rel)|8
T0|rmw(x=1->2,acqrel)|8
T0|rmw(x,con)|8
T0|rmw(x=?->2,seqcst)|8
T0|rmw(x=2->?,rlx)|8
T0|fence(seqcst)|8
T0|init(lock:m)|9
T0|acq(m)|9
T0|rel(m)|9
T0|rdlock(m)|9
T0|rdunlock(m)|9
T0|req(m)|9
T0|rdreq(m)|9
T0|refused(m)|9
T0|rdrefused(m)|9
T0|wait(c)|10
T0|wake(c)|10
T0|timeout(c)|10
T0|notify(c)|10
T0|notifyall(c)|10
T0|wakereq(c)|10
T0|init(barrier:b=3)|11
T0|benter(b)|11
T0|bexit(b)|11
T0|init(sem:s=0)|12
T0|post(s)|12
T0|take(s)|12
T0|takerefused(s)|12
T0|takereq(s)|12
T0|send(h)|13
T0|recv(h)|13
T0|receiverefused(h)|13
T0|fwait(f)|14
T0|fwoken(f)|14
T0|fwake(f=2)|14
T0|destroy(cond:c)|15
T0|alloc(p:64)|16
T0|w(p+60:4=1)|16
T0|free(p)|16
T0|alloc(0x1000)|16
T0|free(0x1000)|16
T0|enter|17
T0|leave|17
T0|branch|17
T0|extern(x=7)|18
T0|lost(3)|-
T0|lost|-
T0|joinreq(worker)|main.c:20
worker|end|work.c:9
T0|join(worker)|main.c:20
T0|exit|main.c:20
T0|end|main.c:21
";

#[test]
fn everything_goes_round() {
    let trace = text::parse(EVERYTHING).unwrap();
    let ops: std::collections::BTreeSet<Op> = trace.steps.iter().map(|s| s.event.op()).collect();
    assert_eq!(ops.len(), Op::ALL.len());
    assert_eq!(write(&trace, Flavor::Full).0, EVERYTHING);
}

#[test]
fn everything_as_std() {
    let trace = text::parse(EVERYTHING).unwrap();
    let (std, written) = write(&trace, Flavor::Std);
    text::parse_std(&std).unwrap();
    insta::assert_snapshot!(std, @r"
    T0|begin|1
    T0|fork(worker)|2
    worker|begin|3
    T0|w(x)|4
    T0|r(x)|7
    T0|w(y)|5
    T0|r(y+2)|5
    T0|w(z)|6
    T0|r(0x7f001000)|6
    T0|acq(atomic@x)|8
    T0|r(x)|8
    T0|rel(atomic@x)|8
    T0|acq(atomic@x)|8
    T0|w(x)|8
    T0|rel(atomic@x)|8
    T0|acq(atomic@x)|8
    T0|r(x)|8
    T0|w(x)|8
    T0|rel(atomic@x)|8
    T0|acq(atomic@x)|8
    T0|r(x)|8
    T0|w(x)|8
    T0|rel(atomic@x)|8
    T0|acq(atomic@x)|8
    T0|r(x)|8
    T0|w(x)|8
    T0|rel(atomic@x)|8
    T0|acq(atomic@x)|8
    T0|r(x)|8
    T0|w(x)|8
    T0|rel(atomic@x)|8
    T0|acq(m)|9
    T0|rel(m)|9
    T0|acq(m)|9
    T0|rel(m)|9
    T0|acq(m)|9
    T0|rel(m)|9
    T0|acq(barrier@b)|11
    T0|rel(barrier@b)|11
    T0|acq(barrier@b)|11
    T0|rel(barrier@b)|11
    T0|acq(sem@s)|12
    T0|rel(sem@s)|12
    T0|acq(sem@s)|12
    T0|rel(sem@s)|12
    T0|acq(chan@h)|13
    T0|rel(chan@h)|13
    T0|acq(chan@h)|13
    T0|rel(chan@h)|13
    T0|w(p+60)|16
    worker|end|10
    T0|join(worker)|14
    T0|end|15
    T0|acq(lossy@barriers_channels_conditions_external-writes_failed-attempts_futexes_gaps_read-locks_semaphores)|15
    T0|rel(lossy@barriers_channels_conditions_external-writes_failed-attempts_futexes_gaps_read-locks_semaphores)|15
    ");
    let counts = |counts: &std::collections::BTreeMap<Op, u64>| {
        let counts = counts.iter().map(|(op, n)| format!("{op:?} {n}"));
        counts.collect::<Vec<_>>().join(", ")
    };
    insta::assert_snapshot!(counts(&written.translated), @"AtomicRead 1, AtomicWrite 1, AtomicRmw 4, ReadAcquire 1, ReadRelease 1, BarrierEnter 1, BarrierExit 1, Post 1, Take 1, Send 1, Receive 1");
    insta::assert_snapshot!(counts(&written.dropped), @"Fence 1, Request 1, ReadRequest 1, Wait 1, Wake 1, Timeout 1, Notify 1, NotifyAll 1, FutexWait 1, FutexWoken 1, FutexWake 1, Init 3, Destroy 1, Alloc 2, Free 2, Enter 1, Leave 1, Branch 1, ExternalWrite 1, Lost 2, Refused 1, ReadRefused 1, TakeRefused 1, JoinRequest 1, TakeRequest 1, WakeRequest 1, Exit 1, ReceiveRefused 1");
    insta::assert_snapshot!(format!("{:?}", written.locations), @r#"[(1, "main.c:1"), (2, "main.c:2"), (3, "work.c:1"), (4, "main.c:3:7"), (5, "-"), (6, "prog+0x1a2b"), (10, "work.c:9"), (14, "main.c:20"), (15, "main.c:21")]"#);
}

#[test]
fn the_next_block_at_an_address_is_another_variable_in_std() {
    let text = "T0|w(0x1008:4)|1\nT0|alloc(0x1000:16)|2\nT0|w(0x1008:4)|3\nT0|free(0x1000)|4\n\
                T1|alloc(0x1004:64)|5\nT1|w(0x1008:4)|6\nT1|w(0x1000:4)|7\n";
    let trace = text::parse(text).unwrap();
    insta::assert_snapshot!(write(&trace, Flavor::Std).0, @r"
    T0|w(0x1008)|1
    T0|w(heap1+8)|3
    T1|w(heap2+4)|6
    T1|w(0x1000)|7
    ");
}

#[test]
fn locations_that_are_numbers_keep_them_in_std_where_they_can() {
    let trace = text::parse("T0|w(x)|2\nT0|w(x)|a.c:1\nT0|w(x)|b.c:2\nT0|w(x)|1\n").unwrap();
    let (std, written) = write(&trace, Flavor::Std);
    assert_eq!(std, "T0|w(x)|2\nT0|w(x)|1\nT0|w(x)|3\nT0|w(x)|4\n");
    let named = [(1, "a.c:1"), (3, "b.c:2"), (4, "1")];
    let named = named.map(|(number, text)| (number, text.to_owned()));
    assert_eq!(written.locations, named);
}

#[test]
fn hand_written_text_is_laid_out_freely() {
    let trace = text::parse(
        "\u{feff}\n  # a comment\r\n\n\t#! deadheat-trace 1 parallel \r\n\
         #! thread T1 name=\"a b\" parent=main at=\"my file.c:3\"\n\
         main | fork(T1) |\n  T1 | w( x=1)|7",
    );
    assert_eq!(
        trace.unwrap_err().to_string(),
        "line 7, column 10: expected a variable or an address, found ` x=1`"
    );
    let trace = text::parse(
        "\u{feff}\n  # a comment\r\n\n\t#! deadheat-trace 1 parallel \r\n\
         #! thread T1 name=\"a b\" parent=main at=\"my file.c:3\"\n\
         main | fork(T1) |\n  T1 | w(ns::x=-1)|+07\n\
         #! note \"the end\"\n#! thread T1 unnamed",
    )
    .unwrap();
    assert_eq!(trace.mode, Mode::Parallel);
    assert_eq!(trace.tables.thread_name(ThreadId(0)), "T0");
    assert_eq!(trace.tables.thread_name(ThreadId(1)), "main");
    assert_eq!(trace.tables.threads[0].parent, None);
    assert_eq!(trace.tables.locations, ["my file.c:3", "-", "7"]);
    assert_eq!(trace.tables.notes, ["the end"]);
    assert_eq!(trace.steps[1].written(), Some(u64::MAX));
}

#[test]
fn forks_tell_who_created_a_thread_and_where() {
    let trace = text::parse("T0|fork(T1)|a.c:1\nT1|fork(T0)|a.c:2\nT2|w(x)|3\n").unwrap();
    let threads = &trace.tables.threads;
    assert_eq!(threads[1].parent, Some(ThreadId(0)));
    assert_eq!(threads[1].created_at, Some(trace.steps[0].event.pc()));
    assert_eq!((threads[0].parent, threads[2].parent), (None, None));
}

#[test]
fn names_live_in_namespaces_of_their_own() {
    let trace = text::parse("x|acq(x)|1\nx|w(x)|1\nx|notify(x)|1\nx|rel(x)|1\n").unwrap();
    assert_eq!(trace.tables.threads.len(), 1);
    let kinds: Vec<SyncKind> = trace.tables.syncs.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [SyncKind::Lock, SyncKind::Condition]);
    assert_eq!(trace.tables.variables.len(), 1);
}

#[test]
fn variables_have_cells_of_their_own() {
    let trace = text::parse(
        "#! variable big 100\nT0|w(a)|1\nT0|w(big+99:1)|1\nT0|w(b:1)|1\nT0|w(c:9)|1\nT0|w(c+15:1)|1\n",
    )
    .unwrap();
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for step in &trace.steps {
        let (name, offset) = trace.tables.variable_at(step.event.addr()).unwrap();
        assert!(["a", "big", "b", "c"].contains(&name));
        spans.push((step.event.addr().0 - offset, offset));
    }
    assert_eq!(spans[3].0, spans[4].0);
    assert!(spans[0].0 + 8 <= spans[2].0);
    assert!(spans.iter().all(|(base, _)| *base >= 1 << 47));
}

#[test]
fn strange_names_are_quoted_and_come_back() {
    let text = "T0|acq(a=b)|1\nT0|rdlock(\"a=b\")|1\nT0|w(\"0x10\"=1)|2\nT0|w(\"a b|c\":4=1)|2\n";
    let text = text.replace("b|c", "b\\u{7c}c");
    let trace = text::parse(&text).unwrap();
    assert_eq!(trace.tables.syncs.len(), 1);
    let names: Vec<&String> = trace.tables.variables.values().collect();
    assert_eq!(names, ["0x10", "a b|c"]);
    let (written, _) = write(&trace, Flavor::Full);
    assert_eq!(text::parse(&written).unwrap(), trace);
    insta::assert_snapshot!(written, @r#"
    #! deadheat-trace 1 serial
    T0|acq("a=b")|1
    T0|rdlock("a=b")|1
    T0|w("0x10"=1)|2
    T0|w("a b\u{7c}c":4=1)|2
    "#);
}

#[test]
fn what_text_cannot_show_by_itself_is_said_by_directives() {
    let mut trace = text::parse("T0|fork(T1)|1\nT1|acq(m)|2\nT2|rel(m)|3\n").unwrap();
    trace.tables.threads[1].name = Some("a worker".into());
    trace.tables.threads[2].name = Some("T1".into());
    trace.tables.threads[2].parent = Some(ThreadId(1));
    trace.tables.syncs[0].addr = Addr(0x4040);
    trace.tables.syncs[0].name = None;
    trace.tables.notes.push("killed \"-9\"".into());
    let (written, _) = write(&trace, Flavor::Full);
    insta::assert_snapshot!(written, @r#"
    #! deadheat-trace 1 serial
    #! note "killed \"-9\""
    #! thread T0
    #! thread T1 name="a worker" parent=T0 at=1
    T0|fork(T1)|1
    #! lock L0 addr=0x4040
    T1|acq(L0)|2
    #! thread T2 name="T1" parent=T1
    T2|rel(L0)|3
    "#);
    assert_eq!(text::parse(&written).unwrap(), trace);
}
