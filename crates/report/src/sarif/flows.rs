//! How a finding comes about, as a code flow: one thread flow for each thread.
//!
//! Where the way to the finding is known, these are its steps, numbered in the order in which they
//! happen. Otherwise, of each side: where the thread was created, the calls on the way, the locks that
//! it holds, the access.

use serde_json::{Value, json};

use super::{location, side};
use crate::finding::{Access, Finding, Frame};
use crate::interleaving::{Does, Interleaving, Step};

/// The most steps of a finding that are written, of all findings together, and of each in any case; and the most calls of a stack.
const MOST_STEPS: usize = 1_000;
const ALL_STEPS: usize = 10_000;
const LEAST_STEPS: usize = 4;
const MOST_CALLS: usize = 100;

/// The code flow of a finding, if there is anything to tell.
///
/// It is one of so many, which have to be small together.
pub(super) fn code_flow(finding: &Finding, all: usize) -> Option<Value> {
    if let Some(way) = &finding.interleaving
        && !way.steps.is_empty()
    {
        let most = (ALL_STEPS / all.max(1)).clamp(LEAST_STEPS, MOST_STEPS);
        return Some(of_way(finding, way, most));
    }
    let flows = finding.accesses.iter().map(of_side);
    let flows = with_names(flows.collect());
    (!flows.is_empty()).then(|| json!({ "threadFlows": flows }))
}

/// The steps of each thread, numbered through.
fn of_way(finding: &Finding, way: &Interleaving, most: usize) -> Value {
    let skipped = way.steps.len().saturating_sub(most);
    let steps = way.steps.iter().enumerate().skip(skipped);
    let flow = |number: u32, name: &str| {
        let own = steps.clone().filter(|(_, step)| step.thread == number);
        let locations: Vec<Value> = own
            .map(|(at, step)| of_step(finding, name, at, step))
            .collect();
        (!locations.is_empty()).then(|| (name.to_owned(), locations))
    };
    let flows = way.threads.iter();
    let flows = flows.filter_map(|lane| flow(lane.number, &lane.name));
    let mut code_flow = json!({ "threadFlows": with_names(flows.collect()) });
    let earlier = way.earlier.saturating_add(skipped as u64);
    if earlier > 0 {
        let text = format!("{earlier} earlier steps of the schedule are left out.");
        code_flow["message"] = json!({ "text": text });
    }
    code_flow
}

fn of_step(finding: &Finding, thread: &str, at: usize, step: &Step) -> Value {
    let kinds: &[&str] = match (step.side, step.does) {
        (Some(_), _) => &["danger"],
        (_, Does::Take) => &["acquire", "lock"],
        (_, Does::Release) => &["release", "lock"],
        (_, Does::Read | Does::Write) => &["memory"],
        (_, Does::Other) => &["unknown"],
    };
    let importance = match (step.side.is_some(), step.key) {
        (true, _) => "essential",
        (_, true) => "important",
        _ => "unimportant",
    };
    let access = step.side.and_then(|side| finding.accesses.get(side));
    let text = access.map_or_else(|| in_words(thread, step), side);
    json!({
        "location": location(&step.place, &text),
        "kinds": kinds,
        "importance": importance,
        "executionOrder": at,
    })
}

fn in_words(thread: &str, step: &Step) -> String {
    let on = step.on.as_ref();
    let on = on.map_or(String::new(), |on| format!(" {on}"));
    let value = step
        .value
        .map_or(String::new(), |value| format!(", value {value}"));
    format!("{thread}: {}{on}{value}", step.op)
}

fn of_side(access: &Access) -> (String, Vec<Value>) {
    let mut steps = Vec::new();
    let mut add = |frame: &Frame, text: String, kinds: &[&str]| {
        steps.push(json!({ "location": location(frame, &text), "kinds": kinds }));
    };
    let thread = &access.thread.name;
    if !access.thread.created_at.is_empty() {
        let frame = crate::own_place(&access.thread.created_at);
        add(&frame, format!("{thread} is created"), &["call"]);
    }
    let calls = access.stack.iter().skip(1).take(MOST_CALLS);
    for frame in calls.collect::<Vec<_>>().into_iter().rev() {
        add(frame, format!("{thread} calls"), &["call", "function"]);
    }
    for lock in &access.locks {
        if !lock.acquired_at.is_empty() {
            let frame = crate::own_place(&lock.acquired_at);
            let text = format!("{thread} takes {}", lock.name);
            add(&frame, text, &["acquire", "lock"]);
        }
    }
    add(&access.place, side(access), &["danger"]);
    (thread.clone(), steps)
}

/// Thread flows. Two threads that were created at the same place can have the same name; flows cannot.
fn with_names(flows: Vec<(String, Vec<Value>)>) -> Vec<Value> {
    let mut named: Vec<Value> = Vec::new();
    for (name, locations) in flows {
        let id = match named.iter().any(|other| other["id"] == json!(name)) {
            true => format!("{name} ({})", named.len() + 1),
            false => name,
        };
        named.push(json!({ "id": id, "locations": locations }));
    }
    named
}
