//! Runs a command with a time limit; whatever it has started ends with it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a command went.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit code; nothing, if a signal or the limit ended it.
    pub code: Option<i32>,
    /// Whether it was ended by the limit.
    pub timed_out: bool,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Ran {
    /// Both outputs, for people.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command in a folder, which gets two files for its outputs.
///
/// # Errors
/// If it cannot be started.
pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> Result<Ran, String> {
    let said = |error: std::io::Error| error.to_string();
    let outputs = [folder.join("stdout"), folder.join("stderr")];
    let create = |path| File::create(path).map_err(said);
    let begin = Instant::now();
    let mut child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(create(&outputs[0])?)
        .stderr(create(&outputs[1])?)
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let mut timed_out = false;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(said)? {
            break status;
        }
        if begin.elapsed() > limit {
            timed_out = true;
            end_group(child.id());
            break child.wait().map_err(said)?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(4));
    };
    let took = begin.elapsed();
    // What it left behind must not disturb the next one.
    end_group(child.id());
    let [stdout, stderr] = outputs.map(|path| {
        let bytes = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    Ok(Ran {
        code: if timed_out { None } else { status.code() },
        timed_out,
        stdout,
        stderr,
        took,
    })
}

/// Ends all processes of the group that a command was made the leader of.
fn end_group(leader: u32) {
    // The group may be gone already.
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{leader}")])
        .stderr(Stdio::null())
        .status();
}
