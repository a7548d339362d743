//! Files of witnesses: a schedule that leads to a finding, by itself.
//!
//! `{"version":1,"finding":ID,"kind":...,"signature":...,"trace":{...},"start":N,"next":[...],"schedule":[[THREAD,COUNT],...],"switches":N}`:
//! everything before event `start` of the trace happens as it was recorded; then `COUNT` events of `THREAD` (the next
//! ones of that thread), and so on; then the events `next` are all next at once.

use std::collections::HashMap;
use std::path::Path;

use deadheat_predict::Proven;
use deadheat_report::{Finding, Kind, Rung};
use deadheat_trace::{EventIndex, Steps, ThreadId};
use serde::Serialize;

use crate::analysis::Run;
use crate::error::{Error, Result};
use crate::input;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    version: u32,
    finding: &'a str,
    kind: Kind,
    signature: &'a str,
    trace: Trace<'a>,
    /// Everything before this event happens as it was.
    start: u64,
    /// The events that are all next in the end.
    next: Vec<Next>,
    /// How many events of which thread follow each other.
    schedule: Vec<(u32, u64)>,
    /// How often another thread goes on.
    switches: usize,
}

/// Which trace it is about.
#[derive(Serialize)]
struct Trace<'a> {
    /// From the witness's folder on, or absolute.
    path: &'a Path,
    events: u64,
    /// Of all its events: threads, operations, targets, places.
    digest: String,
}

#[derive(Serialize)]
struct Next {
    index: u64,
    thread: u32,
}

/// Writes a file for each finding that has a witness, and names it in the finding.
pub fn write(
    path: &Path,
    folder: &Path,
    runs: &[Run],
    findings: &mut [Finding],
    remarks: &mut Vec<String>,
) -> Result<()> {
    let mut wanted: HashMap<Vec<u64>, &Proven> = HashMap::new();
    let proving = runs.iter().filter(|run| run.how.rung() == Rung::Witness);
    for prediction in proving.filter_map(|run| run.prediction.as_ref()) {
        for proven in prediction.races.iter().chain(&prediction.deadlocks) {
            let mut next: Vec<u64> = proven.next.iter().map(|at| at.0).collect();
            next.sort_unstable();
            wanted.insert(next, proven);
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let (threads, digest) = threads(path)?;
    let here = std::env::current_dir().unwrap_or_default();
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let trace = path.strip_prefix(folder).unwrap_or(&whole);
    for finding in findings {
        let mut next: Vec<u64> = finding
            .accesses
            .iter()
            .filter_map(|access| access.index)
            .collect();
        next.sort_unstable();
        let Some(proven) = wanted.get(&next) else {
            continue;
        };
        let schedule = runs_of(&proven.schedule, &threads);
        let thread = |at: &EventIndex| threads[at.0 as usize].0;
        let file = File {
            version: VERSION,
            finding: &finding.id,
            kind: finding.kind,
            signature: &finding.signature,
            trace: Trace {
                path: trace,
                events: threads.len() as u64,
                digest: format!("{digest:016x}"),
            },
            start: proven.start.0,
            next: proven
                .next
                .iter()
                .map(|at| Next {
                    index: at.0,
                    thread: thread(at),
                })
                .collect(),
            switches: schedule.len().saturating_sub(1),
            schedule,
        };
        let name = folder.join(format!("witness-{}.json", finding.id));
        let text = serde_json::to_string(&file).map_err(|error| Error::usage(error.to_string()))?;
        match std::fs::write(&name, text + "\n") {
            Ok(()) => {
                let shown = name.strip_prefix(&here).unwrap_or(&name);
                finding.witness = Some(shown.display().to_string());
            }
            Err(error) => {
                remarks.push(format!(
                    "the witness of {} cannot be kept: {}: {error}",
                    finding.id,
                    name.display()
                ));
            }
        }
    }
    Ok(())
}

/// The thread of each event, and a digest of all.
fn threads(path: &Path) -> Result<(Vec<ThreadId>, u64)> {
    let mut steps = input::open(path)?;
    let mut threads = Vec::new();
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        let event = &step.event;
        // FNV-1a, a word at a time.
        for word in [
            u64::from(event.thread().0) << 8 | event.op() as u64,
            event.target(),
            event.pc().0.into(),
        ] {
            digest = (digest ^ word).wrapping_mul(0x0100_0000_01b3);
        }
        threads.push(event.thread());
    }
    Ok((threads, digest))
}

/// How many events of which thread follow each other.
fn runs_of(schedule: &[EventIndex], threads: &[ThreadId]) -> Vec<(u32, u64)> {
    let mut runs: Vec<(u32, u64)> = Vec::new();
    for at in schedule {
        let thread = threads[at.0 as usize].0;
        match runs.last_mut() {
            Some((last, count)) if *last == thread => *count += 1,
            _ => runs.push((thread, 1)),
        }
    }
    runs
}
