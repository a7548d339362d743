//! Whole traces.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use deadheat_bench::runs::Run;
use deadheat_predict::{
    Effort, Observer, Options, Prediction, Reads, Size, Source, needed_by, predict,
};
use deadheat_trace::{Op, Step};
use std::collections::HashMap;

use super::name;
use crate::measure::own;

/// The window, in events.
const WINDOW: usize = 10_000;
const JOBS: usize = 2;

/// A trace, and what is asked of it in seconds.
struct Case {
    run: Run,
    /// So many critical sections lose their lock.
    unguarded: usize,
    goal: f64,
}

/// What was measured of a trace.
pub struct Figures {
    name: String,
    events: usize,
    seconds: f64,
    cpu: f64,
    /// The most memory that the process had, with the trace, in MiB.
    memory: f64,
    prediction: Prediction,
    goal: f64,
}

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _: u64, _: u64, _: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

/// Measures all traces.
pub fn measure() -> Result<Vec<Figures>, String> {
    let run = Run {
        events: 1_000_000,
        threads: 10,
        locks: 100,
        variables: 1000,
        careless: 2,
        ..Run::default()
    };
    let cases = [
        Case {
            run,
            unguarded: 0,
            goal: 20.0,
        },
        Case {
            run: Run {
                locks: 500,
                variables: 4000,
                careless: 10,
                ..run
            },
            unguarded: 0,
            goal: 20.0,
        },
        Case {
            run: Run {
                events: 10_000_000,
                careless: 0,
                ..run
            },
            unguarded: 10,
            goal: 10.0,
        },
    ];
    cases.iter().map(trace).collect()
}

fn trace(case: &Case) -> Result<Figures, String> {
    eprintln!("bench: whole, {}", name(&case.run));
    let steps = without_locks(case.run.steps(), case.unguarded);
    forget_most_memory()?;
    let (start, before) = (Instant::now(), own());
    let needed = needed_by(&steps, Reads::ByBranch);
    let prediction = run(&steps, &needed, WINDOW);
    Ok(Figures {
        name: name(&case.run),
        events: steps.len(),
        seconds: start.elapsed().as_secs_f64(),
        cpu: own() - before,
        memory: most_memory()?,
        prediction,
        goal: case.goal,
    })
}

/// Predicts with windows of one size.
pub fn run(steps: &[Step], needed: &[u32], window: usize) -> Prediction {
    let source = Source {
        steps,
        needed_by: needed,
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Events(window),
        budget: Effort::about(Duration::from_secs(60)),
        first: Effort::ALL,
        growth: Effort::about(Duration::from_secs(10)),
        jobs: JOBS,
        memory: usize::MAX,
    };
    predict(&source, &options, &Nobody(AtomicBool::new(false)))
}

/// The same run of a program that forgets some locks, evenly chosen.
fn without_locks(steps: Vec<Step>, sections: usize) -> Vec<Step> {
    let is_acquire = |step: &&Step| step.event.op() == Op::Acquire;
    let every = steps.iter().filter(is_acquire).count() / sections.max(1);
    if sections == 0 || every == 0 {
        return steps;
    }
    let (mut count, mut forgotten) = (0, HashMap::new());
    let is_kept = |step: &Step| {
        let key = (step.event.thread(), step.event.lock());
        match step.event.op() {
            Op::Acquire => {
                count += 1;
                if count % every == every / 2 {
                    forgotten.insert(key, ());
                    return false;
                }
                true
            }
            Op::Release => forgotten.remove(&key).is_none(),
            _ => true,
        }
    };
    let mut steps = steps;
    steps.retain(is_kept);
    steps
}

/// The most memory that this process had, in MiB.
fn most_memory() -> Result<f64, String> {
    let path = "/proc/self/status";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0)
        .ok_or(format!("{path} has no VmHWM"))
}

/// Begins anew with the most memory.
fn forget_most_memory() -> Result<(), String> {
    let path = "/proc/self/clear_refs";
    std::fs::write(path, "5").map_err(|error| format!("{path}: {error}"))
}

/// Writes the table.
pub fn write(out: &mut String, all: &[Figures]) -> std::fmt::Result {
    writeln!(out, "\n### Whole traces\n")?;
    writeln!(
        out,
        "Races and deadlocks in windows of {WINDOW} events that overlap by a half, {JOBS} windows at a time, every witness checked; \
         one pair\nof each pair of places. Memory is the process's, with the trace. The last trace keeps to its \
         locks but in ten critical sections. (RVPredict,\nwhose model this is, took 1820 s for derby, as its authors report it.)\n"
    )?;
    writeln!(
        out,
        "| trace | candidates | asked | races | time | goal | CPU time | events/s | memory |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for figures in all {
        let statistics = &figures.prediction.statistics;
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.1} s | {:.0} s | {:.1} s | {:.2} M | {:.0} MiB |",
            figures.name,
            statistics.candidates,
            statistics.asked,
            figures.prediction.races.len(),
            figures.seconds,
            figures.goal,
            figures.cpu,
            figures.events as f64 / figures.seconds / 1e6,
            figures.memory,
        )?;
    }
    Ok(())
}
