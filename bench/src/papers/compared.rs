//! One program by all that Deadheat does, beside runs under ThreadSanitizer: one `check`, and a search of its schedules.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use deadheat_oracle::Oracle;

use crate::explore::run::run;
use crate::kernel::Place;
use crate::scenarios::reports::{Score, confirmed, score};
use crate::scenarios::{Row, build, row, with_ours};

/// How long a program's schedules are searched.
const SEARCH_TIME: &str = "10s";
const PATIENCE: Duration = Duration::from_secs(300);

/// What was found in a program.
pub struct Compared {
    program: String,
    smallest: &'static str,
    row: Row,
    explored: Score,
}

impl Compared {
    /// Measures a program. `smallest` is the argument with which its schedules are searched.
    pub fn measure(
        place: &Place,
        oracle: &Oracle,
        smallest: &'static str,
        runs: usize,
    ) -> Result<Self, String> {
        let program = oracle.path.file_stem().unwrap_or_default();
        let program = program.to_string_lossy().into_owned();
        eprintln!("bench: {program} checked, explored, and run {runs} times");
        Ok(Compared {
            row: row(place, oracle, "gcc", runs)?,
            explored: explore(place, oracle, smallest)?,
            program,
            smallest,
        })
    }
}

/// What a search of a program's schedules confirms.
fn explore(place: &Place, oracle: &Oracle, argument: &str) -> Result<Score, String> {
    let program = place.work.join("explored");
    build(with_ours(place, "gcc")?, oracle, &program)?;
    let mut explore = Command::new(&place.deadheat);
    explore
        .args(["explore", "--format", "json"])
        .args(["--search-time", SEARCH_TIME, "--"])
        .arg(&program)
        .arg(argument);
    let run = run(explore, &place.work, PATIENCE)?;
    let _ = std::fs::remove_dir_all(place.work.join(".deadheat"));
    let file = oracle.path.file_name().unwrap_or_default();
    let found = confirmed(&run.printed, &file.to_string_lossy())?;
    Ok(score(oracle, &found))
}

/// Writes a table. What the paper says of each program comes as the cells of a row, and under their headings.
pub fn write_compared<'a>(
    out: &mut String,
    paper: &str,
    rows: impl Iterator<Item = (&'a Compared, String)>,
    runs: usize,
) -> std::fmt::Result {
    writeln!(
        out,
        "*Found* by one `deadheat check`; *confirmed*: found, and the schedule was enforced on the program. *Explored*: confirmed by `deadheat explore` in {SEARCH_TIME}, with the argument in brackets.\n"
    )?;
    let heads = format!(
        "program | marked | found | confirmed | explored | TSan, once | TSan, {runs} times | check | a run under TSan | {paper}"
    );
    let columns = heads.split(" | ").count();
    writeln!(out, "| {heads} |\n|{}", "---|".repeat(columns))?;
    for (compared, theirs) in rows {
        let Compared {
            program,
            smallest,
            row,
            explored,
        } = compared;
        writeln!(
            out,
            "| {program} | {} | **{}** | {} | {} ({smallest}) | {} | {} | {:.1} s | {:.2} s | {theirs} |",
            row.errors,
            told(row.check),
            row.confirmed,
            told(*explored),
            told(row.once),
            told(row.often),
            row.checked,
            row.tsan,
        )?;
    }
    Ok(())
}

/// Found, and what was false.
pub fn told(score: Score) -> String {
    match score.wrong {
        0 => score.found.to_string(),
        wrong => format!("{} and {wrong} false", score.found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_heading() {
        let compared = Compared {
            program: "program".to_owned(),
            smallest: "2",
            row: Row {
                name: "C program".to_owned(),
                compiler: "gcc",
                errors: 3,
                once: Score::default(),
                often: Score { found: 1, wrong: 1 },
                hung: 0,
                check: Score { found: 2, wrong: 0 },
                confirmed: 2,
                tsan: 0.25,
                checked: 1.5,
            },
            explored: Score { found: 3, wrong: 0 },
        };
        let mut text = String::new();
        let rows = [(&compared, "theirs | 5 | 4".to_owned())].into_iter();
        write_compared(&mut text, "paper's | it found | TSan, 100 times", rows, 20).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        let columns: Vec<usize> = lines.iter().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [13, 13, 13]);
        assert_eq!(
            lines[2],
            "| program | 3 | **2** | 2 | 3 (2) | 0 | 1 and 1 false | 1.5 s | 0.25 s | theirs | 5 | 4 |"
        );
    }
}
