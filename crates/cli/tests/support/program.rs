//! A small C program, built and run with the runtime in it.

#![allow(dead_code)] // each test file uses its part

use std::path::Path;
use std::process::Command;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, Steps, verify};

use super::{Sandbox, succeed};

/// Builds `source` as `prog` with a compiler and flags.
pub fn build(source: &str, compiler: &str, flags: &[&str]) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    let mut command = here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]);
    succeed(command.env("DEADHEAT_CC", compiler).args(flags));
    here
}

/// Runs `prog` as the recorder would, without the recorder around it.
pub fn run(here: &Sandbox, trace: &str, options: &str) -> Command {
    let mut command = here.command(here.path().join("prog"));
    let trace = here.path().join(trace);
    command
        .env("DEADHEAT_TRACE", trace)
        .env("DEADHEAT_OPTIONS", options);
    command
}

/// The operations in a trace that must be well-formed.
pub fn operations(path: &Path) -> Vec<Op> {
    let file = TraceFile::open(path).unwrap();
    let report = verify::verify(&mut file.read()).unwrap();
    assert!(report.is_well_formed(), "{}: {report:?}", path.display());
    let steps = file.read().collect_trace().unwrap().steps;
    steps.iter().map(|step| step.event.op()).collect()
}
