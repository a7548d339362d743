//! The tables of the ablation.

use std::fmt::Write;

use deadheat_bench::setting::Setting;

use super::offline::MOST_MEMORY;
use super::{Cell, LIMIT, Offline};

type Row = (&'static str, Offline);

/// All of it, as Markdown.
pub fn render(rows: &[Row], runs: usize) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, rows, runs);
    out
}

fn write(out: &mut String, rows: &[Row], runs: usize) -> std::fmt::Result {
    writeln!(
        out,
        "## The hybrid detector without its parts\n\n\
         After tables 2 and 3 of O'Callahan and Choi (PPoPP 2003). The programs are the C kernels and three of the \
         kinds\nthat the paper has: `tsp` (branch and bound), `sor` (a grid and a barrier), `server` (a pool \
         of workers, a lock for\nevery account, requests that are used again). \"No HB\" compares locks alone, with \
         the thread-locality check;\n\"no oversized\" leaves out that rule, \"no opts\" the lockset-subset rule too. As \
         in the paper a location's\nhistory ends with its first race, and channels and the most locks of a thread are \
         known from a run before.\n"
    )?;
    writeln!(
        out,
        "Off line: one round of each program, built by gcc at `-O2`, recorded serially (every access is \
         there); all settings\nread the same file. CPU time of one thread with reading, the best of {runs} runs \
         (one, if it takes over 2 s). A dash:\nover {LIMIT} s or {} GB.\n",
        MOST_MEMORY >> 30
    )?;
    table(out, rows, "events", events, |cell| {
        format!("{:.2} s", cell.run.seconds)
    })?;
    writeln!(out, "\nThe most memory that the detector held.\n")?;
    table(out, rows, "events", events, |cell| {
        format!("{:.1} MB", cell.run.memory as f64 / 1e6)
    })?;
    writeln!(
        out,
        "\nAccesses that the detailed mode remembers at the end.\n"
    )?;
    table(out, rows, "events", events, |cell| {
        cell.run.kept.map_or(String::new(), |kept| kept.to_string())
    })?;
    writeln!(
        out,
        "\nVariables with a report that can race, and those that cannot, by the marks in the programs' \
         texts. Detectors\nof locks and of a limited order warn of what one run does not show; false ones are their \
         price.\n"
    )?;
    table(
        out,
        rows,
        "can race",
        |row| row.racy.to_string(),
        |cell| format!("{} - {}", cell.verdict.real, cell.verdict.false_ones),
    )
}

fn events(row: &Offline) -> String {
    format!("{:.1} M", row.events as f64 / 1e6)
}

/// One row for each program, one column for each setting.
fn table(
    out: &mut String,
    rows: &[Row],
    heading: &str,
    first: impl Fn(&Offline) -> String,
    show: impl Fn(&Cell) -> String,
) -> std::fmt::Result {
    let settings = Setting::ALL.map(Setting::name).join(" | ");
    writeln!(out, "| program | {heading} | {settings} |")?;
    writeln!(out, "|---|---|{}", "---|".repeat(Setting::ALL.len()))?;
    for (name, row) in rows {
        let cells = row.cells.iter();
        let cells = cells.map(|cell| cell.as_ref().map_or("-".to_owned(), &show));
        let cells = cells.collect::<Vec<_>>().join(" | ");
        writeln!(out, "| {name} | {} | {cells} |", first(row))?;
    }
    Ok(())
}
