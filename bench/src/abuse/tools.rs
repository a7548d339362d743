//! What all attempts need: built programs, runs with a limit of time, and numbers that are the same every time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::kernel::Place;

/// The exit codes that are documented; 101 is a bug.
const DOCUMENTED: [i32; 6] = [0, 2, 3, 4, 5, 66];

/// How long an attempt may take.
const LIMIT: Duration = Duration::from_secs(120);

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Recorded, threads running free.
    Parallel,
    /// Recorded, one thread at a time.
    Serial,
    /// Watched.
    Watched,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::Parallel, Mode::Serial, Mode::Watched];

    /// As the table has it.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Parallel => "recorded",
            Mode::Serial => "recorded serially",
            Mode::Watched => "watched",
        }
    }

    /// The arguments of `deadheat` before the program.
    pub const fn arguments(self) -> &'static [&'static str] {
        match self {
            Mode::Parallel => &["record", "--"],
            Mode::Serial => &["record", "--serial", "--"],
            Mode::Watched => &["watch", "--"],
        }
    }
}

/// Where everything is.
pub struct Tools {
    /// The tool.
    pub deadheat: PathBuf,
    sources: PathBuf,
    /// A folder for everything.
    pub work: PathBuf,
}

impl Tools {
    /// In the work folder of the measurement.
    pub fn new(place: &Place) -> Result<Self, String> {
        let whole = |path: &Path| {
            path.canonicalize()
                .map_err(|error| format!("{}: {error}", path.display()))
        };
        Ok(Tools {
            deadheat: whole(&place.deadheat)?,
            sources: whole(&place.kernels.join("../abuse"))?,
            work: whole(&place.work)?,
        })
    }

    /// The text of a program.
    pub fn source(&self, name: &str) -> PathBuf {
        self.sources.join(name).with_extension("c")
    }

    /// Builds a program, with Deadheat and without.
    pub fn build(&self, name: &str) -> Result<[PathBuf; 2], String> {
        let source = self.source(name);
        let paths = [
            self.work.join(name),
            self.work.join(format!("{name}-plain")),
        ];
        let mut ours = Command::new(&self.deadheat);
        ours.arg("cc");
        for (mut compiler, path) in [ours, Command::new("gcc")].into_iter().zip(&paths) {
            compiler.args(["-O1", "-g", "-pthread"]);
            let output = run(compiler.arg(&source).arg("-o").arg(path), LIMIT)?;
            if output.status.code() != Some(0) {
                return Err(format!("{name} cannot be built: {}", told(&output)));
            }
        }
        Ok(paths)
    }

    /// `deadheat` with a store of its own.
    pub fn deadheat(&self, store: &Path) -> Command {
        let mut command = Command::new(&self.deadheat);
        command.env("DEADHEAT_STORE", store).current_dir(&self.work);
        command
    }

    /// Whether the latest recording of a store can be read, and keeps to the rules.
    pub fn is_readable(&self, store: &Path) -> Result<bool, String> {
        let output = run(self.deadheat(store).args(["trace", "verify"]), LIMIT)?;
        Ok(output.status.code() == Some(0))
    }

    /// Deletes a store.
    pub fn clear(&self, store: &Path) {
        let _ = std::fs::remove_dir_all(store);
    }
}

/// Runs a command to its end; one that takes too long is killed, which counts as ended by a signal.
pub fn run(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let id = child.id() as libc::pid_t;
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(limit).is_err() {
                // SAFETY: the process was not waited for yet, so the number is still its own.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
        });
        let output = child.wait_with_output().map_err(|error| error.to_string());
        let _ = done.send(());
        output
    })
}

/// The same with the usual limit.
pub fn run_usual(command: &mut Command) -> Result<Output, String> {
    run(command, LIMIT)
}

/// Whether a command ended with a documented exit code, and not by a panic.
pub fn is_documented(output: &Output) -> bool {
    let code = output.status.code();
    code.is_some_and(|code| DOCUMENTED.contains(&code)) && !told(output).contains("panicked")
}

/// What it said.
pub fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Numbers that are the same in every run.
pub struct Numbers(u64);

impl Numbers {
    /// A sequence of them.
    pub const fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// One below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// How long something takes.
pub fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    (what(), started.elapsed())
}
