//! What orders what, on small traces: whether the last step knows of the write to `x`.

use super::*;
use deadheat_trace::text;

/// Whether the write to `x` is ordered before the last line of the text.
fn ordered(text: &str) -> bool {
    let trace = text::parse(text).unwrap();
    let mut messages = Messages::<VectorClock>::new();
    let mut written = None;
    for step in &trace.steps {
        let thread = step.event.thread();
        let sent = messages.step(step);
        if step.event.op() == Op::Write {
            written = Some((thread, messages.clock(thread).get(thread)));
        }
        if sent {
            messages.advance(thread);
        }
    }
    let (writer, time) = written.unwrap();
    let last = trace.steps.last().unwrap().event.thread();
    messages.clock(last).get(writer) >= time
}

#[track_caller]
fn check(expected: bool, lines: &str) {
    let text = lines.replace("; ", "|1\n") + "|1\n";
    assert_eq!(ordered(&text), expected, "{lines}");
}

#[test]
fn threads_begin_and_end() {
    check(true, "A|w(x); A|fork(B); B|r(x)");
    check(false, "A|fork(B); A|w(x); B|r(x)");
    check(true, "A|fork(B); B|w(x); B|end; A|join(B); A|r(x)");
    check(true, "A|fork(B); B|w(x); A|join(B); A|r(x)");
    check(false, "A|fork(B); B|w(x); B|end; A|r(x)");
}

#[test]
fn conditions() {
    check(true, "B|wait(c); A|w(x); A|notify(c); B|wake(c)");
    check(true, "C|wait(c); B|wait(c); A|w(x); A|notify(c); B|wake(c)");
    check(false, "B|wait(c); A|w(x); A|notify(c); B|timeout(c)");
    check(false, "A|w(x); A|notify(c); B|wait(c); B|wake(c)");
    check(false, "B|wait(c); A|notify(c); A|w(x); B|wake(c)");
    check(false, "B|wait(c); A|w(x); A|notify(d); B|wake(c)");
}

#[test]
fn barriers() {
    check(true, "B|benter(b); A|w(x); A|benter(b); B|bexit(b)");
    // A is in the next round before B has left the first one.
    check(
        false,
        "A|benter(b); B|benter(b); A|bexit(b); A|w(x); A|benter(b); B|bexit(b)",
    );
    check(
        false,
        "A|init(barrier:b=2); B|benter(b); C|benter(b); A|w(x); A|benter(b); B|bexit(b)",
    );
    check(
        true,
        "A|benter(b); B|benter(b); A|bexit(b); A|w(x); A|benter(b); B|bexit(b); B|benter(b); B|bexit(b)",
    );
}

#[test]
fn semaphores_and_channels() {
    check(true, "A|w(x); A|post(s); C|post(s); B|take(s)");
    check(false, "A|post(s); A|w(x); B|take(s)");
    check(true, "A|w(x); A|send(h); B|recv(h)");
    check(false, "A|w(x); A|send(h); A|destroy(chan:h); B|recv(h)");
    check(false, "A|w(x); A|fwake(f); B|fwoken(f)");
}

#[test]
fn release_and_acquire() {
    check(true, "A|w(x); A|aw(f,rel); B|ar(f,acq)");
    check(true, "A|w(x); A|aw(f); B|ar(f)");
    check(true, "A|w(x); A|aw(f,rel); B|ar(f,con)");
    check(false, "A|w(x); A|aw(f,rlx); B|ar(f,acq)");
    check(false, "A|w(x); A|aw(f,rel); B|ar(f,rlx)");
    check(false, "A|aw(f,rel); A|w(x); B|ar(f,acq)");
    check(true, "A|w(x); A|rmw(f,acqrel); B|rmw(f,acq)");
    check(false, "A|w(x); A|rmw(f,acq); B|rmw(f,acq)");
    check(false, "A|w(x); A|aw(f,rel); B|ar(g,acq)");
}

#[test]
fn release_sequences() {
    check(true, "A|w(x); A|aw(f,rel); C|rmw(f,rlx); B|ar(f,acq)");
    check(false, "A|w(x); A|aw(f,rel); A|aw(f,rlx); B|ar(f,acq)");
    check(false, "A|w(x); A|aw(f,rel); C|aw(f,rlx); B|ar(f,acq)");
    check(false, "A|w(x); A|aw(f,rel); C|aw(f,rel); B|ar(f,acq)");
    check(
        true,
        "A|w(x); A|aw(f,rel); C|rmw(f,rel); A|rmw(f,rlx); B|ar(f,acq)",
    );
    // A plain store ends every sequence, that of its own thread too.
    check(
        false,
        "A|w(x); A|aw(f,rel); C|rmw(f,rel); A|aw(f,rlx); B|ar(f,acq)",
    );
    // Behind a release fence it heads one of its own.
    check(
        true,
        "A|w(x); A|fence(rel); A|aw(f,rel); A|aw(f,rlx); B|ar(f,acq)",
    );
}

#[test]
fn fences() {
    check(true, "A|w(x); A|fence(rel); A|aw(f,rlx); B|ar(f,acq)");
    check(false, "A|fence(rel); A|w(x); A|aw(f,rlx); B|ar(f,acq)");
    check(false, "A|w(x); A|fence(acq); A|aw(f,rlx); B|ar(f,acq)");
    check(true, "A|w(x); A|aw(f,rel); B|ar(f,rlx); B|fence(acq)");
    check(false, "A|w(x); A|aw(f,rel); B|ar(f,rlx); B|fence(rel)");
    check(false, "A|w(x); A|aw(f,rel); B|fence(acq); B|ar(f,rlx)");
    check(
        true,
        "A|w(x); A|fence(seqcst); A|rmw(f,rlx); B|rmw(f,rlx); B|fence(acqrel)",
    );
    check(false, "A|w(x); A|fence(seqcst); B|fence(seqcst)");
    // What C found at f it hands on through g.
    check(
        true,
        "A|w(x); A|aw(f,rel); C|ar(f,rlx); C|fence(acqrel); C|aw(g,rlx); B|ar(g,acq)",
    );
}

#[test]
fn sizes() {
    check(false, "A|w(x); A|aw(f:4,rel); B|ar(f+4:4,acq)");
    check(
        true,
        "A|w(x); A|aw(f:4,rel); C|aw(f+4:4,rlx); B|ar(f:4,acq)",
    );
    check(true, "A|w(x); A|aw(f:4,rel); B|ar(f:8,acq)");
    check(false, "A|w(x); A|aw(f:4,rel); C|aw(f:8,rlx); B|ar(f:4,acq)");
}

#[test]
fn new_memory_and_gaps() {
    check(false, "A|w(x); A|aw(f,rel); A|alloc(f:8); B|ar(f,acq)");
    check(true, "A|w(x); B|lost; B|r(y)");
    check(false, "A|r(y); B|lost; A|w(x); B|r(y)");
}

#[test]
fn ignored_words() {
    let trace = text::parse("A|aw(f,rel)|1\nB|ar(f,acq)|1\nA|alloc(f:8)|1\nA|aw(f,rel)|1\n");
    let trace = trace.unwrap();
    let mut messages = Messages::<VectorClock>::new();
    messages.ignore_atomics_at(trace.steps[0].event.addr());
    let sent: Vec<bool> = trace.steps.iter().map(|step| messages.step(step)).collect();
    assert_eq!(sent, [false, false, false, true]);
    assert_eq!(messages.clock(ThreadId(1)).times(), [0, 1]);
}
