//! What it costs to run a program into a finding again, against recording it; to enforce synchronisation only, and a whole `check`,
//! against runs under stock ThreadSanitizer.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::coarse;
use crate::kernel::{COMPILERS, Compiler, KERNELS, Language, Place};
use crate::measure::children;

/// How many rounds the way to the race has.
const ROUNDS: [&str; 3] = ["100", "1000", "10000"];
/// The same where only synchronisation is enforced, for the time of a run that can be measured.
const ROUNDS_COARSE: &str = "50000";
/// A kernel's argument, for checks and for ThreadSanitizer.
const ROUNDS_OF_KERNELS: &str = "1";
/// So many runs under ThreadSanitizer are measured; the time of a hundred is told.
const RUNS_OF_TSAN: u32 = 10;
/// The exit code of a replay that came to its finding, and of a check that found something.
const FOUND: i32 = 66;

/// Measures; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut text = String::from("## Replaying and checking\n\n");
    let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
    fine(place, &deadheat, runs, &mut text)?;
    coarse_runs(place, runs, &mut text)?;
    checks(place, &deadheat, &mut text)?;
    Ok(text)
}

fn compilers() -> impl Iterator<Item = &'static Compiler> {
    COMPILERS.iter().filter(|one| one.language == Language::C)
}

/// Replays with every step compared, against recording.
fn fine(place: &Place, deadheat: &Path, runs: usize, text: &mut String) -> Result<(), String> {
    let _ = writeln!(
        text,
        "CPU time of whole processes at `-O2`, the best of {runs} runs: `deadheat record --serial` of `bench/kernels/late_race.c`, in which \
         two threads race after\nmany rounds under a lock; and `deadheat replay` of the race's witness, which plans, runs the program by the schedule \
         with every step compared,\nand ends it where both threads stand. (Goal: at most 3.)\n\n\
         | compiler | events before the race | recording | replay | replay / recording |\n|---|---|---|---|---|"
    );
    for compiler in compilers() {
        let program = place.build("late_race", compiler)?.ours;
        for rounds in ROUNDS {
            eprintln!("bench: replaying {rounds} rounds with {}", compiler.name);
            let [recorded, replayed, events] =
                replay(deadheat, &program, rounds, &place.work, runs)?;
            let ratio = replayed / recorded;
            let _ = writeln!(
                text,
                "| {} | {events:.0} | {recorded:.3} s | {replayed:.3} s | **{ratio:.2}** |",
                compiler.name
            );
        }
    }
    Ok(())
}

/// Runs with synchronisation enforced only, against ThreadSanitizer.
fn coarse_runs(place: &Place, runs: usize, text: &mut String) -> Result<(), String> {
    let _ = writeln!(
        text,
        "\nThe same program, {ROUNDS_COARSE} rounds, recorded in parallel; CPU time of its run under the compiler's own ThreadSanitizer, \
         watched by Deadheat,\nand watched with the schedule of synchronisation enforced that leads to the race (what \
         `deadheat predict --method interleave --enforce` does once for each\nschedule). (Goal: at most 2.)\n\n\
         | compiler | enforced events | switches | TSan | watched | enforced | enforced / TSan |\n|---|---|---|---|---|---|---|"
    );
    for compiler in compilers() {
        eprintln!("bench: enforcing synchronisation with {}", compiler.name);
        let variants = place.build("late_race", compiler)?;
        let row = coarse::measure(&variants, ROUNDS_COARSE, &place.work, runs)?;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.3} s | {:.3} s | {:.3} s | **{:.2}** |",
            compiler.name,
            row.events,
            row.switches,
            row.tsan,
            row.watched,
            row.enforced,
            row.enforced / row.tsan
        );
    }
    Ok(())
}

/// Whole checks, against a hundred runs under ThreadSanitizer.
fn checks(place: &Place, deadheat: &Path, text: &mut String) -> Result<(), String> {
    let _ = writeln!(
        text,
        "\nWall time of one `deadheat check` of a kernel, and of 100 runs of it under the compiler's own ThreadSanitizer ({RUNS_OF_TSAN} \
         were measured, half before\nand half behind); the kernel's argument is {ROUNDS_OF_KERNELS} for both, and nothing is found. (Goal: less than 1.)\n\n\
         | kernel | compiler | events | check | 100 runs of TSan | ratio |\n|---|---|---|---|---|---|"
    );
    for compiler in compilers() {
        for kernel in KERNELS.iter().filter(|one| one.language == Language::C) {
            eprintln!("bench: checking {} with {}", kernel.name, compiler.name);
            let variants = place.build(kernel.name, compiler)?;
            let half = || -> Result<f64, String> {
                let started = Instant::now();
                for _ in 0..RUNS_OF_TSAN / 2 {
                    succeeds(Command::new(&variants.tsan).arg(ROUNDS_OF_KERNELS), &[0])?;
                }
                Ok(started.elapsed().as_secs_f64())
            };
            let before = half()?;
            let ours = std::path::absolute(&variants.ours).map_err(|error| error.to_string())?;
            let mut check = Command::new(deadheat);
            check
                .arg("check")
                .arg(&ours)
                .arg(ROUNDS_OF_KERNELS)
                .current_dir(&place.work);
            let started = Instant::now();
            let output = output(&mut check, &[0, 5])?;
            let checked = started.elapsed().as_secs_f64();
            let tsan = (before + half()?) * 100.0 / f64::from(RUNS_OF_TSAN);
            let _ = std::fs::remove_dir_all(place.work.join(".deadheat"));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {checked:.1} s | {tsan:.1} s | **{:.2}** |",
                kernel.name,
                compiler.name,
                told(&output, "events").ok_or("a check that tells no events")?,
                checked / tsan
            );
        }
    }
    Ok(())
}

/// The figure of this name that a command has printed.
fn told(output: &str, name: &str) -> Option<String> {
    let mut lines = output.lines().filter_map(|line| line.strip_prefix(name));
    let figure = lines.find(|rest| rest.starts_with(' '))?;
    Some(figure.trim().to_owned())
}

/// CPU seconds of recording and of replaying, and how many events there are before the race.
fn replay(
    deadheat: &Path,
    program: &Path,
    rounds: &str,
    work: &Path,
    runs: usize,
) -> Result<[f64; 3], String> {
    let program = std::path::absolute(program).map_err(|error| error.to_string())?;
    let folder = work.join("replayed");
    let command = |args: &[&str]| {
        let mut command = Command::new(deadheat);
        command.args(args).current_dir(&folder);
        command
    };
    let (mut recorded, mut replayed) = (f64::MAX, f64::MAX);
    for _ in 0..runs {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut record = command(&["record", "--serial", "-o", "trace.dht", "--"]);
        recorded = recorded.min(succeeds(record.arg(&program).arg(rounds), &[0])?);
    }
    succeeds(&mut command(&["predict", "trace.dht"]), &[FOUND])?;
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let is_witness = |name: &str| name.starts_with("witness-");
    let witness = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| is_witness(name))
        .ok_or("no witness of the late race")?;
    for _ in 0..runs {
        replayed = replayed.min(succeeds(&mut command(&["replay", &witness]), &[FOUND])?);
    }
    let text = std::fs::read_to_string(folder.join(&witness)).map_err(|error| error.to_string())?;
    let events = first_next(&text).ok_or("a witness without its events")?;
    let _ = std::fs::remove_dir_all(&folder);
    Ok([recorded, replayed, events])
}

/// The position of the first of a witness's events.
fn first_next(witness: &str) -> Option<f64> {
    let (_, next) = witness.split_once("\"next\":[{\"index\":")?;
    next.split(',').next()?.parse().ok()
}

/// CPU seconds of a command that must end with one of these codes; what it prints is not shown.
fn succeeds(command: &mut Command, codes: &[i32]) -> Result<f64, String> {
    let before = children();
    output(command, codes)?;
    Ok(children() - before)
}

/// What a command prints that must end with one of these codes.
fn output(command: &mut Command, codes: &[i32]) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.code() {
        Some(code) if codes.contains(&code) => Ok(shown(&output.stdout)),
        _ => Err(format!(
            "{command:?}: {}\n{}",
            output.status,
            shown(&output.stderr)
        )),
    }
}
