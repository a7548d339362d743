//! One `deadheat check` of each scenario beside runs under stock ThreadSanitizer: who finds what, and how long it takes.
//! As table 1 of "Interleaving Generation for Data Race and Deadlock Reproduction" (2015), with programs of our own.

pub mod reports;
mod table;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deadheat_oracle::{Oracle, read_folder};

use self::reports::{Report, Score, confirmed, errors, of_check, of_tsan, score};
use crate::kernel::Place;

/// Programs that give ThreadSanitizer the lines of its frames. It does not always find them by itself.
const SYMBOLIZERS: [&str; 2] = [
    "/usr/lib/llvm-19/bin/llvm-symbolizer",
    "/usr/bin/llvm-symbolizer",
];

/// A run that takes longer than this hangs.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// What was found out about one scenario with one compiler.
pub struct Row {
    /// The scenario: its language and name.
    pub name: String,
    /// The compiler.
    pub compiler: &'static str,
    /// How many errors it has.
    pub errors: usize,
    /// What one run under ThreadSanitizer said.
    pub once: Score,
    /// What all runs said.
    pub often: Score,
    /// How many of the runs hung.
    pub hung: usize,
    /// What `deadheat check` said.
    pub check: Score,
    /// How many errors `deadheat check` confirmed.
    pub confirmed: usize,
    /// Seconds of a run under ThreadSanitizer that did not hang, on average.
    pub tsan: f64,
    /// Seconds of `deadheat check`.
    pub checked: f64,
}

/// Measures all scenarios; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let programs = place.kernels.join("../../programs");
    let mut rows = Vec::new();
    for folder in ["scenarios", "rust/scenarios/src/bin"] {
        let oracles = read_folder(programs.join(folder)).map_err(|error| error.to_string())?;
        for oracle in oracles {
            for &compiler in compilers(&oracle.path) {
                eprintln!("bench: {} with {compiler}", oracle.path.display());
                rows.push(row(place, &oracle, compiler, runs)?);
            }
        }
    }
    Ok(table::render(&rows, runs))
}

/// What a source file's name ends with.
pub fn extension(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or("")
}

fn compilers(path: &Path) -> &'static [&'static str] {
    match extension(path) {
        "c" => &["gcc", "clang-19"],
        "cpp" => &["g++", "clang++-19"],
        _ => &["rustc"],
    }
}

/// One program with one compiler.
pub fn row(
    place: &Place,
    oracle: &Oracle,
    compiler: &'static str,
    runs: usize,
) -> Result<Row, String> {
    let name = oracle
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let stem = oracle.path.file_stem().unwrap_or_default();
    let work = std::path::absolute(&place.work).map_err(|error| error.to_string())?;
    let [tsan, ours] = ["tsan", "ours"].map(|kind| work.join(format!("{name}-{compiler}-{kind}")));
    build(with_tsan(compiler), oracle, &tsan)?;
    build(with_ours(place, compiler)?, oracle, &ours)?;

    let mut all: BTreeSet<Report> = BTreeSet::new();
    let (mut once, mut hung, mut took) = (Score::default(), 0, Duration::ZERO);
    for number in 0..runs.max(1) {
        let run = run(Command::new(&tsan), &work, PATIENCE)?;
        all.extend(of_tsan(&run.said, &name));
        if number == 0 {
            once = score(oracle, &all);
        }
        match run.hung {
            true => hung += 1,
            false => took += run.took,
        }
    }
    let mut check = Command::new(std::path::absolute(&place.deadheat).map_err(|e| e.to_string())?);
    check
        .args(["check", "--format", "json"])
        .arg(&ours)
        .env("NO_COLOR", "1")
        .current_dir(&work);
    let checked = Instant::now();
    let output = check
        .output()
        .map_err(|error| format!("{check:?}: {error}"))?;
    let checked = checked.elapsed().as_secs_f64();
    let printed = String::from_utf8_lossy(&output.stdout);
    let _ = std::fs::remove_dir_all(work.join(".deadheat"));
    for program in [&tsan, &ours] {
        let _ = std::fs::remove_file(program);
    }
    Ok(Row {
        name: format!("{} {}", language(&oracle.path), stem.to_string_lossy()),
        compiler,
        errors: errors(oracle),
        once,
        often: score(oracle, &all),
        hung,
        check: score(oracle, &of_check(&printed, &name)?),
        confirmed: score(oracle, &confirmed(&printed, &name)?).found,
        tsan: took.as_secs_f64() / (runs.max(1) - hung).max(1) as f64,
        checked,
    })
}

/// What a source file is written in.
pub fn language(path: &Path) -> &'static str {
    match extension(path) {
        "c" => "C",
        "cpp" => "C++",
        _ => "Rust",
    }
}

/// A compiler with its own ThreadSanitizer.
pub fn with_tsan(compiler: &str) -> Command {
    let mut command = Command::new(compiler);
    match compiler {
        "rustc" => command.env("RUSTC_BOOTSTRAP", "1").args([
            "-Zsanitizer=thread",
            "-Cunsafe-allow-abi-mismatch=sanitizer",
        ]),
        _ => command.arg("-fsanitize=thread"),
    };
    command
}

/// A compiler with Deadheat.
pub fn with_ours(place: &Place, compiler: &str) -> Result<Command, String> {
    let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
    let mut command = Command::new(deadheat);
    match compiler {
        "rustc" => command.arg("rustc"),
        "g++" | "clang++-19" => command.args(["c++", "--compiler", compiler]),
        _ => command.args(["cc", "--compiler", compiler]),
    };
    Ok(command)
}

/// Builds a program without optimisation, as its marks are meant.
pub fn build(mut command: Command, oracle: &Oracle, program: &Path) -> Result<(), String> {
    match extension(&oracle.path) {
        "rs" => command.args(["-g", "--edition=2024"]),
        _ => command
            .args(["-O0", "-g", "-pthread", "-w"])
            .args(&oracle.directives.cflags),
    };
    command.arg(&oracle.path).arg("-o").arg(program);
    command.args(&oracle.directives.ldlibs);
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// A run of a program.
pub struct Run {
    /// What it said on standard error.
    pub said: String,
    /// How long it took.
    pub took: Duration,
    /// Whether it had to be ended.
    pub hung: bool,
    /// The most memory that it had, in bytes.
    pub memory: u64,
}

/// The most memory that a process has had so far.
fn memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let most = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = most.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Runs a program, with ThreadSanitizer set up in case that it has one.
pub fn run(mut command: Command, work: &Path, patience: Duration) -> Result<Run, String> {
    let failed = |error: std::io::Error| format!("{error}");
    let told: PathBuf = work.join("said");
    let file = File::create(&told).map_err(failed)?;
    let mut options = "detect_deadlocks=1:exitcode=0".to_owned();
    if let Some(symbolizer) = SYMBOLIZERS.iter().find(|path| Path::new(path).exists()) {
        options += &format!(":external_symbolizer_path={symbolizer}");
    }
    if !command.get_envs().any(|(name, _)| name == "TSAN_OPTIONS") {
        command.env("TSAN_OPTIONS", options);
    }
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(failed)?;
    let mut most = 0;
    let hung = loop {
        most = most.max(memory(child.id()).unwrap_or(0));
        if child.try_wait().map_err(failed)?.is_some() {
            break false;
        }
        if started.elapsed() > patience {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            break true;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let took = started.elapsed();
    let said = std::fs::read(&told).map_err(failed)?;
    Ok(Run {
        said: String::from_utf8_lossy(&said).into_owned(),
        took,
        hung,
        memory: most,
    })
}
