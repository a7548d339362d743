//! One setting of the runtime's live detection: the CPU time of a whole run.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use deadheat_bench::setting::Setting;

use super::LIMIT;
use crate::measure::children;

/// A program to run.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    /// Without instrumentation.
    pub plain: &'a Path,
    /// With Deadheat.
    pub ours: &'a Path,
    /// Its argument, which makes it run for long enough.
    pub argument: &'a str,
}

/// What live runs of a program took.
pub struct Live {
    /// CPU seconds without instrumentation.
    pub plain: f64,
    /// By setting.
    pub cells: Vec<Option<Cell>>,
}

/// A run that came to its end.
#[derive(Clone, Copy)]
pub struct Cell {
    /// CPU seconds.
    pub seconds: f64,
    /// The memory for histories was used up: from then on nothing more was remembered.
    pub full: bool,
}

/// Measures a program. The simple mode comes first: what it flags is looked at later.
pub fn measure(work: &Path, program: Program, runs: usize) -> Result<Live, String> {
    let (report, flagged) = (work.join("report"), work.join("flagged"));
    write(&flagged, "")?;
    let mut plain = f64::MAX;
    for _ in 0..runs {
        let run = cpu_of(Command::new(program.plain), program)?;
        plain = run.map_or(plain, |seconds| plain.min(seconds));
    }
    let mut cells = Vec::new();
    for setting in Setting::ALL {
        let mut best: Option<Cell> = None;
        for _ in 0..runs {
            let watch = watching(program.ours, setting, &report, &flagged)?;
            let Some(seconds) = cpu_of(watch, program)? else {
                break;
            };
            let told = read(&report)?;
            if setting == Setting::Simple {
                write(&flagged, &places(&told))?;
            }
            let full = told.lines().any(|line| {
                line.starts_with("note ") && line.contains("memory for histories is used up")
            });
            if best.is_none_or(|best| seconds < best.seconds) {
                best = Some(Cell { seconds, full });
            }
            if seconds > super::LONG {
                break;
            }
        }
        cells.push(best);
    }
    Ok(Live { plain, cells })
}

/// The places that a simple run flagged, as the detailed mode reads them.
fn places(told: &str) -> String {
    let places = told.lines().filter_map(|line| line.strip_prefix(" place "));
    places.map(|place| format!("{place}\n")).collect()
}

/// A program under live detection, with a new report.
fn watching(
    program: &Path,
    setting: Setting,
    report: &Path,
    flagged: &Path,
) -> Result<Command, String> {
    write(report, "")?;
    let mut command = Command::new(program);
    command
        .env("DEADHEAT_REPORT", report)
        .env("DEADHEAT_OPTIONS", setting.live_options());
    if setting == Setting::Flagged {
        command.env("DEADHEAT_SELECT", flagged);
    }
    Ok(command)
}

/// CPU seconds of a run; `None` if it was over the limit.
fn cpu_of(mut command: Command, program: Program) -> Result<Option<f64>, String> {
    command.arg(program.argument).stdout(Stdio::null());
    let limit = libc::rlimit {
        rlim_cur: LIMIT as u64,
        rlim_max: LIMIT as u64 + 1,
    };
    let limited = move || {
        // SAFETY: the call reads the limits, which the closure owns, and nothing else.
        match unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec it makes one system call; it neither allocates nor locks.
    unsafe { command.pre_exec(limited) };
    let before = children();
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match status.signal() {
        Some(libc::SIGXCPU | libc::SIGKILL) => Ok(None),
        None if status.success() => Ok(Some(children() - before)),
        _ => Err(format!("{command:?}: {status}")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
