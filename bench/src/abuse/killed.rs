//! Programs, and the recorder itself, that are killed at any time: what was recorded until then can be read.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Row;
use super::tools::{Mode, Numbers, Tools, run_usual};

/// Who is killed.
#[derive(Clone, Copy)]
enum Victim {
    Program,
    Both,
}

/// How many are killed for each run that is asked for.
const EACH: usize = 20;

/// At any time within the first so many milliseconds.
const WITHIN: u64 = 250;

/// Programs and recorders, with threads running free and one at a time.
pub fn rows(tools: &Tools, runs: usize) -> Result<Vec<Row>, String> {
    let [ours, _] = tools.build("locks")?;
    let store = tools.work.join("store");
    let mut numbers = Numbers::new(7);
    let mut rows = Vec::new();
    for mode in [Mode::Parallel, Mode::Serial] {
        for victim in [Victim::Program, Victim::Both] {
            let who = match victim {
                Victim::Program => "the program is",
                Victim::Both => "the program and the recorder are",
            };
            let what = format!("{who} killed at a random time, {}", mode.name());
            eprintln!("bench: {what}");
            let mut row = Row::new(what);
            let mut events = (u64::MAX, 0);
            for _ in 0..runs * EACH {
                tools.clear(&store);
                let wait = Duration::from_millis(numbers.below(WITHIN));
                let survived = kill(tools, &store, mode, victim, &ours, wait)?;
                // A program that was killed before its first event leaves no recording, or an empty one.
                let has_trace = store.join("recordings/000001/trace.dht").exists();
                let readable = !has_trace || tools.is_readable(&store)?;
                row.count(survived, readable);
                if has_trace {
                    let seen = size(&store);
                    events = (events.0.min(seen), events.1.max(seen));
                }
            }
            row.remark = format!("traces of {} to {} kB", events.0 / 1000, events.1 / 1000);
            rows.push(row);
        }
    }
    tools.clear(&store);
    Ok(rows)
}

fn size(store: &Path) -> u64 {
    let trace = store.join("recordings/000001/trace.dht");
    trace.metadata().map_or(0, |data| data.len())
}

/// Records the program and kills it after a while; whether the recorder, if it lives, says so and ends well.
fn kill(
    tools: &Tools,
    store: &Path,
    mode: Mode,
    victim: Victim,
    program: &Path,
    wait: Duration,
) -> Result<bool, String> {
    let mut command = tools.deadheat(store);
    command
        .args(mode.arguments())
        .arg(program)
        .arg("1000000000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    std::thread::sleep(wait);
    let recorder = child.id();
    let list = format!("/proc/{recorder}/task/{recorder}/children");
    let programs = || {
        let text = std::fs::read_to_string(&list).unwrap_or_default();
        let numbers = text.split_whitespace();
        numbers.map(str::to_owned).collect::<Vec<String>>()
    };
    let mut found = programs();
    // It may not have been started yet.
    while found.is_empty() {
        std::thread::sleep(Duration::from_millis(1));
        found = programs();
    }
    if let Victim::Both = victim {
        found.insert(0, recorder.to_string());
    }
    run_usual(Command::new("kill").arg("-KILL").args(&found))?;
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    Ok(match victim {
        Victim::Both => true,
        Victim::Program => {
            let told = String::from_utf8_lossy(&output.stderr);
            // Before its first event there is nothing to record, and that is said.
            let has_trace = store.join("recordings/000001/trace.dht").exists();
            let expected = if has_trace { 0 } else { 3 };
            output.status.code() == Some(expected) && told.contains("SIGKILL")
        }
    })
}
