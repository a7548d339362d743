//! How many executions of small programs there are in a second, as copies and from the beginning each time.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use super::run::run;
use crate::kernel::Place;

const PROGRAMS: [&str; 4] = [
    "zoo/c/mutex",
    "zoo/c/spinlock",
    "zoo/c/rwlock",
    "papers/prefix_fig7",
];
const SEARCH: &str = "3s";
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures all.
pub fn measure(place: &Place) -> Result<String, String> {
    let mut text = format!(
        "### Executions per second\n\nSmall programs at `-O1`, all their schedules, for {SEARCH} at most: each execution a copy of the program where it has two \
         threads, or the program from its beginning. CPU seconds are those of the whole command with all its processes, recording and witnesses included.\n\n\
         | program | | executions | steps each | per second | per CPU second |\n|---|---|---|---|---|---|\n"
    );
    for program in PROGRAMS {
        eprintln!("bench: executions of {program} per second");
        let source = place.kernels.join("../../programs").join(program);
        let binary = place.work.join("small");
        let mut build = Command::new(&place.deadheat);
        build
            .args(["cc", "-O1", "-g", "-pthread"])
            .arg(source.with_extension("c"))
            .arg("-o")
            .arg(&binary);
        let output = build.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        for (told, option) in [("copies", None), ("anew", Some("--no-snapshots"))] {
            let mut explore = Command::new(&place.deadheat);
            explore
                .args(["explore", "--format", "json", "--search-time", SEARCH])
                .args(option)
                .arg("--")
                .arg(&binary);
            let run = run(explore, &place.work, PATIENCE)?;
            let report = run.report()?;
            let figure = |name: &str| report["stats"][name].as_f64().unwrap_or(0.0);
            let executions = figure("executions");
            let _ = writeln!(
                text,
                "| {program} | {told} | {executions:.0} | {:.0} | **{:.0}** | {:.0} |",
                figure("transitions") / executions.max(1.0),
                executions / figure("seconds").max(1e-6),
                executions / run.cpu.max(1e-6),
            );
        }
    }
    Ok(text)
}
