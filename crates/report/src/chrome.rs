//! The way to each finding as a trace in Chrome's trace-event form, which `chrome://tracing` and
//! Perfetto show.
//!
//! A finding is a process, its threads are the process's threads. Every step takes ten units of time:
//! what counts is the order. A lock is a span from where it was taken to where it was given back; an
//! arrow goes from there to whoever takes it next. The sides of the finding are marked. A finding
//! whose way is not known has its sides only.

use serde_json::{Value, json};

use crate::finding::Finding;
use crate::interleaving::{Does, Interleaving, Step};

/// How long a step takes, and how much of that is drawn.
const STEP: u64 = 10;
const DRAWN: u64 = 8;

/// One JSON object.
///
/// ```
/// let text = deadheat_report::chrome::report(&[]);
/// assert!(text.contains("traceEvents"));
/// ```
pub fn report(findings: &[Finding]) -> String {
    let mut events = Vec::new();
    for (i, finding) in findings.iter().enumerate() {
        let mut process = Process {
            number: i + 1,
            events: Vec::new(),
            arrows: 0,
        };
        process.finding(finding);
        events.append(&mut process.events);
    }
    let trace = json!({ "displayTimeUnit": "ms", "traceEvents": events });
    // Strings, numbers and lists of them cannot fail to be written.
    serde_json::to_string_pretty(&trace).unwrap_or_default()
}

/// A finding's events.
struct Process {
    number: usize,
    events: Vec<Value>,
    arrows: usize,
}

/// A lock that a thread holds.
struct Held<'a> {
    thread: u32,
    lock: &'a str,
    since: u64,
}

impl Process {
    /// An event of this kind (`ph`) at this time.
    fn event(&mut self, kind: &str, thread: u32, time: u64, mut more: Value) {
        more["ph"] = json!(kind);
        more["pid"] = json!(self.number);
        more["tid"] = json!(thread);
        more["ts"] = json!(time);
        self.events.push(more);
    }

    fn finding(&mut self, finding: &Finding) {
        let kind = finding.kind.name();
        let on = finding.object.as_ref();
        let on = on.map_or(String::new(), |object| format!(" on {}", object.name));
        let name = json!({ "name": "process_name", "args": { "name": format!("{kind}{on} [{}]", finding.id) } });
        self.event("M", 0, 0, name);
        let threads: Vec<(u32, &str)> = match &finding.interleaving {
            Some(way) => way
                .threads
                .iter()
                .map(|lane| (lane.number, &*lane.name))
                .collect(),
            None => {
                let threads = finding.accesses.iter().map(|access| &access.thread);
                threads
                    .map(|thread| (thread.number, &*thread.name))
                    .collect()
            }
        };
        for (number, name) in threads {
            let name = json!({ "name": "thread_name", "args": { "name": name } });
            self.event("M", number, 0, name);
        }
        match &finding.interleaving {
            Some(way) => self.way(way),
            None => {
                for (i, access) in finding.accesses.iter().enumerate() {
                    let time = i as u64 * STEP;
                    let side = json!({
                        "name": access.op, "cat": "side", "s": "t",
                        "args": { "place": access.place.told() },
                    });
                    self.event("i", access.thread.number, time, side);
                }
            }
        }
    }

    fn way(&mut self, way: &Interleaving) {
        let mut held: Vec<Held<'_>> = Vec::new();
        for lane in &way.threads {
            held.extend(lane.holds.iter().map(|lock| Held {
                thread: lane.number,
                lock,
                since: 0,
            }));
        }
        // Who gave back which lock last, and when.
        let mut released: Vec<(&str, u32, u64)> = Vec::new();
        for (i, step) in way.steps.iter().enumerate() {
            let time = (i as u64 + 1) * STEP;
            self.step(step, time);
            let Some(lock) = step.on.as_deref() else {
                continue;
            };
            match step.does {
                // A side of the finding is about to happen: it takes nothing.
                Does::Take if step.side.is_some() => {}
                Does::Take => {
                    let from = released.iter().position(|(name, ..)| *name == lock);
                    if let Some(from) = from {
                        let (_, thread, then) = released.swap_remove(from);
                        self.arrow((thread, then), (step.thread, time));
                    }
                    held.push(Held {
                        thread: step.thread,
                        lock,
                        since: time,
                    });
                }
                Does::Release => {
                    let is_it = |held: &Held<'_>| held.thread == step.thread && held.lock == lock;
                    if let Some(at) = held.iter().rposition(is_it) {
                        let span = held.remove(at);
                        // What was taken later and is still held would not lie within.
                        let mut later = held[at..].iter();
                        let nests = !later.any(|other| other.thread == step.thread);
                        self.span(&span, time + STEP - 1, nests);
                    }
                    released.retain(|(name, ..)| *name != lock);
                    released.push((lock, step.thread, time));
                }
                _ => {}
            }
        }
        let end = (way.steps.len() as u64 + 1) * STEP;
        for span in &held {
            self.span(span, end, true);
        }
    }

    fn step(&mut self, step: &Step, time: u64) {
        let on = step.on.as_deref();
        let name = on.map_or_else(|| step.op.clone(), |on| format!("{} {on}", step.op));
        let args = json!({
            "place": step.place.told(),
            "value": step.value,
            "event": step.index,
        });
        let slice = json!({ "name": name, "cat": "step", "dur": DRAWN, "args": args });
        self.event("X", step.thread, time, slice);
        if step.side.is_some() {
            let side = json!({ "name": format!("here: {name}"), "cat": "side", "s": "t" });
            self.event("i", step.thread, time, side);
        }
    }

    /// A span on the thread's own track; one that does not lie within the spans around it gets a track of its own.
    fn span(&mut self, held: &Held<'_>, end: u64, nests: bool) {
        let name = format!("holds {}", held.lock);
        let start = held.since.saturating_sub(1);
        if nests {
            let span = json!({ "name": name, "cat": "lock", "dur": end - start });
            return self.event("X", held.thread, start, span);
        }
        let id = format!("{}.{}.{start}", self.number, held.thread);
        let span = json!({ "name": name, "cat": "lock", "id": id });
        self.event("b", held.thread, start, span.clone());
        self.event("e", held.thread, end, span);
    }

    fn arrow(&mut self, from: (u32, u64), to: (u32, u64)) {
        if from.0 == to.0 {
            return;
        }
        self.arrows += 1;
        let arrow = json!({ "name": "hands over", "cat": "lock", "bp": "e",
            "id": format!("{}.{}", self.number, self.arrows) });
        self.event("s", from.0, from.1 + DRAWN / 2, arrow.clone());
        self.event("f", to.0, to.1 + DRAWN / 2, arrow);
    }
}
