//! Runs a command to its end or for so long, and takes its time and memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A command that has ended.
pub struct Run {
    /// How long it took.
    pub took: Duration,
    /// CPU seconds of all its processes.
    pub cpu: f64,
    /// Megabytes of its largest process: the tool itself, or the program and its copies.
    pub megabytes: f64,
    /// Whether it was stopped because it took too long.
    pub is_cut: bool,
    /// What it printed.
    pub printed: String,
    /// What it said besides, in a file.
    pub said: PathBuf,
}

impl Run {
    /// What it printed, as JSON.
    pub fn report(&self) -> Result<Value, String> {
        serde_json::from_str(&self.printed).map_err(|error| format!("{error}: {}", self.printed))
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

/// Runs a command. Its output goes by a file in the folder.
pub fn run(mut command: Command, folder: &Path, limit: Duration) -> Result<Run, String> {
    let failed = |error: std::io::Error| error.to_string();
    let printed = folder.join("printed");
    command
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE") // or a panic reads all symbols, in every copy
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(File::create(&printed).map_err(failed)?)
        .stderr(File::create(folder.join("said")).map_err(failed)?);
    let started = Instant::now();
    let child = command
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let (mut is_cut, mut status) = (false, 0);
    // SAFETY: zeroed numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: a child of this process that nobody else waits for, and valid places for the answers.
        let ended =
            unsafe { libc::wait4(child.id() as i32, &mut status, libc::WNOHANG, &mut usage) };
        if ended != 0 {
            break;
        }
        if started.elapsed() > limit && !is_cut {
            is_cut = true;
            // SAFETY: the child has not been waited for, so that the number is still its own.
            unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(Run {
        took: started.elapsed(),
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        megabytes: usage.ru_maxrss as f64 / 1024.0,
        is_cut,
        printed: std::fs::read_to_string(&printed).map_err(failed)?,
        said: folder.join("said"),
    })
}
