//! What watching costs, next to the same compiler's ThreadSanitizer, which does the same.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::kernel::{COMPILERS, Compiler, KERNELS, Kernel, Place};
use crate::measure::cpu_of_command;

/// The ways to watch that are measured.
const DETECTORS: [&str; 2] = ["hb", "simple"];

struct Row {
    kernel: &'static str,
    compiler: &'static str,
    plain: f64,
    tsan: f64,
    hooks_alone: f64,
    watched: [f64; DETECTORS.len()],
}

/// Measures all kernels with all compilers; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut rows = Vec::new();
    for compiler in COMPILERS {
        let kernels = KERNELS.iter();
        for kernel in kernels.filter(|kernel| kernel.language == compiler.language) {
            eprintln!("bench: watching {} with {}", kernel.name, compiler.name);
            rows.push(row(place, kernel, compiler, runs)?);
        }
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_table(&mut text, &rows, runs);
    Ok(text)
}

fn row(place: &Place, kernel: &Kernel, compiler: &Compiler, runs: usize) -> Result<Row, String> {
    let variants = place.build(kernel.name, compiler)?;
    let report = place.work.join("report");
    let mut row = Row {
        kernel: kernel.name,
        compiler: compiler.name,
        plain: f64::MAX,
        tsan: f64::MAX,
        hooks_alone: f64::MAX,
        watched: [f64::MAX; DETECTORS.len()],
    };
    let run = |program: &Path| {
        let mut command = Command::new(program);
        command.arg(kernel.rounds);
        command
    };
    for _ in 0..runs {
        row.plain = row.plain.min(cpu_of_command(run(&variants.plain))?);
        row.tsan = row.tsan.min(cpu_of_command(run(&variants.tsan))?);
        let hooks_alone = cpu_of_command(run(&variants.hooks_alone))?;
        row.hooks_alone = row.hooks_alone.min(hooks_alone);
        for (best, detector) in row.watched.iter_mut().zip(DETECTORS) {
            let _ = std::fs::remove_file(&report);
            let mut command = run(&variants.ours);
            command.env("DEADHEAT_REPORT", &report).env(
                "DEADHEAT_OPTIONS",
                format!("mode=watch:detector={detector}"),
            );
            *best = best.min(cpu_of_command(command)?);
        }
    }
    let _ = std::fs::remove_file(&report);
    Ok(row)
}

fn write_table(out: &mut String, rows: &[Row], runs: usize) -> std::fmt::Result {
    writeln!(out, "## Watching\n")?;
    writeln!(
        out,
        "CPU time of whole processes at `-O2` (rustc: `-O`), the best of {runs} runs; ratios are to the same \
         kernel without instrumentation. \"TSan\" is the same compiler's own ThreadSanitizer. \
         \"Hooks alone\" is the kernel as Deadheat instruments it, with hooks that return at once: no runtime can cost less.\n"
    )?;
    writeln!(
        out,
        "| kernel | compiler | plain | TSan | hooks alone | hooks alone / TSan | watch | watch / TSan | simple | simple / TSan |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    for row in rows {
        let [hb, simple] = row.watched;
        writeln!(
            out,
            "| {} | {} | {:.2} s | {:.1}x | {:.1}x | {:.2} | {:.1}x | {:.2} | {:.1}x | {:.2} |",
            row.kernel,
            row.compiler,
            row.plain,
            row.tsan / row.plain,
            row.hooks_alone / row.plain,
            row.hooks_alone / row.tsan,
            hb / row.plain,
            hb / row.tsan,
            simple / row.plain,
            simple / row.tsan,
        )?;
    }
    let named = |row: &Row| format!("{} ({})", row.kernel, row.compiler);
    let out_of_reach: Vec<String> = rows
        .iter()
        .filter(|row| row.hooks_alone > row.tsan / 2.0)
        .map(named)
        .collect();
    if !out_of_reach.is_empty() {
        writeln!(
            out,
            "\nThe simple mode is meant to cost less than half of TSan. The hooks alone cost more than that on {}.",
            out_of_reach.join(", ")
        )?;
    }
    Ok(())
}
