//! What it costs to run a program into a finding again, against recording it; and a whole `check` against runs under stock
//! ThreadSanitizer.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::kernel::{COMPILERS, KERNELS, Language, Place};
use crate::measure::children;

/// How many rounds the way to the race has.
const ROUNDS: [&str; 3] = ["100", "1000", "10000"];
/// The exit code of a replay that came to its finding, and of a check that found something.
const FOUND: i32 = 66;

/// Measures; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut text = String::from(
        "## Replaying\n\nCPU time of whole processes, the best of several runs: `deadheat record --serial` of `bench/kernels/late_race.c`, in which two threads race after many \
         rounds under a lock; and `deadheat replay` of the race's witness, which plans, runs the program by the schedule with every step compared, and ends \
         it where both threads stand.\n\n| compiler | events before the race | recording | replay | replay / recording |\n|---|---|---|---|---|\n",
    );
    let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
    for compiler in COMPILERS.iter().filter(|one| one.language == Language::C) {
        let program = place.build("late_race", compiler)?.ours;
        for rounds in ROUNDS {
            eprintln!("bench: replaying {rounds} rounds with {}", compiler.name);
            let [recorded, replayed, events] =
                replay(&deadheat, &program, rounds, &place.work, runs)?;
            let ratio = replayed / recorded;
            let _ = writeln!(
                text,
                "| {} | {events:.0} | {recorded:.3} s | {replayed:.3} s | **{ratio:.2}** |",
                compiler.name
            );
        }
    }
    text.push_str(
        "\nWall time of one `deadheat check` of a kernel (one round; nothing is found), and of 100 runs of it under the compiler's own \
         ThreadSanitizer (5 were measured).\n\n| kernel | compiler | check | 100 runs of TSan | ratio |\n|---|---|---|---|---|\n",
    );
    for compiler in COMPILERS.iter().filter(|one| one.language == Language::C) {
        for kernel in KERNELS.iter().filter(|one| one.language == Language::C) {
            eprintln!("bench: checking {} with {}", kernel.name, compiler.name);
            let variants = place.build(kernel.name, compiler)?;
            let started = Instant::now();
            for _ in 0..5 {
                succeeds(Command::new(&variants.tsan).arg("1"), &[0])?;
            }
            let tsan = started.elapsed().as_secs_f64() * 20.0;
            let ours = std::path::absolute(&variants.ours).map_err(|error| error.to_string())?;
            let started = Instant::now();
            let mut check = Command::new(&deadheat);
            check
                .arg("check")
                .arg(&ours)
                .arg("1")
                .current_dir(&place.work);
            succeeds(&mut check, &[0, 5, FOUND])?;
            let checked = started.elapsed().as_secs_f64();
            let _ = std::fs::remove_dir_all(place.work.join(".deadheat"));
            let ratio = checked / tsan;
            let _ = writeln!(
                text,
                "| {} | {} | {checked:.1} s | {tsan:.1} s | **{ratio:.2}** |",
                kernel.name, compiler.name
            );
        }
    }
    Ok(text)
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
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.code() {
        Some(code) if codes.contains(&code) => Ok(children() - before),
        _ => Err(format!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
