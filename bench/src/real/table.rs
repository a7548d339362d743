//! The table.

use std::fmt::Write;

use super::build::Built;
use super::row::Row;

/// A program that was built and run, or why not.
pub type Outcome = Result<(Built, Row), String>;

const HEAD: &str = "\
## Real programs

Programs of Debian's source packages as their authors published them, built by `deadheat build` and put to a small piece of work; and programs of our own (`bench/real`) that use an old version of a \
crate in a way that its `Send` and `Sync` should not allow (the number is that of its advisory), built by `cargo deadheat`. *Same*: recorded, the program prints (a server: answers) what it does without Deadheat, with the same exit code. *watch* and *check* \
are exit codes: 0 is nothing found, 66 findings, 5 a budget ran out. Servers are recorded with their clients and the trace is looked at by `predict`, since `check` would run them again without clients; \
so what is found there is not confirmed. redis, nginx, sqlite and tests of current crates have not been tried yet.

| program | version | KLOC | same | watch | check | events | findings | time of check |
|---|---|---|---|---|---|---|---|---|
";

/// The table of all programs; `is_debug` is whether Deadheat itself is not optimised.
pub fn render(rows: &[(String, Outcome)], is_debug: bool) -> String {
    let mut text = HEAD.to_owned();
    for (name, outcome) in rows {
        let _ = match outcome {
            Ok((built, row)) => writeln!(
                text,
                "| {name} | {} | {:.1} | {} | {} | {} | {} | {} | {:.1} s |",
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
    if is_debug {
        text.push_str("\nMeasured with an unoptimised build of Deadheat on a busy machine: the times are no measure of its speed.\n");
    }
    text
}
