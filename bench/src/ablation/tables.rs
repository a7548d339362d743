//! The tables of the ablation.

use std::fmt::Write;

use deadheat_bench::setting::Setting;

use super::offline::MOST_MEMORY;
use super::{Cell, LIMIT, LONG, Row};

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
         of workers, a lock for\nevery account, requests that are used again), built by gcc at `-O2`. \"No HB\" \
         compares locks alone; \"no oversized\"\nleaves out that rule, \"no opts\" the lockset-subset rule too. As \
         in the paper a location's history ends with its\nfirst race. CPU time, the best of {runs} runs; a run of \
         over {LONG} s is not repeated.\n"
    )?;
    write_live(out, rows)?;
    write_offline(out, rows)
}

fn write_live(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(
        out,
        "Live: whole processes, as ratios to the program without instrumentation (user and system time of all \
         threads,\nwith waiting for the locks of histories, which varies by half and more from run to run). Before every setting stands the \
         runtime's filter of accesses\nthat repeat within a segment, so \"no opts\" is not as bare as in the paper; \
         nothing is known from a run before. A dash:\nover {LIMIT} s. A star: the memory for histories was used up, \
         and from then on accesses were compared but not remembered.\n"
    )?;
    head(out, "unmodified")?;
    for row in rows {
        let cells = row.live.cells.iter().map(|cell| {
            let cell = cell.as_ref()?;
            let star = if cell.full { "*" } else { "" };
            Some(format!("{:.1}x{star}", cell.seconds / row.live.plain))
        });
        line(out, row, &format!("{:.2} s", row.live.plain), cells)?;
    }
    Ok(())
}

fn write_offline(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(
        out,
        "\nOff line: one round of each program, recorded serially (every access is there); all settings read \
         the same file\nin one thread. Channels and the most locks of a thread are known from a reading before, \
         which is not counted;\n\"no HB\" has the thread-locality check. A dash: over {LIMIT} s or {} GB.\n",
        MOST_MEMORY >> 30
    )?;
    table(out, rows, |cell| format!("{:.2} s", cell.run.seconds))?;
    writeln!(out, "\nThe most memory that the detector held.\n")?;
    table(out, rows, |cell| {
        format!("{:.1} MB", cell.run.memory as f64 / 1e6)
    })?;
    writeln!(
        out,
        "\nAccesses that the detailed mode remembers at the end.\n"
    )?;
    table(out, rows, |cell| {
        cell.run.kept.map_or(String::new(), |kept| kept.to_string())
    })?;
    writeln!(
        out,
        "\nVariables that are reported: those that can race - those that cannot, by the marks in the programs' \
         texts.\n"
    )?;
    head(out, "can race")?;
    for row in rows {
        let verdict = |Cell { verdict, .. }: &Cell| {
            format!("{} - {}", verdict.real.len(), verdict.false_ones.len())
        };
        let cells = row.offline.cells.iter().map(Option::as_ref);
        let racy = row.offline.racy.to_string();
        line(out, row, &racy, cells.map(|cell| cell.map(verdict)))?;
    }
    Ok(())
}

/// A table of figures off line.
fn table(out: &mut String, rows: &[Row], show: impl Fn(&Cell) -> String) -> std::fmt::Result {
    head(out, "events")?;
    for row in rows {
        let events = format!("{:.1} M", row.offline.events as f64 / 1e6);
        let cells = row.offline.cells.iter().map(Option::as_ref);
        line(out, row, &events, cells.map(|cell| cell.map(&show)))?;
    }
    Ok(())
}

/// The first lines of a table with a column for each setting.
fn head(out: &mut String, first: &str) -> std::fmt::Result {
    let settings = Setting::ALL.map(Setting::name).join(" | ");
    writeln!(out, "| program | {first} | {settings} |")?;
    writeln!(out, "|---|---|{}", "---|".repeat(Setting::ALL.len()))
}

fn line(
    out: &mut String,
    row: &Row,
    first: &str,
    cells: impl Iterator<Item = Option<String>>,
) -> std::fmt::Result {
    let cells: Vec<String> = cells
        .map(|cell| cell.unwrap_or_else(|| "-".to_owned()))
        .collect();
    writeln!(out, "| {} | {first} | {} |", row.program, cells.join(" | "))
}
