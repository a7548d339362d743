//! Every program of `programs/`, built by the wrapper with each compiler and recorded in each
//! mode: it behaves as its text says, its trace is one, and the races that happens-before finds in it
//! are those that the text marks. What `check` finds is confirmed, and replays every time. What belongs to a Cargo package is
//! built by `cargo deadheat`.
//!
//! One test per program, compiler and mode, named so: `zoo/c/mutex_race/gcc-O1/serial`, or
//! `rust/zoo/mutex_race/rustc/serial`.

mod support;

use std::path::Path;
use std::process::Output;

use deadheat_oracle::{CargoTarget, Oracle, TargetKind, read_folder};
use deadheat_trace::file::TraceFile;
use deadheat_trace::verify::Severity;
use deadheat_trace::{Step, Steps, verify};
use libtest_mimic::{Arguments, Failed, Trial};
use support::verdict::{Lines, agree, complete};
use support::{Sandbox, compilers};

/// How a program is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Parallel,
    /// On green contexts.
    Serial,
    /// On kernel threads that pass a token.
    Real,
    /// Not recorded, but watched as it runs.
    Watch,
    /// Recorded, and what that proves enforced on it.
    Check,
    /// All its schedules are searched.
    Explore,
}

/// What one test does.
#[derive(Clone, Debug)]
struct Case {
    oracle: Oracle,
    compiler: &'static str,
    level: &'static str,
    mode: Mode,
}

/// Longer than any of the programs takes; one that deadlocks is stopped then.
const SECONDS: &str = "20";

fn main() {
    let arguments = Arguments::from_args();
    let trials = cases()
        .into_iter()
        .map(|(name, case)| Trial::test(name, move || case.run().map_err(Failed::from)));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn cases() -> Vec<(String, Case)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let oracles = read_folder(&top).unwrap_or_else(|error| panic!("{error}"));
    let programs = oracles
        .iter()
        .filter(|oracle| oracle.directives.part_of.is_none());
    let compilers = compilers();
    let mut cases = Vec::new();
    for oracle in programs {
        if let Some(target) = oracle.cargo_target() {
            cases.extend(cargo_cases(oracle, &target));
            continue;
        }
        let name = oracle.path.strip_prefix(&top).unwrap().with_extension("");
        for &compiler in &compilers {
            for (level, mode) in ways(&name, compiler) {
                let case = Case {
                    oracle: oracle.clone(),
                    compiler,
                    level,
                    mode,
                };
                let mode = format!("{mode:?}").to_lowercase();
                let kind = compiler.split('-').next().unwrap_or(compiler);
                cases.push((format!("{}/{kind}{level}/{mode}", name.display()), case));
            }
        }
    }
    cases
}

/// What Cargo can run, in all modes; libraries and tests are no programs.
fn cargo_cases(oracle: &Oracle, target: &CargoTarget) -> Vec<(String, Case)> {
    if !matches!(target.kind, TargetKind::Program | TargetKind::Example) {
        return Vec::new();
    }
    let case = |mode: Mode| {
        let mode_name = format!("{mode:?}").to_lowercase();
        let name = format!("rust/{}/{}/rustc/{mode_name}", target.package, target.name);
        let case = Case {
            oracle: oracle.clone(),
            compiler: "rustc",
            level: "",
            mode,
        };
        (name, case)
    };
    let modes = [
        Mode::Parallel,
        Mode::Serial,
        Mode::Real,
        Mode::Watch,
        Mode::Check,
        Mode::Explore,
    ];
    modes.map(case).into()
}

/// How often each confirmed finding is replayed.
const REPLAYS: &str = "20";

/// The names of the findings of a report. All that is proven must be confirmed.
fn confirmed(report: &str) -> Result<Vec<String>, String> {
    let report: serde_json::Value =
        serde_json::from_str(report).map_err(|error| error.to_string())?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let sure = findings.iter().filter(|one| one["rung"] != "observed");
    sure.map(|finding| match finding["rung"].as_str() {
        Some("confirmed") => Ok(finding["id"].as_str().unwrap_or_default().to_owned()),
        _ => Err(format!("not confirmed: {finding:#}")),
    })
    .collect()
}

/// Whether findings are reached so many times out of so many.
fn replays(here: &Sandbox, findings: &[String], times: &str) -> Result<(), String> {
    for id in findings {
        let mut replay = here.deadheat(["replay", id, "--times", times]);
        let output = replay.output().map_err(|error| error.to_string())?;
        let stood = format!("{times} of {times} times");
        if !String::from_utf8_lossy(&output.stderr).contains(&stood) {
            return Err(told(&output, &format!("{id} was not always reached")));
        }
    }
    Ok(())
}

/// Programs with an error on another path than that of most runs, which prediction does not see.
const ELSEWHERE: [&str; 2] = ["claim_race", "signal_one_deadlock"];

/// The same after the papers' tables, where a search of the schedules with this argument is short and finds all.
const ON_OTHER_PATHS: [(&str, &str); 8] = [
    ("airline", "2"),
    ("bubble_sort", "2"),
    ("crawler", "3"),
    ("downloader", "3"),
    ("merge_sort", "4"),
    ("multipole", "8"),
    ("quick_sort", "4"),
    ("ray_tracer", "3"),
];

/// How many schedules of these are enough: twice as many as any of them needs.
const EXECUTIONS: &str = "1000";

/// The argument with which all races of such a program are searched for.
fn on_other_paths(program: &Path) -> Option<&'static str> {
    let stem = program.file_stem()?;
    let mut all = ON_OTHER_PATHS.iter();
    all.find(|(name, _)| stem == *name).map(|(_, size)| *size)
}

/// All programs at -O1 in both modes; the papers' and some others also at -O0, at -O2, and with
/// real threads. Scenarios are about what one run shows. Those after the papers' tables are long: they are
/// watched and checked with one compiler, and recorded with the other; where `check` cannot find all, they are explored.
fn ways(name: &Path, compiler: &str) -> Vec<(&'static str, Mode)> {
    if name.starts_with("scenarios") {
        return match compiler {
            "gcc" => vec![
                ("-O0", Mode::Serial),
                ("-O0", Mode::Watch),
                ("-O0", Mode::Check),
                ("-O0", Mode::Explore),
            ],
            _ => vec![("-O1", Mode::Serial)],
        };
    }
    if name.starts_with("papers/tables") {
        return match compiler {
            "gcc" if on_other_paths(name).is_some() => {
                vec![
                    ("-O0", Mode::Watch),
                    ("-O0", Mode::Check),
                    ("-O0", Mode::Explore),
                ]
            }
            "gcc" => vec![("-O0", Mode::Watch), ("-O0", Mode::Check)],
            _ => vec![("-O1", Mode::Serial), ("-O2", Mode::Serial)],
        };
    }
    let mut ways = vec![
        ("-O1", Mode::Parallel),
        ("-O1", Mode::Serial),
        ("-O0", Mode::Watch),
    ];
    let chosen = name.starts_with("papers") || compiler == "gcc";
    if chosen {
        ways.push(("-O0", Mode::Serial));
        ways.push(("-O0", Mode::Check));
        ways.push(("-O1", Mode::Real));
        if compiler == "gcc" {
            ways.push(("-O0", Mode::Explore));
        }
    }
    if name.starts_with("papers") {
        ways.push(("-O2", Mode::Serial));
    }
    ways
}

impl Case {
    fn run(&self) -> Result<(), String> {
        let here = Sandbox::new();
        match self.oracle.cargo_target() {
            Some(target) => build_with_cargo(&here, &target)?,
            None => self.build(&here)?,
        }
        if self.mode == Mode::Watch {
            return self.watch(&here);
        }
        if self.mode == Mode::Check {
            return self.check(&here);
        }
        if self.mode == Mode::Explore {
            return self.explore(&here);
        }
        let first = self.record(&here, "trace.dht")?;
        self.predicts(&here, "trace.dht")?;
        match self.repeats() {
            true => self.repeat(&here, &first, 1),
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
        let other_process = name.starts_with("fork");
        match self.mode {
            Mode::Parallel | Mode::Watch | Mode::Check | Mode::Explore => false,
            Mode::Serial => !other_process,
            Mode::Real => !other_process && !name.contains("signal_handler"),
        }
    }

    fn build(&self, here: &Sandbox) -> Result<(), String> {
        let source = self
            .oracle
            .path
            .canonicalize()
            .map_err(|error| error.to_string())?;
        let folder = source.parent().ok_or("no folder")?;
        let directives = &self.oracle.directives;
        let command = match source
            .extension()
            .is_some_and(|extension| extension == "cpp")
        {
            true => "c++",
            false => "cc",
        };
        let compile = || {
            let mut compile = here.deadheat([command, "--compiler", self.compiler, self.level]);
            compile.args(["-pthread"]).args(&directives.cflags);
            compile
        };
        for extra in &directives.also {
            let mut library = compile();
            library
                .args(["-shared", "-fPIC"])
                .arg(folder.join(&extra.source));
            succeeds(library.args(["-o", &extra.output]))?;
        }
        let mut program = compile();
        program
            .arg(&source)
            .args(["-o", "prog"])
            .args(&directives.ldlibs);
        succeeds(&mut program)
    }

    /// Records the program, checks what it did and what it left, and returns its steps.
    fn record(&self, here: &Sandbox, name: &str) -> Result<Vec<Step>, String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", SECONDS, support::DEADHEAT, "record", "-o", name]);
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

    /// Watches the program: it does what it does without, and what is found is marked in its text.
    fn watch(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", SECONDS, support::DEADHEAT, "watch"]);
        command.args(["--exit-code-from-program", "--format", "json"]);
        command.args(["-o", "found.json", "--", "./prog"]);
        command.args(&self.oracle.directives.run);
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.code() == Some(124) && !self.oracle.deadlocks.is_empty() {
            return Ok(());
        }
        self.behaves(&output)?;
        let found = std::fs::read_to_string(here.path().join("found.json"));
        let found = found.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &found, self.lines()).map(drop)
    }

    /// Checks the program: what is proven is marked in its text and stands when it is enforced, every time.
    fn check(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", "120", support::DEADHEAT, "check"]);
        command.args(["--format", "json", "-o", "found.json"]);
        command.args(["--budget", "2s", "--growth", "1s", "--", "./prog"]);
        command.args(&self.oracle.directives.run);
        let output = command.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 5 | 66)) {
            return Err(told(&output, "check failed"));
        }
        let report = std::fs::read_to_string(here.path().join("found.json"));
        let report = report.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &report, self.lines())?;
        if self.shows_all() {
            complete(&self.oracle, &report, self.lines())?;
        }
        replays(here, &confirmed(&report)?, REPLAYS)
    }

    /// Searches the program's schedules: what is found is marked in its text and replays; if all were seen, what is marked is found.
    fn explore(&self, here: &Sandbox) -> Result<(), String> {
        let mut command = here.command("timeout");
        command.args(["-k", "2", "120", support::DEADHEAT, "explore"]);
        command.args(["--format", "json", "-o", "found.json"]);
        let smallest = on_other_paths(&self.oracle.path).filter(|_| self.is_of_tables());
        match smallest {
            Some(size) => command
                .args(["--search-time", "100s", "--executions", EXECUTIONS])
                .args(["--", "./prog", size]),
            None => command
                .args(["--search-time", "2s", "--", "./prog"])
                .args(&self.oracle.directives.run),
        };
        let output = command.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 5 | 66)) {
            return Err(told(&output, "explore failed"));
        }
        let report = std::fs::read_to_string(here.path().join("found.json"));
        let report = report.map_err(|error| told(&output, &error.to_string()))?;
        agree(&self.oracle, &report, self.lines())?;
        let figures: serde_json::Value =
            serde_json::from_str(&report).map_err(|error| error.to_string())?;
        let is_exhausted = figures["stats"]["exhausted"] == true && self.is_scenario();
        if is_exhausted || smallest.is_some() {
            complete(&self.oracle, &report, self.lines())?;
        }
        let failures = figures["findings"].as_array().into_iter().flatten();
        let mut failures = failures.filter(|finding| finding["kind"] == "failure");
        if self.oracle.races.is_empty()
            && let Some(failure) = failures.next()
        {
            return Err(format!("a failure that is not expected: {failure:#}"));
        }
        replays(here, &confirmed(&report)?, "3")
    }

    fn lines(&self) -> Lines {
        match self.level {
            "-O0" => Lines::Exact,
            _ => Lines::Near,
        }
    }

    /// What happens-before finds in the trace, and what the trace proves if its order is exact, is
    /// marked in the program's text.
    fn predicts(&self, here: &Sandbox, name: &str) -> Result<(), String> {
        let methods = match self.mode {
            Mode::Serial => "hb,maximal",
            _ => "hb",
        };
        let mut predict = here.deadheat(["predict", name, "--method", methods, "--format", "json"]);
        predict.args(["--budget", "2s", "--growth", "1s"]);
        let output = predict.output().map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(0 | 66)) {
            return Err(told(&output, "predict failed"));
        }
        let report = String::from_utf8_lossy(&output.stdout);
        agree(&self.oracle, &report, self.lines())?;
        match self.shows_all() {
            true => complete(&self.oracle, &report, self.lines()),
            false => Ok(()),
        }
    }

    /// Whether everything that is marked is found: by what one run of the program proves, or by all that `check` does.
    fn shows_all(&self) -> bool {
        let path = &self.oracle.path;
        let is_elsewhere = ELSEWHERE
            .iter()
            .any(|name| path.file_stem().is_some_and(|stem| stem == *name));
        let is_seen = match self.mode {
            Mode::Serial => self.is_scenario() && !is_elsewhere,
            Mode::Check if self.is_of_tables() => !is_elsewhere && on_other_paths(path).is_none(),
            Mode::Check => self.is_scenario(),
            _ => false,
        };
        is_seen && self.level != "-O1"
    }

    fn is_of_tables(&self) -> bool {
        let folder = self.oracle.path.parent();
        folder.is_some_and(|folder| folder.ends_with("papers/tables"))
    }

    fn is_scenario(&self) -> bool {
        let mut parts = self.oracle.path.components();
        parts.any(|part| part.as_os_str() == "scenarios")
    }

    fn behaves(&self, output: &Output) -> Result<(), String> {
        let directives = &self.oracle.directives;
        if output.status.code() != Some(directives.exit) {
            return Err(told(
                output,
                &format!("expected exit code {}", directives.exit),
            ));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        match &directives.stdout {
            Some(expected) if *expected != printed => Err(told(
                output,
                &format!("expected on standard output: {expected:?}"),
            )),
            _ => Ok(()),
        }
    }

    /// Whether all code that writes what the program reads is instrumented. The C++ library is
    /// not, and clang leaves out writes to a variable whose address nobody has yet.
    fn sees_every_write(&self) -> bool {
        self.compiler == "gcc" && self.oracle.path.extension().is_some_and(|e| e == "c")
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

/// Puts a program of a Cargo package in place. The first test builds all of them.
fn build_with_cargo(here: &Sandbox, target: &CargoTarget) -> Result<(), String> {
    let top = target.folder.parent().ok_or("no folder")?;
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust");
    let folder = match target.kind {
        TargetKind::Example => "debug/examples",
        _ => "debug",
    };
    build_all_with_cargo(here, top, &built).map_err(|error| error.to_string())??;
    let programs = built.join("deadheat/x86_64-unknown-linux-gnu").join(folder);
    std::fs::copy(programs.join(&target.name), here.path().join("prog"))
        .map(drop)
        .map_err(|error| format!("{}: {error}", programs.display()))
}

/// Builds the Cargo workspace at `top`, unless that was done since it or Deadheat changed.
fn build_all_with_cargo(
    here: &Sandbox,
    top: &Path,
    built: &Path,
) -> std::io::Result<Result<(), String>> {
    std::fs::create_dir_all(built)?;
    let mut stamp = std::fs::File::options()
        .create(true)
        .read(true)
        .append(true)
        .open(built.join("built"))?;
    stamp.lock()?; // tests run side by side, in processes of their own
    let changed = newest(top)?.max(Path::new(support::DEADHEAT).metadata()?.modified()?);
    if stamp.metadata()?.len() > 0 && stamp.metadata()?.modified()? > changed {
        return Ok(Ok(()));
    }
    let mut build = here.deadheat(["cargo", "build", "--quiet", "--locked"]);
    build
        .args(["--workspace", "--bins", "--examples", "--manifest-path"])
        .arg(top.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", built);
    let outcome = succeeds(&mut build);
    if outcome.is_ok() {
        stamp.set_len(0)?;
        std::io::Write::write_all(&mut stamp, b"all\n")?;
    }
    Ok(outcome)
}

/// When anything in a folder was changed last; what is built there does not count.
fn newest(folder: &Path) -> std::io::Result<std::time::SystemTime> {
    let mut newest = folder.metadata()?.modified()?;
    for entry in folder.read_dir()? {
        let entry = entry?;
        let is_built = ["target", ".deadheat"]
            .iter()
            .any(|name| entry.file_name() == *name);
        newest = newest.max(match entry.file_type()?.is_dir() {
            _ if is_built => continue,
            true => self::newest(&entry.path())?,
            false => entry.metadata()?.modified()?,
        });
    }
    Ok(newest)
}

fn succeeds(command: &mut std::process::Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(told(&output, &format!("{command:?}"))),
    }
}

/// A problem, with what was printed.
fn told(output: &Output, problem: &str) -> String {
    format!(
        "{problem}\n{}\n--- stdout\n{}--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
