//! Findings of small text traces, as commands make them.

#![allow(dead_code, reason = "every test uses a part of it")]

use deadheat_report::{
    Contexts, Explain, Finding, Interleaving, Names, Rung, Suggestions, Then, Way, Ways,
};
use deadheat_trace::{EventIndex, LockId, Trace, text as trace_text};

pub fn parse(text: &str) -> Trace {
    trace_text::parse(text).unwrap()
}

pub fn at(index: u64) -> EventIndex {
    EventIndex(index)
}

/// The numbers of the first lines that have these marks (`<1>`, `<2>`, ...) behind them; the marks are taken out.
pub fn marked(text: &str) -> (Trace, Vec<EventIndex>) {
    let mut sides: Vec<(char, EventIndex)> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = match line.split_once(" <") {
            Some((line, mark)) => {
                let mark = mark.chars().next().unwrap();
                sides.push((mark, at(lines.len() as u64)));
                line
            }
            None => line,
        };
        lines.push(line);
    }
    sides.sort();
    let sides = sides.into_iter().map(|(_, index)| index).collect();
    (parse(&lines.join("\n")), sides)
}

pub fn explained(trace: &Trace, ask: impl Fn(&Explain) -> Option<Finding>) -> Finding {
    let mut contexts = Contexts::of((0..trace.steps.len() as u64).map(EventIndex));
    for (i, step) in trace.steps.iter().enumerate() {
        contexts.step(at(i as u64), step);
    }
    let explain = Explain {
        names: &Names::of(&trace.tables),
        tables: &trace.tables,
        contexts: &contexts,
    };
    ask(&explain).unwrap()
}

pub fn race(trace: &Trace, pair: [EventIndex; 2], rung: Rung) -> Finding {
    explained(trace, |explain| explain.race(pair, rung, "maximal"))
}

pub fn deadlock(trace: &Trace, sides: &[EventIndex], rung: Rung) -> Finding {
    let lock = |index: &EventIndex| (*index, trace.steps[index.0 as usize].event.lock());
    let requests: Vec<(EventIndex, LockId)> = sides.iter().map(lock).collect();
    explained(trace, |explain| {
        explain.deadlock(&requests, rung, "maximal")
    })
}

/// Tells how a finding comes about, and what to change.
pub fn tell(trace: &Trace, way: Way, finding: &mut Finding) {
    let mut ways = Ways::new([way]);
    let mut suggestions = Suggestions::of([(0, &*finding)]);
    for (i, step) in trace.steps.iter().enumerate() {
        suggestions.step(at(i as u64), step, ways.contexts());
        ways.step(at(i as u64), step);
    }
    let explain = Explain {
        names: &Names::of(&trace.tables),
        tables: &trace.tables,
        contexts: ways.contexts(),
    };
    finding.interleaving = ways.told(0, finding, &explain);
    finding.suggestion = suggestions.told(0, finding, &explain);
}

/// A schedule: everything before `start`, these events, then all of `next` at once.
pub fn way(start: u64, events: &[u64], next: &[EventIndex]) -> Way {
    Way {
        start: at(start),
        then: Then::Events(events.iter().copied().map(EventIndex).collect()),
        next: next.to_vec(),
        ..Way::default()
    }
}

/// An interleaving, a line for each step: those for the few-line form are marked with a star.
pub fn lines(way: &Interleaving) -> String {
    let mut out = String::new();
    for lane in &way.threads {
        out.push_str(&format!("{} holds {:?}\n", lane.name, lane.holds));
    }
    out.push_str(&format!("{} earlier\n", way.earlier));
    for step in &way.steps {
        let star = if step.key { "*" } else { " " };
        let side = step
            .side
            .map_or(String::new(), |side| format!(" side {side}"));
        let on = step.on.as_deref().unwrap_or("-");
        let value = step
            .value
            .map_or(String::new(), |value| format!(" = {value}"));
        out.push_str(&format!(
            "{star} {:>3} T{} {} {on}{value} at {}{side}\n",
            step.index,
            step.thread,
            step.op,
            step.place.at()
        ));
    }
    out
}
