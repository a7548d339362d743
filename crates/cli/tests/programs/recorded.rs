//! Records a program: its trace is one, is the same again where it must be, and what is found in it is marked in the program's text.

use std::path::Path;

use deadheat_trace::file::TraceFile;
use deadheat_trace::verify::Severity;
use deadheat_trace::{Step, Steps, verify};

use crate::cases::{Case, Mode};
use crate::support::verdict::{agree, complete};
use crate::support::{self, Sandbox};
use crate::{succeeds, told};

impl Case {
    /// Records the program, and looks at what that shows.
    pub fn record_and_predict(&self, here: &Sandbox) -> Result<(), String> {
        let first = self.record(here, "trace.dht")?;
        self.predicts(here, "trace.dht")?;
        match self.repeats() {
            true => self.repeat(here, &first, 1),
            false => Ok(()),
        }
    }

    /// Records the program once more: the same seed gives the same trace.
    fn repeat(&self, here: &Sandbox, first: &[Step], retries: u32) -> Result<(), String> {
        let again = self.record(here, "again.dht")?;
        if first == again {
            return Ok(());
        }
        // Rust's standard library keeps the kernel's numbers of threads, which are new each time.
        let rust = self.oracle.cargo_target().is_some();
        let same = |(one, other): (&Step, &Step)| one == other || rust && one.event == other.event;
        let at = first.iter().zip(&again).position(|pair| !same(pair));
        if at.is_none() && first.len() == again.len() {
            return Ok(());
        }
        // Its panics print those numbers, which may have become a digit longer meanwhile.
        if rust && retries > 0 {
            return self.repeat(here, &again, retries - 1);
        }
        Err(format!(
            "the same seed gave another trace: {} and {} steps, different from {at:?} on",
            first.len(),
            again.len()
        ))
    }

    /// Whether the same seed gives the same trace. When another process ends is up to the world.
    /// A signal reaches a kernel thread when the kernel likes; on green contexts it is the
    /// running thread that gets it, at once.
    fn repeats(&self) -> bool {
        let name = self.oracle.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        // Another process, or a thread of libc's own.
        let outside = [
            "wait_child_signal",
            "wait_timer_thread",
            "wait_aio",
            "wait_shared",
            "wait_unseen",
            "stream_popen",
        ];
        let other_process = name.starts_with("fork") || outside.contains(&&*name);
        match self.mode {
            Mode::Parallel | Mode::Watch | Mode::Check | Mode::Explore => false,
            Mode::Serial => !other_process,
            Mode::Real => {
                let by_kernel = ["signal_", "wait_alarm", "wait_cancel", "wait_self_pipe"];
                !other_process && !by_kernel.iter().any(|start| name.starts_with(start))
            }
        }
    }

    /// Records the program, checks what it did and what it left, and returns its steps.
    fn record(&self, here: &Sandbox, name: &str) -> Result<Vec<Step>, String> {
        let mut command = here.command("timeout");
        command.args([
            "-k",
            "2",
            self.seconds(),
            support::DEADHEAT,
            "record",
            "-o",
            name,
        ]);
        command.arg("--exit-code-from-program");
        match self.mode {
            Mode::Parallel | Mode::Watch | Mode::Check | Mode::Explore => &mut command,
            Mode::Serial => command.args(["--seed", "1"]),
            Mode::Real => command.args(["--seed", "1", "--threads", "real"]),
        };
        command
            .args(["--", "./prog"])
            .args(&self.oracle.directives.run);
        let output = command.output().map_err(|error| error.to_string())?;
        let path = here.path().join(name);
        let trace = TraceFile::open(&path).map_err(|error| told(&output, &error.to_string()))?;
        let hung = output.status.code() == Some(124);
        let deadlocked = trace.closed() == Some("deadlock") || hung;
        if deadlocked && self.oracle.deadlocks.is_empty() {
            return Err(told(&output, "a deadlock that is not expected"));
        }
        if !deadlocked {
            self.behaves(&output)?;
        }
        if !hung && !trace.damage().is_empty() {
            return Err(told(&output, &format!("damage: {:?}", trace.damage())));
        }
        if self.oracle.cargo_target().is_some() {
            // The command also knows the locks of Rust's standard library.
            succeeds(&mut here.deadheat(["trace", "verify", name]))?;
        }
        self.steps(&trace, &path)
            .map_err(|problem| told(&output, &problem))
    }

    /// What happens-before finds in the trace, and what the trace proves if its order is exact, is
    /// marked in the program's text.
    fn predicts(&self, here: &Sandbox, name: &str) -> Result<(), String> {
        let methods = match self.mode {
            Mode::Serial => "hb,maximal",
            _ => "hb",
        };
        let mut predict = here.deadheat(["predict", name, "--method", methods, "--format", "json"]);
        predict.args(["--question", "2s", "--growth", "1s"]);
        let output = predict.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 5 | 66)) {
            return Err(told(&output, "predict failed"));
        }
        let report = String::from_utf8_lossy(&output.stdout);
        agree(&self.oracle, &report, self.lines())?;
        match self.shows_all() {
            true => complete(&self.oracle, &report, self.lines(), false),
            false => Ok(()),
        }
    }

    /// Whether all code that writes what the program reads is instrumented. The C++ library is
    /// not, and clang leaves out writes to a variable whose address nobody has yet. What handlers
    /// write is not recorded.
    fn sees_every_write(&self) -> bool {
        let name = self.oracle.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        // The C library's `errno`, and memory that another process writes to.
        let by_others = ["wait_masks", "wait_unseen"];
        self.compiler == "gcc"
            && !name.starts_with("signal_")
            && !by_others.contains(&&*name)
            && self.oracle.path.extension().is_some_and(|e| e == "c")
    }

    /// The steps of the trace, which must be well-formed.
    fn steps(&self, trace: &TraceFile, path: &Path) -> Result<Vec<Step>, String> {
        let mut reader = trace.read();
        let mut verifier = verify::Verifier::new(trace.mode(), verify::Options::default());
        let mut steps = Vec::new();
        while let Ok(Some(step)) = reader.next_step() {
            verifier.step(deadheat_trace::EventIndex(steps.len() as u64), &step);
            steps.push(step);
        }
        let tables = reader.tables();
        let report = verifier.finish(tables);
        let mut problems: Vec<String> = Vec::new();
        // A thread that never ran before the program ended is worth a remark, no more.
        let is_error =
            |violation: &&verify::Violation| violation.rule.severity() == Severity::Error;
        let violations = report.violations.iter().filter(is_error);
        problems.extend(violations.map(|violation| violation.describe(tables)));
        if self.sees_every_write() {
            let mismatches = report.first_mismatches.iter();
            problems.extend(mismatches.map(|mismatch| mismatch.describe(tables)));
        }
        if steps.is_empty() {
            problems.push(format!("{} is empty", path.display()));
        }
        match problems.is_empty() {
            true => Ok(steps),
            false => Err(problems.join("\n")),
        }
    }
}
