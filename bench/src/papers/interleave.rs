//! Table 2 of *interleave*: one `check` of each program beside many runs under ThreadSanitizer.

use std::fmt::Write;

use super::oracle;
use super::paper::{Generated, INTERLEAVE};
use crate::kernel::Place;
use crate::scenarios::reports::Score;
use crate::scenarios::{Row, row};

/// Measures all programs.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut rows = Vec::new();
    for paper in &INTERLEAVE {
        eprintln!("bench: {} checked and run {runs} times", paper.program);
        let oracle = oracle(place, paper.program)?;
        rows.push((paper, row(place, &oracle, "gcc", runs)?));
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_table(&mut text, &rows, runs);
    Ok(text)
}

fn write_table(out: &mut String, rows: &[(&Generated, Row)], runs: usize) -> std::fmt::Result {
    writeln!(
        out,
        "### One run beside many under ThreadSanitizer\n\n\
         After table 2 of \"Interleaving Generation for Data Race and Deadlock Reproduction\" (2015): one `deadheat check`, with confirmation, beside {runs} \
         runs under gcc's ThreadSanitizer, at `-O0`. *Confirmed*: found, and the schedule was enforced on the program.\n"
    )?;
    writeln!(
        out,
        "| program | marked | check found | confirmed | TSan, once | TSan, {runs} times | check | a run under TSan | paper's | it found | TSan, 100 times |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    )?;
    for (paper, row) in rows {
        writeln!(
            out,
            "| {} | {} | **{}** | {} | {} | {} | {:.1} s | {:.2} s | {} | {} | {} |",
            paper.program,
            row.errors,
            told(row.check),
            row.confirmed,
            told(row.once),
            told(row.often),
            row.checked,
            row.tsan,
            paper.name,
            paper.found,
            paper.tsan,
        )?;
    }
    writeln!(
        out,
        "\nFair: our two columns, on the same program and machine, and that nothing false is reported in programs without a race. Not fair: races beside the paper's, which counts \
         lines and has other programs, ten to a hundred times as long; its bounded buffer has no race, while ours is the racy one of the other table. The paper's fmm has no counterpart here."
    )
}

fn told(score: Score) -> String {
    match score.wrong {
        0 => score.found.to_string(),
        wrong => format!("{} and {wrong} false", score.found),
    }
}
