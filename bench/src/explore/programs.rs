//! The programs of `programs/explore`, recorded once each and explored from there, beside the paper's tables.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::paper::{self, Figure};
use super::run::run;
use crate::kernel::Place;

const PROGRAMS: [&str; 7] = [
    "our_tsp",
    "sort_array",
    "prime_finder",
    "elevsim",
    "dqueries",
    "hedc",
    "tsp",
];
const THREADS: [usize; 4] = [2, 3, 4, 8];
/// So many recordings are asked what happens-before sees in them.
const SEEDS: u32 = 10;
/// What is left out of the search, or not, in the columns of the second table.
const MANNERS: [&[&str]; 4] = [&[], &["--no-hint"], &["--with-first"], &["--no-snapshots"]];
/// For each warning.
const SEARCH: &str = "10s";
/// For all of them.
const PATIENCE: Duration = Duration::from_secs(30);

/// How one exploration went.
struct Explored {
    seconds: f64,
    megabytes: f64,
    executions: u64,
    confirmed: usize,
    warnings: usize,
    by_extension: usize,
    is_cut: bool,
}

/// A program with so many threads.
struct Row {
    program: &'static str,
    threads: usize,
    /// In how many recordings happens-before sees a race.
    seen: u32,
    /// One for each manner.
    explored: Vec<Explored>,
}

/// Measures all.
pub fn measure(place: &Place) -> Result<String, String> {
    let mut rows = Vec::new();
    for program in PROGRAMS {
        let binary = build(place, program)?;
        for threads in THREADS {
            eprintln!("bench: exploring {program} with {threads} threads");
            rows.push(row(place, program, &binary, threads)?);
        }
    }
    Ok(render(&rows))
}

fn build(place: &Place, program: &str) -> Result<String, String> {
    let source = place
        .kernels
        .join("../../programs/explore")
        .join(program)
        .with_extension("c");
    let binary = place.work.join(program);
    let mut command = Command::new(&place.deadheat);
    command
        .args(["cc", "-O0", "-g", "-pthread"])
        .arg(source)
        .arg("-o")
        .arg(&binary);
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(binary.to_string_lossy().into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Records with several seeds, and explores from the first recording in which happens-before sees nothing but there is a warning; from the first of all
/// if there is none.
fn row(place: &Place, program: &'static str, binary: &str, threads: usize) -> Result<Row, String> {
    let (mut seen, mut chosen) = (0, None);
    for seed in 1..=SEEDS {
        record(place, binary, threads, seed)?;
        let is_seen = count(place, "hb")? > 0;
        seen += u32::from(is_seen);
        if !is_seen && chosen.is_none() && count(place, "lockset,hybrid")? > 0 {
            chosen = Some(seed);
        }
    }
    record(place, binary, threads, chosen.unwrap_or(1))?;
    let explored = MANNERS.iter().map(|manner| explore(place, manner));
    Ok(Row {
        program,
        threads,
        seen,
        explored: explored.collect::<Result<_, String>>()?,
    })
}

fn deadheat(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(&place.deadheat);
    command.args(arguments);
    command
}

fn record(place: &Place, binary: &str, threads: usize, seed: u32) -> Result<(), String> {
    let _ = std::fs::remove_file(place.work.join("trace.dht"));
    let (seed, threads) = (seed.to_string(), threads.to_string());
    let arguments = [
        "record",
        "--serial",
        "--seed",
        &seed,
        "-o",
        "trace.dht",
        "--",
        binary,
        &threads,
    ];
    run(deadheat(place, &arguments), &place.work, PATIENCE)?;
    let is_there = Path::exists(&place.work.join("trace.dht"));
    is_there
        .then_some(())
        .ok_or_else(|| format!("{binary} was not recorded"))
}

/// How many races these methods name.
fn count(place: &Place, methods: &str) -> Result<usize, String> {
    let arguments = [
        "predict",
        "trace.dht",
        "--method",
        methods,
        "--format",
        "json",
    ];
    let report = run(deadheat(place, &arguments), &place.work, PATIENCE)?.report()?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    Ok(findings
        .iter()
        .filter(|finding| finding["kind"] == "race")
        .count())
}

fn explore(place: &Place, manner: &[&str]) -> Result<Explored, String> {
    let mut arguments = vec![
        "explore",
        "--no-predict",
        "--format",
        "json",
        "--search-time",
        SEARCH,
    ];
    arguments.extend(manner);
    arguments.push("trace.dht");
    let run = run(deadheat(place, &arguments), &place.work, PATIENCE)?;
    let mut explored = Explored {
        seconds: run.took.as_secs_f64(),
        megabytes: run.megabytes,
        executions: 0,
        confirmed: 0,
        warnings: 0,
        by_extension: 0,
        is_cut: run.is_cut,
    };
    if !run.is_cut {
        let report = run.report()?;
        let warnings = report["stats"]["warnings"].as_array().ok_or("no figures")?;
        for warning in warnings {
            explored.warnings += 1;
            explored.executions += warning["executions"].as_u64().unwrap_or(0);
            if warning["verdict"] == "confirmed" {
                explored.confirmed += 1;
                explored.by_extension += usize::from(warning["by_extension"] == true);
            }
        }
    }
    Ok(explored)
}

/// The tables.
fn render(rows: &[Row]) -> String {
    let mut text = format!(
        "The programs of `programs/explore`, written after table 1 of \"Scaling model checking of dataraces using dynamic information\" \
         (2007), with so many threads beside `main`. Shared data that does not race is locked in them, so few of their warnings are spurious: one that is can take \
         the whole search time. Each is recorded serially; of {SEEDS} seeds the first is taken in whose recording \
         happens-before sees no race, as in the paper (the first of all if there is none such, as for `tsp`). Then `deadheat explore --no-predict --search-time {SEARCH}` looks into every warning of \
         lockset and hybrid. Wall time of the whole command (analysis, search, enforcing and shrinking the witnesses); memory of the largest process, \
         the tool's or a copy of the program. The paper's figures are those of its model checker alone, for one witness, on a Xeon of 2.4 GHz with 2.5 GB, twenty years ago; its programs \
         were Java, 130 to 30 000 lines long, and other code. It has no figures for 8 threads, and gave up after a week.\n\n\
         | program | threads | hb sees it | confirmed | executions | time | memory | paper, table 3 |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let first = &row.explored[0];
        let figure = at(
            paper::rows(row.program).map(|rows| rows.with_hint),
            row.threads,
        );
        let told = match figure {
            Some(Ok((seconds, megabytes))) => format!("{seconds} s, {megabytes} MB"),
            Some(Err(why)) => why.to_owned(),
            None => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {}/{SEEDS} | {} | {} | **{}** | {:.0} MB | {told} |",
            row.program,
            row.threads,
            row.seen,
            verdict(first),
            first.executions,
            time(first),
            first.megabytes,
        );
    }
    text.push_str(
        "\n\"confirmed\": of how many warnings; \"ext.\": by extending the recorded run (figure 8 of the paper), without a search. Without parts of the method: \
         time and executions; beside them the paper's seconds where it has them.\n\n\
         | program | threads | as it is | without the hint | paper, table 2 | with the first thread | paper, table 4 | without snapshots |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let known = paper::rows(row.program);
        let seconds = |of: Option<[Figure; 3]>| match at(of, row.threads) {
            Some(Ok((seconds, _))) => format!("{seconds} s"),
            Some(Err(why)) => why.to_owned(),
            None => "-".to_owned(),
        };
        let cell = |at: usize| {
            let explored = &row.explored[at];
            let missed = match explored.confirmed {
                0 if !explored.is_cut => ", nothing found",
                _ => "",
            };
            format!("{}, {}{missed}", time(explored), explored.executions)
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.program,
            row.threads,
            cell(0),
            cell(1),
            seconds(known.as_ref().map(|rows| rows.without_hint)),
            cell(2),
            seconds(known.as_ref().map(|rows| rows.with_first)),
            cell(3),
        );
    }
    text
}

/// The figure for so many threads.
fn at(figures: Option<[Figure; 3]>, threads: usize) -> Option<Figure> {
    figures?.get(threads.checked_sub(2)?).copied()
}

fn verdict(explored: &Explored) -> String {
    if explored.is_cut {
        return "cut".to_owned();
    }
    let mut text = format!("{} of {}", explored.confirmed, explored.warnings);
    if explored.by_extension > 0 {
        let _ = write!(text, " ({} ext.)", explored.by_extension);
    }
    text
}

fn time(explored: &Explored) -> String {
    match explored.is_cut {
        true => format!("> {} s", PATIENCE.as_secs()),
        false => format!("{:.1} s", explored.seconds),
    }
}
