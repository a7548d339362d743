//! The tables.

use std::fmt::Write;

use super::paper::{self, TABLE};
use super::scanned::Scanned;

/// What was measured, by name; `None` if it took too long.
type Rows = [(&'static str, Option<Scanned>)];

const HEAD: &str = "\
## Scanning

`deadheat scan --model linux` on files of Debian's linux-source-6.1, the counterparts of those in the table of \"Fast and Accurate Static Data-Race Detection for Concurrent Programs\" (2007), and \
on `programs/scan/ctrace`, a program of ours in the place of its `ctrace`. \"vars\": shared variables; \"warnings\": pairs of accesses in all contexts; \"reduced\": without those that another one covers; \"contexts\": \
so many that each place is in one. Lines are those of the file alone, without empty ones, whatever headers it includes; the paper's, where they are more, are those of the whole module. \
Its kernel was another one twenty years ago, and its machine is not named. Time is the analysis without the compiler \
(in brackets with reading the bitcode). (Goal: each within 2 s and 500 MiB.)

| file | KLOC | vars | warnings | reduced | contexts | time | memory | paper: KLOC | vars | warnings | reduced | contexts | time |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

const PROGRAMS: &str = "
Programs with threads from Debian's source packages, and SQLite as a library, each file compiled for itself and scanned together; \"too long\" is more than 120 s. (Goal: 300 KLOC within 2 GiB.)

| program | KLOC | vars | warnings | reduced | contexts | deadlocks | time | memory |
|---|---|---|---|---|---|---|---|---|
";

/// Both tables, without the programs that are not there.
pub fn render(drivers: &Rows, programs: &Rows, without: &[&str]) -> String {
    let mut text = HEAD.to_owned();
    for (name, scanned) in drivers {
        let _ = write!(text, "| {name} | {} |", figures(scanned, false));
        match TABLE.iter().find(|row| row.name == *name) {
            Some(row) => {
                let paper::Row {
                    kloc,
                    variables,
                    warnings,
                    reduced,
                    contexts,
                    seconds,
                    ..
                } = row;
                let _ = writeln!(
                    text,
                    " {kloc} | {variables} | {warnings} | {reduced} | {contexts} | {seconds} s |"
                );
            }
            None => text.push_str(" - | - | - | - | - | - |\n"),
        }
    }
    text.push_str(PROGRAMS);
    for (name, scanned) in programs {
        let _ = writeln!(text, "| {name} | {} |", figures(scanned, true));
    }
    if !without.is_empty() {
        let names = without.join(", ");
        let _ = writeln!(text, "\nCould not be fetched or compiled: {names}.");
    }
    text
}

fn figures(scanned: &Option<Scanned>, with_deadlocks: bool) -> String {
    let Some(scanned) = scanned else {
        let cells = if with_deadlocks { 8 } else { 7 };
        return vec!["too long"; cells].join(" | ");
    };
    let [variables, warnings, reduced, contexts, deadlocks] = scanned.counts;
    let deadlocks = match with_deadlocks {
        true => format!(" {deadlocks} |"),
        false => String::new(),
    };
    format!(
        "{:.1} | {variables} | {warnings} | {reduced} | {contexts} |{deadlocks} **{:.2} s** ({:.2} s) | {:.0} MB",
        scanned.lines as f64 / 1000.0,
        scanned.seconds,
        scanned.whole,
        scanned.megabytes
    )
}
