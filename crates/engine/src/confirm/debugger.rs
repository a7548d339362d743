//! A replay that ends in gdb: kernel threads, so that the debugger sees all of them, stopped where the witness left them.

use std::process::Command;
use std::time::{Duration, Instant};

use deadheat_explore::{After, Verdict};
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::say;

use super::Case;
use super::fine::{self, Manner, Output};

/// How long is waited for the finding to stand.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs into the finding and starts gdb there; when it is left, the program is ended.
pub fn run(case: &Case, first: u32) -> Result<Exit> {
    let gdb = Command::new("gdb").arg("--version").output();
    if !gdb.is_ok_and(|output| output.status.success()) {
        return Err(Error::not_started("gdb cannot be started")
            .help("install it (Debian: apt install gdb)"));
    }
    let plan = case.plan.clone().then(After::Wait, first);
    let manner = Manner {
        real: true,
        ..Manner::of(Output::Shown, 0)
    };
    let mut running = fine::start(&case.again, &plan, manner)?;
    let started = Instant::now();
    let verdict = loop {
        if let Some(verdict) = running.verdict()? {
            break verdict;
        }
        if running.has_ended()? || started.elapsed() > PATIENCE {
            let enforced = running.finish()?;
            return Err(diverged(case, &enforced));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let Verdict::Reached(goals) = &verdict else {
        let enforced = running.finish()?;
        return Err(diverged(case, &enforced));
    };
    let process = running.id();
    let threads: Vec<String> = goals.iter().map(|(thread, _)| thread.to_string()).collect();
    say(format_args!(
        "process {process}: {} stand where the witness left them; `continue` lets the program go on, leaving gdb ends it",
        threads.join(" and ")
    ));
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-ex", "set pagination off", "-p"]);
    gdb.arg(process.to_string());
    // It stands in the runtime, whose language has no such cast.
    gdb.args(["-ex", "set language c"]);
    gdb.args(["-ex", "set var *(int *)&__deadheat_go = 1"]);
    gdb.args(["-ex", "set language auto"]);
    gdb.args(["-ex", "info threads"]);
    let status = gdb.status();
    running.kill();
    let _ = running.finish();
    match status {
        Ok(_) => Ok(Exit::Findings),
        Err(error) => Err(Error::not_started(format!(
            "gdb cannot be started: {error}"
        ))),
    }
}

fn diverged(case: &Case, enforced: &fine::Enforced) -> Error {
    Error::new(
        Exit::Diverged,
        format!("the replay diverged: {}", case.why(enforced)),
    )
}
