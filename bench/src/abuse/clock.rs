//! A clock on the wall that is set while programs run: an hour forth and an hour back, from one look to the next, for the program and for
//! the command around it.

use std::process::Command;

use super::Row;
use super::tools::{Mode, Tools, run_usual, told};

/// Every mode, as often as is asked for.
pub fn rows(tools: &Tools, runs: usize) -> Result<Vec<Row>, String> {
    eprintln!("bench: clocks that are set");
    let [ours, _] = tools.build("waiting")?;
    let library = tools.work.join("clock.so");
    let mut compile = Command::new("gcc");
    compile.args(["-O1", "-shared", "-fPIC", "-o"]);
    let compiled = run_usual(compile.arg(&library).arg(tools.source("clock")))?;
    if !compiled.status.success() {
        return Err(format!("clock cannot be built: {}", told(&compiled)));
    }
    let store = tools.work.join("store");
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let mut row = Row::new(format!("the clock is set all the time, {}", mode.name()));
        for _ in 0..runs {
            tools.clear(&store);
            let mut command = tools.deadheat(&store);
            command.env("LD_PRELOAD", &library);
            let output = run_usual(command.args(mode.arguments()).arg(&ours))?;
            let is_same = output.status.code() == Some(0) && output.stdout == b"200\n";
            let readable = mode == Mode::Watched || tools.is_readable(&store)?;
            row.count(is_same, readable);
        }
        row.remark = "by an hour, back and forth".to_owned();
        rows.push(row);
    }
    tools.clear(&store);
    Ok(rows)
}
