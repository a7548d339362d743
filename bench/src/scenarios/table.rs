//! The table of the scenarios.

use std::fmt::Write;

use super::Row;
use super::reports::Score;

/// The figures as Markdown.
pub fn render(rows: &[Row], runs: usize) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_totals(&mut text, rows, runs);
    let _ = write_rows(&mut text, rows, runs);
    text
}

fn write_totals(out: &mut String, rows: &[Row], runs: usize) -> std::fmt::Result {
    writeln!(out, "## Scenarios\n")?;
    writeln!(
        out,
        "The programs of `programs/scenarios` and `programs/rust/scenarios`, built at `-O0`: one run under the compiler's own \
         ThreadSanitizer, {runs} runs, and one\n`deadheat check` of the same program built by the same compiler. Errors are marked races and \
         deadlocks; a race of the memory model only is not counted.\n*False* are reports of what is not marked. ThreadSanitizer's \
         warnings about the order of locks count as found in programs that can deadlock and as false in\nothers. A run that hangs is stopped after \
         3 seconds: it has found nothing, and is left out of the times. Times are wall-clock times of whole processes, those\nof `check` with confirmation.\n"
    )?;
    writeln!(
        out,
        "| compiler | scenarios | errors | | found | missed | false | hung runs | time |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    let mut compilers: Vec<&str> = Vec::new();
    for row in rows {
        if !compilers.contains(&row.compiler) {
            compilers.push(row.compiler);
        }
    }
    for compiler in compilers {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.compiler == compiler).collect();
        let sum = |score: fn(&Row) -> Score| {
            let all = rows.iter().map(|row| score(row));
            all.fold((0, 0), |sum, score| {
                (sum.0 + score.found, sum.1 + score.wrong)
            })
        };
        let errors: usize = rows.iter().map(|row| row.errors).sum();
        let hung: usize = rows.iter().map(|row| row.hung).sum();
        let one: f64 = rows.iter().map(|row| row.tsan).sum();
        let checked: f64 = rows.iter().map(|row| row.checked).sum();
        let mut line = |who: &str, (found, wrong): (usize, usize), hung: &str, time: f64| {
            writeln!(
                out,
                "| {compiler} | {} | {errors} | {who} | {found} | {} | {wrong} | {hung} | {time:.1} s |",
                rows.len(),
                errors - found,
            )
        };
        line("TSan, once", sum(|row| row.once), "", one)?;
        let often = format!("TSan, {runs} times");
        line(
            &often,
            sum(|row| row.often),
            &hung.to_string(),
            one * runs as f64,
        )?;
        line("check", sum(|row| row.check), "", checked)?;
        writeln!(
            out,
            "| | | | check / 20 runs of TSan | | | | | **{:.2}** |",
            checked / (20.0 * one)
        )?;
    }
    Ok(())
}

/// Found, and what was wrong.
fn told(score: Score) -> String {
    match score.wrong {
        0 => score.found.to_string(),
        wrong => format!("{} and {wrong} false", score.found),
    }
}

fn write_rows(out: &mut String, rows: &[Row], runs: usize) -> std::fmt::Result {
    writeln!(
        out,
        "\n| scenario | compiler | errors | TSan, once | TSan, {runs} times | hung | check | check, seconds | / 20 runs of TSan |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} |",
            row.name,
            row.compiler,
            row.errors,
            told(row.once),
            told(row.often),
            row.hung,
            told(row.check),
            row.checked,
            row.checked / (20.0 * row.tsan)
        )?;
    }
    Ok(())
}
