//! Traces of shapes that are hard to predict from, put to every method: each has to end by itself within its budget, and in bounded memory.

use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::process::Command;
use std::time::Duration;

use deadheat_bench::adversarial::{self, Shape};

use crate::explore::run::{Run, run};
use crate::kernel::Place;

/// Every method that reads a whole trace, but those that read it once and do nothing else.
const METHODS: [&str; 7] = [
    "hb",
    "hybrid",
    "wcp",
    "cp",
    "syncp",
    "interleave",
    "maximal",
];
/// How much work a command may do, as `check` has it for prediction, and for larger windows.
const BUDGET: [&str; 4] = ["--budget", "7500ms", "--growth", "10s"];
/// Whoever takes longer does not keep to its budget.
const LIMIT: Duration = Duration::from_secs(300);

/// Measures all shapes, and renders it.
pub fn measure(place: &Place) -> Result<String, String> {
    let mut text = String::from("## Hard shapes\n\n");
    let _ = writeln!(
        text,
        "Generated traces (`bench/src/adversarial.rs`), each through `deadheat predict` with one method: findings, CPU seconds and the largest memory in MiB. With the budget that \
         `check` gives to prediction (`{}`); the work is counted, so what is found is the same on every machine. *part*: a budget was used up, which is said.\n",
        BUDGET.join(" ")
    );
    let _ = writeln!(text, "| shape | events | {} |", METHODS.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---|".repeat(METHODS.len()));
    for shape in adversarial::ALL {
        eprintln!("bench: {}", shape.name);
        let _ = writeln!(text, "{}", row(place, &shape)?);
    }
    Ok(text)
}

fn row(place: &Place, shape: &Shape) -> Result<String, String> {
    let trace = place.work.join("shape.txt");
    let failed = |error: std::io::Error| error.to_string();
    let file = File::create(&trace).map_err(failed)?;
    shape.write(BufWriter::new(file)).map_err(failed)?;
    let mut cells = Vec::new();
    let mut events = 0;
    for method in METHODS {
        let mut command = Command::new(&place.deadheat);
        command
            .arg("predict")
            .arg(&trace)
            .args(["--method", method]);
        command.args(["--format", "json"]).args(BUDGET);
        let done = run(command, &place.work, LIMIT)?;
        cells.push(cell(&done, &mut events)?);
    }
    Ok(format!(
        "| {} | {events} | {} |",
        shape.name,
        cells.join(" | ")
    ))
}

fn cell(done: &Run, events: &mut u64) -> Result<String, String> {
    if done.is_cut {
        return Ok(format!("not ended in {} s", LIMIT.as_secs()));
    }
    let report = done.report()?;
    *events = report["events"].as_u64().unwrap_or(*events);
    let found = report["findings"].as_array().map_or(0, Vec::len);
    let said = std::fs::read_to_string(done.said.as_path()).unwrap_or_default();
    let is_part = said.contains("--budget gives more") || said.contains("--growth gives more");
    let part = if is_part { ", part" } else { "" };
    Ok(format!(
        "{found}, {:.1} s, {:.0}{part}",
        done.cpu, done.megabytes
    ))
}
