//! The table of the tools.

use std::fmt::Write;

use super::Sums;

/// The figures as Markdown.
pub fn render(sums: &Sums, left_out: usize) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, sums, left_out);
    text
}

fn write(out: &mut String, sums: &Sums, left_out: usize) -> std::fmt::Result {
    writeln!(out, "## Peers\n")?;
    writeln!(
        out,
        "All programs under `programs/` that consist of one file ({left_out} do not), at `-O0`. Errors are marked races and deadlocks; a race of the \
         memory model only is not counted. *False* are different reports of what is not marked, *precision* is found / (found + false), *recall* found / \
         errors. Warnings about the order of locks (ThreadSanitizer, Helgrind) count as found in programs that can deadlock. DRD names one of the two accesses of \
         a race: any race that has it counts as found. A run that hangs is ended after 3 s (the sixth of a program after 0.5 s; valgrind and Deadheat: 60 s). Time is that of all runs on a wall \
         clock, two programs at a time, without building them; ThreadSanitizer's addresses are turned into lines afterwards, which is not in its time. Memory is the most of \
         the process that was started. Rust's standard library is as it comes, not instrumented: what it orders, ThreadSanitizer sees in part. loom and shuttle, for which programs have to be \
         rewritten, are compared in [Exploring](explore.md).\n"
    )?;
    writeln!(
        out,
        "| language | tool | programs | errors | found | false | precision | recall | hung | time | memory |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for ((language, tool, times), sum) in sums {
        let (found, wrong) = (sum.score.found, sum.score.wrong);
        let part = |some: usize, all: usize| match all {
            0 => "-".to_owned(),
            _ => format!("{:.2}", some as f64 / all as f64),
        };
        writeln!(
            out,
            "| {language} | {} | {} | {} | {found} | {wrong} | {} | {} | {} | {:.1} s | {} MB |",
            tool.name(*times),
            sum.programs,
            sum.errors,
            part(found, found + wrong),
            part(found, sum.errors),
            sum.hung,
            sum.took.as_secs_f64(),
            sum.memory >> 20,
        )?;
    }
    Ok(())
}
