//! Programs that do much of what is hard to follow: threads, locks, signals, processes.

use super::Row;
use super::tools::{Mode, Tools, run_usual, timed};

/// A program with its arguments, and what it does.
const PROGRAMS: [(&str, &[&str], &str); 6] = [
    (
        "threads",
        &["1000", "100"],
        "1000 threads, 100 at a time, created and joined",
    ),
    (
        "threads",
        &["1000", "1000"],
        "1000 threads at once, created and joined",
    ),
    ("locks", &["10000000"], "10 million lock operations"),
    (
        "storm",
        &["7"],
        "1093 detached threads that start each other",
    ),
    (
        "signals",
        &["1000"],
        "a signal every millisecond, 1000 in all",
    ),
    (
        "forks",
        &["50"],
        "50 forks, half of them with exec, under load",
    ),
];

/// Every program in every mode.
pub fn rows(tools: &Tools, runs: usize) -> Result<Vec<Row>, String> {
    let store = tools.work.join("store");
    let mut rows = Vec::new();
    for (name, args, what) in PROGRAMS {
        eprintln!("bench: {what}");
        let [ours, plain] = tools.build(name)?;
        let expected = run_usual(std::process::Command::new(&plain).args(args))?;
        for mode in Mode::ALL {
            let mut row = Row::new(format!("{what}, {}", mode.name()));
            let mut slowest = 0.0f64;
            for _ in 0..runs {
                tools.clear(&store);
                let mut command = tools.deadheat(&store);
                command.args(mode.arguments()).arg(&ours).args(args);
                let (output, took) = timed(|| run_usual(&mut command));
                let output = output?;
                slowest = slowest.max(took.as_secs_f64());
                let is_same = output.status.code() == Some(0) && output.stdout == expected.stdout;
                let readable = mode == Mode::Watched || tools.is_readable(&store)?;
                row.count(is_same, readable);
            }
            row.remark = format!("{slowest:.1} s at most");
            rows.push(row);
        }
        tools.clear(&store);
    }
    Ok(rows)
}
