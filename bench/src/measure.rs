//! Runs programs and takes their CPU time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kernel::{Compiler, GCC, Kernel, Place};
use crate::reading;

/// What was measured of one kernel with one compiler.
pub struct Row {
    /// The kernel.
    pub kernel: &'static str,
    /// The compiler.
    pub compiler: &'static str,
    /// CPU seconds without instrumentation.
    pub plain: f64,
    /// CPU seconds with the compiler's ThreadSanitizer.
    pub tsan: f64,
    /// CPU seconds recording to a file, threads running free.
    pub parallel: f64,
    /// Bytes of the parallel trace, and how many accesses the program made, in one round.
    pub bytes: u64,
    /// Accesses in one round.
    pub accesses: u64,
    /// Accesses per CPU second of a serial recording of one round.
    pub serial_rate: f64,
    /// Events per CPU second of the reader, over the parallel and the serial trace.
    pub read_rates: [f64; 2],
}

/// Measures one kernel with one compiler.
pub fn kernel(
    place: &Place,
    kernel: &Kernel,
    compiler: &Compiler,
    runs: usize,
) -> Result<Row, String> {
    let variants = place.build(kernel.name, compiler)?;
    let trace = place.work.join("trace.dht");
    let [mut plain, mut tsan, mut parallel] = [f64::MAX; 3];
    for _ in 0..runs {
        plain = plain.min(cpu_of(&variants.plain, kernel.rounds, None)?);
        tsan = tsan.min(cpu_of(&variants.tsan, kernel.rounds, None)?);
        parallel = parallel.min(cpu_of(
            &variants.ours,
            kernel.rounds,
            Some((&trace, "parallel")),
        )?);
    }
    cpu_of(&variants.ours, "1", Some((&trace, "parallel")))?;
    let one_round = reading::read(&trace, runs)?;
    let mut serial = f64::MAX;
    for _ in 0..runs {
        serial = serial.min(cpu_of(&variants.ours, "1", Some((&trace, "serial")))?);
    }
    let exact = reading::read(&trace, runs)?;
    remove(&trace);
    Ok(Row {
        kernel: kernel.name,
        compiler: compiler.name,
        plain,
        tsan,
        parallel,
        bytes: one_round.bytes,
        accesses: exact.accesses,
        serial_rate: exact.accesses as f64 / serial,
        read_rates: [one_round.rate, exact.rate],
    })
}

/// Nanoseconds of a hook: for an access that the filter has, and for one that is recorded.
pub fn hook(place: &Place) -> Result<[f64; 2], String> {
    let program = place.build_ours("hook", &GCC)?;
    let trace = place.work.join("trace.dht");
    let mut best = [f64::MAX; 2];
    for _ in 0..3 {
        remove(&trace);
        let output = recording(Command::new(&program), &trace, "parallel")
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut figures = text
            .split_whitespace()
            .filter_map(|word| word.parse::<f64>().ok());
        for figure in &mut best {
            let next = figures
                .next()
                .ok_or(format!("{}: printed {text:?}", program.display()))?;
            *figure = figure.min(next);
        }
    }
    remove(&trace);
    Ok(best)
}

/// Records a program with this argument: one round of a kernel, with `1`.
pub fn record_once(program: &Path, argument: &str, trace: &Path, mode: &str) -> Result<(), String> {
    cpu_of(program, argument, Some((trace, mode))).map(drop)
}

/// Removes a trace, and what lies beside it.
pub fn remove(trace: &Path) {
    let _ = std::fs::remove_file(trace);
    let _ = std::fs::remove_file(PathBuf::from(format!("{}.live", trace.display())));
}

/// A run that is recorded.
pub fn recording(mut command: Command, trace: &Path, mode: &str) -> Command {
    command
        .env("DEADHEAT_TRACE", trace)
        .env("DEADHEAT_OPTIONS", format!("mode={mode}:seed=1"));
    command
}

/// CPU seconds (user and system) of a run.
fn cpu_of(program: &Path, rounds: &str, trace: Option<(&Path, &str)>) -> Result<f64, String> {
    let mut command = Command::new(program);
    command.arg(rounds);
    if let Some((trace, mode)) = trace {
        remove(trace);
        command = recording(command, trace, mode);
    }
    cpu_of_command(command)
}

/// CPU seconds (user and system) of a command that must succeed; what it prints is not shown.
pub fn cpu_of_command(mut command: Command) -> Result<f64, String> {
    // With Rust's standard library, which is not instrumented, ThreadSanitizer has false alarms.
    // It looks for races all the same, but does not spend time on telling them.
    command
        .env("TSAN_OPTIONS", "report_bugs=0")
        .stdout(Stdio::null());
    let before = children();
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{command:?}: {status}"));
    }
    Ok(children() - before)
}

/// CPU seconds of all children that have ended.
pub fn children() -> f64 {
    usage(libc::RUSAGE_CHILDREN)
}

/// CPU seconds of this process.
pub fn own() -> f64 {
    usage(libc::RUSAGE_SELF)
}

fn usage(who: i32) -> f64 {
    // SAFETY: zeroed numbers, and a valid place for the answer.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
