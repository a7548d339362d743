//! Tables 1 and 2 of *interleave*: one `check` of each program beside many runs under ThreadSanitizer.

use std::fmt::Write;

use deadheat_oracle::read_folder;

use super::compared::{Compared, told, write_compared};
use super::paper::{Generated, INTERLEAVE, SCENARIOS};
use super::program_at;
use crate::kernel::Place;
use crate::scenarios::reports::Score;
use crate::scenarios::{Row, row};

/// Measures all programs of both tables.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_scenarios(&mut text, &scenarios(place, runs)?, runs);
    let mut rows = Vec::new();
    for paper in &INTERLEAVE {
        let source = format!("programs/papers/tables/{}.c", paper.program);
        let oracle = program_at(place, &source)?;
        let row = Compared::measure(place, &oracle, paper.smallest, runs)?;
        rows.push((paper, row));
    }
    let _ = write_applications(&mut text, &rows, runs);
    Ok(text)
}

/// All scenarios together.
struct Scenarios {
    count: usize,
    lines: usize,
    errors: usize,
    confirmed: usize,
    hung: usize,
    check: Score,
    once: Score,
    often: Score,
    /// Seconds of all checks, and of one run of each under ThreadSanitizer.
    seconds: [f64; 2],
}

fn scenarios(place: &Place, runs: usize) -> Result<Scenarios, String> {
    let folder = place.kernels.join("../../programs/scenarios/c");
    let oracles = read_folder(folder).map_err(|error| error.to_string())?;
    let (mut rows, mut lines) = (Vec::new(), 0);
    for (number, oracle) in oracles.iter().enumerate() {
        let name = oracle.path.file_name().unwrap_or_default();
        let of = oracles.len();
        eprintln!(
            "bench: scenario {} of {of}: {}",
            number + 1,
            name.to_string_lossy()
        );
        let text = std::fs::read_to_string(&oracle.path).map_err(|error| error.to_string())?;
        lines += text.lines().count();
        rows.push(row(place, oracle, "gcc", runs)?);
    }
    let sum = |score: fn(&Row) -> Score| {
        let all = rows.iter().map(score);
        all.fold(Score::default(), |sum, score| Score {
            found: sum.found + score.found,
            wrong: sum.wrong + score.wrong,
        })
    };
    Ok(Scenarios {
        count: rows.len(),
        lines,
        errors: rows.iter().map(|row| row.errors).sum(),
        confirmed: rows.iter().map(|row| row.confirmed).sum(),
        hung: rows.iter().map(|row| row.hung).sum(),
        check: sum(|row| row.check),
        once: sum(|row| row.once),
        often: sum(|row| row.often),
        seconds: [
            rows.iter().map(|row| row.checked).sum(),
            rows.iter().map(|row| row.tsan).sum(),
        ],
    })
}

fn write_scenarios(out: &mut String, all: &Scenarios, runs: usize) -> std::fmt::Result {
    writeln!(
        out,
        "### Scenarios, one run beside many under ThreadSanitizer\n\n\
         After table 1 of \"Interleaving Generation for Data Race and Deadlock Reproduction\" (2015): one `deadheat check`, with confirmation, of each scenario in `programs/scenarios/c`, beside {runs} \
         runs under gcc's ThreadSanitizer, at `-O0`. *Confirmed*: found, and the schedule was enforced on the program. The section about scenarios has a row for each, other compilers, C++ and Rust.\n"
    )?;
    writeln!(
        out,
        "| | scenarios | lines | errors | check found | confirmed | TSan, once | TSan, {runs} times | hung runs | all checks | a run each under TSan |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    )?;
    writeln!(
        out,
        "| ours | {} | {} | {} | **{}** | {} | {} | {} | {} | {:.1} s | {:.1} s |",
        all.count,
        all.lines,
        all.errors,
        told(all.check),
        all.confirmed,
        told(all.once),
        told(all.often),
        all.hung,
        all.seconds[0],
        all.seconds[1],
    )?;
    let [count, lines, errors, found, tsan] = SCENARIOS;
    writeln!(
        out,
        "| paper's | {count} | {lines} | {errors} | {found} | {found} | | {tsan} | | | |"
    )?;
    writeln!(
        out,
        "\nFair: what `check` and ThreadSanitizer find in the same programs on the same machine. ThreadSanitizer's warnings about the order of locks count as found in programs that can \
         deadlock, and as false in others. Not fair: its share beside that of the paper, which does not say how often it ran, and whose scenarios are others: ours were chosen because one schedule hides their error.\n"
    )
}

fn write_applications(
    out: &mut String,
    rows: &[(&Generated, Compared)],
    runs: usize,
) -> std::fmt::Result {
    write!(
        out,
        "### Applications, one run beside many under ThreadSanitizer\n\n\
         After table 2 of the same paper, with its programs' counterparts in `programs/papers/tables`. "
    )?;
    let paper = "paper's | it found | TSan, 100 times";
    let rows = rows.iter().map(|(paper, row)| {
        let theirs = format!("{} | {} | {}", paper.name, paper.found, paper.tsan);
        (row, theirs)
    });
    write_compared(out, paper, rows, runs)?;
    writeln!(
        out,
        "\nFair: our columns, on the same program and machine, and that nothing false is reported in programs without a race. What one `check` misses lies on paths that its run did not take, as \
         one of the three races of the paper's aget did: most are writes behind a look, where the run that was recorded has only one of the two writes. A search of other schedules goes there. \
         Not fair: races beside the paper's, which counts \
         lines and has other programs, ten to a hundred times as long; its bounded buffer has no race, while ours is the racy one of the other table, and its fmm takes a million events where \
         `multipole` takes a few hundred."
    )
}
