//! The tables.

use std::fmt::Write;

use crate::facts;
use crate::measure::Row;

/// The figures as Markdown.
pub fn render(rows: &[Row], hook: [f64; 2], facts: &facts::Row, runs: usize) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_tables(&mut text, rows, hook, runs);
    let _ = write_facts(&mut text, facts);
    text
}

fn write_tables(out: &mut String, rows: &[Row], hook: [f64; 2], runs: usize) -> std::fmt::Result {
    writeln!(out, "## Recording and reading\n")?;
    writeln!(
        out,
        "CPU time (user and system) of whole processes at `-O2` (rustc: `-O`), the best of {runs} runs; \
         ratios are to\nthe same kernel built by the same compiler without instrumentation. \"TSan\" is \
         that compiler's own\nThreadSanitizer, which detects as it runs (what it finds is not reported: \
         with Rust's standard library as\nit comes, it has false alarms); Deadheat records to a file.\n"
    )?;
    writeln!(
        out,
        "| kernel | compiler | plain | TSan | Deadheat, parallel | Deadheat / TSan |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {:.2} s | {:.1}x | {:.1}x | {:.2} |",
            row.kernel,
            row.compiler,
            row.plain,
            row.tsan / row.plain,
            row.parallel / row.plain,
            row.parallel / row.tsan
        )?;
    }
    writeln!(
        out,
        "\n`parallel_map` changes every element that it reads. ThreadSanitizer as it comes leaves out the \
         read before a\nwrite; Deadheat records both."
    )?;
    writeln!(
        out,
        "\nOn disk, for one round: all bytes of the trace (with synchronisation, calls and \
         allocations) per\naccess that the program made. A record of an access is 4 or \
         8 bytes; what repeats within a segment is\nleft out, and loops are counted. Serial recording keeps every access, with its \
         value. Rates are per CPU second, one thread.\n"
    )?;
    writeln!(
        out,
        "| kernel | compiler | accesses | bytes / access | serial recording | reading parallel | \
         reading serial |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {:.1} M | {:.2} | {:.0} M accesses/s | {:.0} M events/s | {:.0} M events/s |",
            row.kernel,
            row.compiler,
            row.accesses as f64 / 1e6,
            row.bytes as f64 / row.accesses as f64,
            row.serial_rate / 1e6,
            row.read_rates[0] / 1e6,
            row.read_rates[1] / 1e6
        )?;
    }
    writeln!(
        out,
        "\nOne call of an access hook, with the loop around it: {:.1} ns if the thread's filter \
         has the access,\n{:.1} ns if it is recorded (with its share of writing to the file).",
        hook[0], hook[1]
    )
}

fn write_facts(out: &mut String, facts: &facts::Row) -> std::fmt::Result {
    writeln!(
        out,
        "\nFacts from the machine code of `{}` (programs/rust, a release build of {:.1} MB with \
         {} places of\nevents): found in {:.2} s ({:.2} s of CPU time), loaded from the cache in {:.1} ms.",
        facts.program,
        facts.bytes as f64 / 1e6,
        facts.sites,
        facts.found[1],
        facts.found[0],
        facts.loaded * 1e3
    )
}
