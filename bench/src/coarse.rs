//! What it costs to enforce a schedule of synchronisation while threads otherwise run free and a happens-before detector watches,
//! against the compiler's own ThreadSanitizer.
//!
//! The plan is made here, as `deadheat predict --method interleave --enforce` makes it, so that only the program's run is measured.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadheat_explore::{CoarsePlanner, CoarseRequest, Plan, Verdict};
use deadheat_predict::interleave::{LockWords, Observation, generate};
use deadheat_predict::{Effort, Observer, Options, Prediction, Size};
use deadheat_trace::Steps;
use deadheat_trace::file::TraceFile;

use crate::kernel::Variants;
use crate::measure::{cpu_of_command, recording, remove};

/// What was measured of one program.
pub struct Row {
    /// How many events of synchronisation were enforced, and how often another thread went on.
    pub events: usize,
    /// See `events`.
    pub switches: usize,
    /// CPU seconds under the compiler's ThreadSanitizer.
    pub tsan: f64,
    /// CPU seconds watched, without a schedule.
    pub watched: f64,
    /// CPU seconds under the schedule.
    pub enforced: f64,
}

/// Measures a program whose race shows in a parallel recording.
pub fn measure(variants: &Variants, rounds: &str, work: &Path, runs: usize) -> Result<Row, String> {
    let trace = work.join("parallel.dht");
    remove(&trace);
    let with = |program: &Path| {
        let mut command = Command::new(program);
        command.arg(rounds);
        command
    };
    cpu_of_command(recording(with(&variants.ours), &trace, "parallel"))?;
    let (plan, events) = plan(&trace)?;
    remove(&trace);
    let mut row = Row {
        events,
        switches: plan.switches(),
        tsan: f64::MAX,
        watched: f64::MAX,
        enforced: f64::MAX,
    };
    let watched = || {
        let mut command = with(&variants.ours);
        command
            .env("DEADHEAT_REPORT", work.join("report"))
            .env("DEADHEAT_OPTIONS", "mode=watch:detector=hb");
        command
    };
    for _ in 0..runs {
        row.tsan = row.tsan.min(cpu_of_command(with(&variants.tsan))?);
        row.watched = row.watched.min(cpu_of_command(watched())?);
        let path = work.join("plan");
        let [verdict, taken] = [".verdict", ".taken"].map(|end| work.join(format!("plan{end}")));
        let written = File::create(&path).and_then(|mut file| plan.write_to(&mut file));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = watched();
        command.env("DEADHEAT_PLAN", &path);
        row.enforced = row.enforced.min(cpu_of_command(command)?);
        let told = std::fs::read_to_string(&verdict).map_err(|error| error.to_string())?;
        if !Verdict::parse(&told).is_ok_and(|verdict| verdict.is_reached()) {
            return Err(format!("the schedule was not followed: {told}"));
        }
        remove_all(&[path, verdict, taken, work.join("report")]);
    }
    Ok(row)
}

fn remove_all(paths: &[PathBuf]) {
    for path in paths {
        let _ = std::fs::remove_file(path);
    }
}

/// The plan of the first race that a recording may have, and how many events of synchronisation it has.
fn plan(trace: &Path) -> Result<(Plan, usize), String> {
    let file = TraceFile::open(trace).map_err(|error| error.to_string())?;
    let Ok(read) = file.read().collect_trace();
    let locks = read.tables.syncs.iter().map(|object| object.addr);
    let locks: LockWords = locks.collect();
    let observation = Observation {
        steps: &read.steps,
        is_judged: &|_| true,
        lock_words: &locks,
    };
    let second = Duration::from_secs(1);
    let options = Options {
        size: Size::Auto,
        budget: Effort::about(second),
        first: Effort::ALL,
        growth: Effort::about(second),
        jobs: 1,
        memory: usize::MAX,
    };
    let found = generate(&observation, &options, &Nobody(AtomicBool::new(false)));
    let race = found.races.first().ok_or("no race to enforce")?;
    let request = CoarseRequest {
        start: race.start,
        schedule: race.schedule.clone(),
        deadlock: Vec::new(),
    };
    let mut planner = CoarsePlanner::new(&request);
    for step in &read.steps {
        planner.step(step, false, &read.tables);
    }
    let plan = planner.finish(false).map_err(|error| error.to_string())?;
    let events = plan.length();
    Ok((plan, events))
}

/// Nobody looks on, and nobody stops it.
struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _: u64, _: u64, _: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}
