//! The table.

use std::fmt::Write;

use super::build::Built;
use super::row::Row;

/// A program that was built and run, or why not.
pub type Outcome = Result<(Built, Row), String>;

const HEAD: &str = "\
## Real programs

Four kinds, none of them changed for us but the first. Kernels of our own after the manner of Splash-3 and PARSEC (`bench/real/kernels`), some with a race. Programs of Debian's source packages as their authors published them, built by `deadheat build` and put to a small piece of work. Tests of crates as they were published, built by \
`cargo deadheat test --no-run` and run one after the other. Programs of our own (`bench/real`) that use an old version of a crate as the advisory about it describes, built by `cargo deadheat build` and checked in five runs (`--runs 5`). \
*KLOC* is what was written by the authors, without libraries. *Same*: recorded, the program prints (a server: answers; a test: passes) what it does without Deadheat, with the same exit code. *watch* and *check* are exit codes: 0 is nothing \
found, 66 findings, 5 a budget ran out; anything else is bold. No step may take longer than five minutes. Servers are recorded with their clients and the trace is looked at by `predict`, since `check` would run them again without clients; \
so what is found there is not confirmed. *Findings* are those of the check.

| program | version | KLOC | same | watch | check | events | findings | time of check |
|---|---|---|---|---|---|---|---|---|
";

fn tests(row: &Row) -> String {
    match row.tests {
        Some((passed, all)) => format!(", {passed} of {all} tests"),
        None => String::new(),
    }
}

const COSTS: &str = "
What it costs, in seconds of the processor (all processes together) and MB at the peak. *Executed* is what the program did in the run that was looked at, *recorded* what of that the trace has: runs of more than two million events \
are surveyed first, and recorded without the memory that threads do not share. *Times* is the check against one run under gcc's ThreadSanitizer. *Races* are those that the check has found, and those that this run under ThreadSanitizer told (by place).

| program | executed | recorded | by itself | check | its memory | the program's | watch | TSan | times | races: check | TSan |
|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// The table of costs.
fn costs(rows: &[(String, Outcome)]) -> String {
    let mut text = COSTS.to_owned();
    let mut all_times = Vec::new();
    for (name, outcome) in rows {
        let Ok((_, row)) = outcome else {
            continue;
        };
        let [plain, check, watch] = row.costs;
        let races = row.findings.len();
        let of_tsan = match row.tsan {
            Some((tsan, told)) => {
                let times = check.cpu / tsan.cpu.max(0.01);
                all_times.push(times);
                format!("{:.1} s | {times:.0} | {races} | {told}", tsan.cpu)
            }
            None => format!("| | {races} |"),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.1} s | {:.1} s | {:.0} MB | {:.0} MB | {:.1} s | {of_tsan} |",
            row.executed, row.events, plain.cpu, check.cpu, check.tool, check.program, watch.cpu,
        );
    }
    all_times.sort_by(f64::total_cmp);
    if let Some(median) = all_times.get(all_times.len() / 2) {
        let most = rows.iter().filter_map(|(_, outcome)| outcome.as_ref().ok());
        let most = most.map(|(_, row)| row.costs[1].tool).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "\nMedian of *times*: {median:.0}. Most memory of a check: {most:.0} MB."
        );
    }
    text
}

/// The table of all programs; `is_debug` is whether Deadheat itself is not optimised.
pub fn render(rows: &[(String, Outcome)], is_debug: bool) -> String {
    let mut text = HEAD.to_owned();
    for (name, outcome) in rows {
        let _ = match outcome {
            Ok((built, row)) => writeln!(
                text,
                "| {name}{} | {} | {:.1} | {} | {} | {} | {} | {} | {:.1} s |",
                tests(row),
                built.version,
                built.lines as f64 / 1000.0,
                if row.same { "yes" } else { "**no**" },
                row.watched,
                row.checked,
                row.events,
                row.rungs,
                row.seconds
            ),
            Err(reason) => writeln!(text, "| {name} | {reason} | | | | | | | |"),
        };
    }
    for (name, outcome) in rows {
        if let Ok((_, row)) = outcome
            && [&row.watched, &row.checked]
                .iter()
                .any(|end| end.starts_with("stopped"))
        {
            let _ = writeln!(text, "\nStopped: {name}; why was not looked into.");
        }
    }
    text.push_str(&costs(rows));
    if is_debug {
        text.push_str("\nMeasured with an unoptimised build of Deadheat on a busy machine: the times are no measure of its speed.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::cost::Cost;
    use super::{Built, Row, render};

    #[test]
    fn rows_tell_what_was_measured_and_why_something_was_not() {
        let built = Built {
            plain: PathBuf::new(),
            hooked: PathBuf::new(),
            tsan: None,
            version: "1.2".to_owned(),
            lines: 2345,
        };
        let row = Row {
            same: false,
            events: 77,
            watched: "66".to_owned(),
            checked: "stopped after 120 s".to_owned(),
            rungs: "1 observed".to_owned(),
            seconds: 120.04,
            findings: Vec::new(),
            tests: Some((3, 4)),
            executed: 7700,
            costs: [1.0, 12.0, 3.0].map(|cpu| Cost {
                cpu,
                tool: 99.6,
                program: 7.0,
            }),
            tsan: Some((
                Cost {
                    cpu: 2.0,
                    ..Cost::default()
                },
                1,
            )),
        };
        let rows = [
            ("axel, four connections".to_owned(), Ok((built, row))),
            ("other".to_owned(), Err("could not be built".to_owned())),
        ];
        let text = render(&rows, true);
        for line in [
            "\n| axel, four connections, 3 of 4 tests | 1.2 | 2.3 | **no** | 66 | stopped after 120 s | 77 | 1 observed | 120.0 s |\n",
            "\n| other | could not be built | | | | | | | |\n",
            "\n| axel, four connections | 7700 | 77 | 1.0 s | 12.0 s | 100 MB | 7 MB | 3.0 s | 2.0 s | 6 | 0 | 1 |\n",
            "\nMedian of *times*: 6. Most memory of a check: 100 MB.",
            "\nStopped: axel, four connections; why",
            "\nMeasured with an unoptimised build",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!render(&rows[1..], false).contains("unoptimised"));
    }
}
