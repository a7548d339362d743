//! Statistics and JSON lines, as people and scripts see them.

use deadheat_trace::{json, stats, text};

const TRACE: &str = "\
#! thread T0 name=main
T0|begin|main.c:1
T0|init(barrier:b=2)|main.c:2
T0|fork(worker)|main.c:3
worker|begin|work.c:1
T0|acq(m)|main.c:4
T0|acq(m)|main.c:4
T0|rdlock(n)|main.c:5
T0|w(x=5)|main.c:6
T0|r(y+4:4=-1)|main.c:7
worker|r(x)|work.c:2
worker|r(y:2)|work.c:3
worker|rmw(flag:4=0->1,acqrel)|work.c:4
worker|fence(seqcst)|work.c:5
T0|ar(flag:4=1,acq)|main.c:8
T0|rdunlock(n)|main.c:9
T0|rel(m)|main.c:10
T0|rel(m)|main.c:10
T0|alloc(0x1000:64)|main.c:11
T0|w(0x1004:8=0x123456789abcdef)|main.c:12
T0|free(0x1000)|main.c:13
T0|benter(b)|main.c:14
T0|extern(0x1004:8)|-
T0|enter|main.c:15
T0|enter(0x40)|main.c:15
worker|lost(1234567)|-
worker|lost|-
T0|join(worker)|main.c:16
";

#[test]
fn statistics_for_people() {
    let trace = text::parse(TRACE).unwrap();
    let stats = stats::of(&mut trace.stream()).unwrap();
    insta::assert_snapshot!(stats, @r"
    mode       serial
    steps      27
    threads    2
    locks      2 (at most 2 held at once)
    objects    1
    locations  22
    memory     5 words, 3 of several threads, 2 of those written
    values     in 5 accesses
    lost       1 234 567 events

    operation       steps
    read                3
    write               2
    atomic_read         1
    atomic_rmw          1
    fence               1
    acquire             2
    release             2
    read_acquire        1
    read_release        1
    fork                1
    begin               2
    join                1
    barrier_enter       1
    init                1
    alloc               1
    free                1
    enter               2
    external_write      1
    lost                2

    thread  steps  reads  writes  atomics  syncs  locks held
    main       20      1       2        1     11           2
    worker      7      2       0        2      1           0
    ");
}

#[test]
fn a_lock_taken_twice_is_held_until_given_back_twice() {
    let held = |text: &str| {
        let trace = text::parse(text).unwrap();
        stats::of(&mut trace.stream()).unwrap().max_locks_held
    };
    assert_eq!(
        held("T0|acq(m)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT0|acq(n)|4\n"),
        2
    );
    assert_eq!(
        held("T0|acq(m)|1\nT0|rel(m)|3\nT0|acq(n)|4\nT1|acq(m)|5\n"),
        1
    );
}

#[test]
fn statistics_for_scripts() {
    let trace = text::parse("T0|fork(T1)|1\nT0|w(x)|2\nT1|r(x)|3\nT1|acq(m)|4\n").unwrap();
    let stats = stats::of(&mut trace.stream()).unwrap();
    let text = serde_json::to_string_pretty(&stats).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "mode": "serial",
      "steps": 4,
      "by_op": {
        "read": 1,
        "write": 1,
        "acquire": 1,
        "fork": 1
      },
      "threads": [
        {
          "id": 0,
          "name": "T0",
          "steps": 2,
          "reads": 0,
          "writes": 1,
          "atomics": 0,
          "syncs": 1,
          "max_locks_held": 0
        },
        {
          "id": 1,
          "name": "T1",
          "steps": 2,
          "reads": 1,
          "writes": 0,
          "atomics": 0,
          "syncs": 1,
          "max_locks_held": 1
        }
      ],
      "locks": 1,
      "objects": 0,
      "max_locks_held": 1,
      "words": 1,
      "shared_words": 1,
      "shared_written_words": 1,
      "locations": 4,
      "with_values": 0,
      "lost": 0
    }
    "#);
}

#[test]
fn an_empty_trace_has_figures_too() {
    let trace = text::parse("").unwrap();
    let stats = stats::of(&mut trace.stream()).unwrap();
    insta::assert_snapshot!(stats, @r"
    mode       serial
    steps      0
    threads    0
    locks      0 (at most 0 held at once)
    objects    0
    locations  0
    memory     0 words, 0 of several threads, 0 of those written
    values     in 0 accesses

    operation  steps

    thread  steps  reads  writes  atomics  syncs  locks held
    ");
}

#[test]
fn json_lines() {
    let trace = text::parse(TRACE).unwrap();
    let mut out = Vec::new();
    json::write(&mut trace.stream(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
    {"index":0,"thread":0,"thread_name":"main","op":"begin","location":"main.c:1"}
    {"index":1,"thread":0,"thread_name":"main","op":"init","object":"b","object_id":0,"kind":"barrier","count":2,"location":"main.c:2"}
    {"index":2,"thread":0,"thread_name":"main","op":"fork","peer":1,"peer_name":"worker","location":"main.c:3"}
    {"index":3,"thread":1,"thread_name":"worker","op":"begin","location":"work.c:1"}
    {"index":4,"thread":0,"thread_name":"main","op":"acquire","object":"m","object_id":1,"kind":"lock","location":"main.c:4"}
    {"index":5,"thread":0,"thread_name":"main","op":"acquire","object":"m","object_id":1,"kind":"lock","location":"main.c:4"}
    {"index":6,"thread":0,"thread_name":"main","op":"read_acquire","object":"n","object_id":2,"kind":"lock","location":"main.c:5"}
    {"index":7,"thread":0,"thread_name":"main","op":"write","addr":"0x860000000000","variable":"x","size":8,"written":"0x5","location":"main.c:6"}
    {"index":8,"thread":0,"thread_name":"main","op":"read","addr":"0x86000000000c","variable":"y+4","size":4,"read":"0xffffffff","location":"main.c:7"}
    {"index":9,"thread":1,"thread_name":"worker","op":"read","addr":"0x860000000000","variable":"x","size":8,"location":"work.c:2"}
    {"index":10,"thread":1,"thread_name":"worker","op":"read","addr":"0x860000000008","variable":"y","size":2,"location":"work.c:3"}
    {"index":11,"thread":1,"thread_name":"worker","op":"atomic_rmw","addr":"0x860000000010","variable":"flag","size":4,"read":"0x0","written":"0x1","order":"acq_rel","location":"work.c:4"}
    {"index":12,"thread":1,"thread_name":"worker","op":"fence","order":"seq_cst","location":"work.c:5"}
    {"index":13,"thread":0,"thread_name":"main","op":"atomic_read","addr":"0x860000000010","variable":"flag","size":4,"read":"0x1","order":"acquire","location":"main.c:8"}
    {"index":14,"thread":0,"thread_name":"main","op":"read_release","object":"n","object_id":2,"kind":"lock","location":"main.c:9"}
    {"index":15,"thread":0,"thread_name":"main","op":"release","object":"m","object_id":1,"kind":"lock","location":"main.c:10"}
    {"index":16,"thread":0,"thread_name":"main","op":"release","object":"m","object_id":1,"kind":"lock","location":"main.c:10"}
    {"index":17,"thread":0,"thread_name":"main","op":"alloc","addr":"0x1000","size":64,"location":"main.c:11"}
    {"index":18,"thread":0,"thread_name":"main","op":"write","addr":"0x1004","size":8,"written":"0x123456789abcdef","location":"main.c:12"}
    {"index":19,"thread":0,"thread_name":"main","op":"free","addr":"0x1000","location":"main.c:13"}
    {"index":20,"thread":0,"thread_name":"main","op":"barrier_enter","object":"b","object_id":0,"kind":"barrier","location":"main.c:14"}
    {"index":21,"thread":0,"thread_name":"main","op":"external_write","addr":"0x1004","size":8,"location":"-"}
    {"index":22,"thread":0,"thread_name":"main","op":"enter","location":"main.c:15"}
    {"index":23,"thread":0,"thread_name":"main","op":"enter","target":"0x40","location":"main.c:15"}
    {"index":24,"thread":1,"thread_name":"worker","op":"lost","count":1234567,"location":"-"}
    {"index":25,"thread":1,"thread_name":"worker","op":"lost","location":"-"}
    {"index":26,"thread":0,"thread_name":"main","op":"join","peer":1,"peer_name":"worker","location":"main.c:16"}
    "#);
}
