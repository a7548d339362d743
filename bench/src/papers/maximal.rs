//! Table 1 of *maximal*: four methods on one trace of each program.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use super::paper::{MAXIMAL, Predicted};
use super::program_at;
use crate::explore::run::run;
use crate::kernel::Place;
use crate::scenarios::reports::{Score, errors, of_check, score};
use crate::scenarios::{build, with_ours};

const METHODS: [&str; 4] = ["maximal", "said", "cp", "hb"];

/// Who runs when a program is recorded, and what that is like.
const POLICIES: [(&str, &str); 2] = [
    (
        "run-to-block",
        "Each thread runs until it has to wait, as the threads of small programs nearly do on a real machine: accesses of two threads are far apart",
    ),
    (
        "random",
        "Anyone may run at every step (seed 1): accesses of two threads are mixed, and happens-before alone sees much",
    ),
];
const PATIENCE: Duration = Duration::from_secs(300);

/// What one method made of one trace.
struct Answer {
    score: Score,
    seconds: f64,
}

struct Row {
    paper: &'static Predicted,
    marked: usize,
    events: u64,
    answers: Vec<Answer>,
}

/// Measures all programs, in each manner of recording.
pub fn measure(place: &Place) -> Result<String, String> {
    let mut text = "### Methods on one trace\n\n\
         After table 1 of \"Maximal Sound Predictive Race Detection with Control Flow Abstraction\" (2014): each program is recorded once and all \
         methods read the same trace, at `-O0`. Figures are races, maximal / Said et al. / CP / HB; *false* are races that are not marked. Seconds are \
         those of the analysis, with reading the trace and the program's machine code; the paper's are those of its tool.\n"
        .to_owned();
    for (policy, told) in POLICIES {
        let mut rows = Vec::new();
        for paper in &MAXIMAL {
            eprintln!("bench: {} recorded {policy}", paper.program);
            rows.push(row(place, paper, policy)?);
        }
        // Writing to a string does not fail.
        let _ = write_table(&mut text, policy, told, &rows);
    }
    text.push_str(
        "\nFair: the order of the methods, which read the same trace here as there, and that none of them may report what cannot happen. CP and HB name every pair here that is unordered in the trace, and \
         so may have one that maximal has not: where a branch on what one side wrote stands before the other, the two race by the language's rules, but this trace proves no schedule in which they stand side by side. \
         Not fair: the numbers \
         of races side by side, since the programs are not the paper's; nor the times, of another machine and of \
         traces of other lengths (our `monte_carlo` and `molecular_dynamics` are tiny beside theirs). All traces fit into one of the paper's windows of 10 000 events.\n",
    );
    Ok(text)
}

fn row(place: &Place, paper: &'static Predicted, policy: &str) -> Result<Row, String> {
    let oracle = program_at(place, &paper.source())?;
    let file = format!("{}.c", paper.program);
    let program = place.work.join(paper.program);
    build(with_ours(place, "gcc")?, &oracle, &program)?;
    let trace = place.work.join("trace.dht");
    let _ = std::fs::remove_file(&trace);
    let mut record = Command::new(&place.deadheat);
    record
        .args(["record", "--serial", "--seed", "1", "--policy", policy])
        .arg("-o")
        .arg(&trace)
        .arg("--")
        .arg(&program);
    run(record, &place.work, PATIENCE)?;
    let (mut events, mut answers) = (0, Vec::new());
    for method in METHODS {
        let mut predict = Command::new(&place.deadheat);
        predict
            .arg("predict")
            .arg(&trace)
            .args(["--method", method, "--format", "json"]);
        let run = run(predict, &place.work, PATIENCE)?;
        if run.is_cut {
            return Err(format!("{method} on {} takes too long", paper.program));
        }
        let figures = &run.report()?["stats"];
        events = figures["events"].as_u64().unwrap_or(0);
        answers.push(Answer {
            score: score(&oracle, &of_check(&run.printed, &file)?),
            seconds: figures["methods"][0]["seconds"].as_f64().unwrap_or(0.0),
        });
    }
    Ok(Row {
        paper,
        marked: errors(&oracle),
        events,
        answers,
    })
}

fn write_table(out: &mut String, policy: &str, told: &str, rows: &[Row]) -> std::fmt::Result {
    writeln!(out, "\n{told} (`--policy {policy}`).\n")?;
    writeln!(
        out,
        "| program | events | marked | found | false | paper's | its races | its events | seconds | its times |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    )?;
    let (mut ours, mut theirs, mut marked) = ([0; METHODS.len()], [0; METHODS.len()], 0);
    for row in rows {
        let Predicted {
            program,
            name,
            events,
            races,
            times,
        } = row.paper;
        let found: Vec<usize> = row
            .answers
            .iter()
            .map(|answer| answer.score.found)
            .collect();
        let wrong: usize = row.answers.iter().map(|answer| answer.score.wrong).sum();
        let seconds = row
            .answers
            .iter()
            .map(|answer| format!("{:.2}", answer.seconds));
        writeln!(
            out,
            "| {program} | {} | {} | **{}** | {wrong} | {name} | {} | {events} | {} | {} |",
            row.events,
            row.marked,
            slashed(&found),
            slashed(races),
            seconds.collect::<Vec<_>>().join(" / "),
            times.join(" / "),
        )?;
        marked += row.marked;
        for i in 0..METHODS.len() {
            ours[i] += found[i];
            theirs[i] += races[i];
        }
    }
    writeln!(
        out,
        "| all | | {marked} | **{}** | | | {} | | | |",
        slashed(&ours),
        slashed(&theirs)
    )
}

fn slashed(figures: &[impl ToString]) -> String {
    let figures: Vec<String> = figures.iter().map(ToString::to_string).collect();
    figures.join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_totals_are_those_of_its_rows() {
        let mut totals = [0; 4];
        for row in &MAXIMAL {
            for (total, races) in totals.iter_mut().zip(row.races) {
                *total += races;
            }
        }
        assert_eq!(slashed(&totals), "75 / 57 / 40 / 40");
    }
}
