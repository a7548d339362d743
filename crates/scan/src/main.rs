//! `deadheat-scan`: the static analyser as a program of its own, so that everything else works without LLVM.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use deadheat_report::{json, text};
use deadheat_scan::found::{self, Scanned};
use deadheat_scan::model::Model;
use deadheat_scan::{Error, ir, llvm, roots, source};

const EXAMPLES: &str = "\
Examples:
  deadheat scan src/*.c -- -Iinclude -DX    sources, with flags for the compiler
  deadheat scan --compile-commands build/compile_commands.json
  deadheat scan module.bc                   bitcode

The exit code is 66 when there are warnings, 0 when there are none.";

/// Finds possible data races and deadlocks in C and C++ programs without running them.
#[derive(Parser)]
#[command(name = "deadheat scan", version, after_help = EXAMPLES)]
struct Arguments {
    /// Sources (.c, .cc, .cpp, .cxx) and bitcode (.bc, .ll).
    files: Vec<PathBuf>,

    /// Analyse what this compile_commands.json lists.
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,

    /// What more functions mean: a file in the format of Deadheat's own models.
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,

    /// How to report what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Show the program as the analyses see it.
    #[arg(long, hide = true)]
    dump: bool,

    /// Flags for the compiler.
    #[arg(last = true)]
    flags: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// There are warnings.
const FINDINGS: u8 = 66;
/// The program could not be built or read.
const UNREADABLE: u8 = 3;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("deadheat: error: {error}");
            ExitCode::from(UNREADABLE)
        }
    }
}

fn run(arguments: &Arguments) -> Result<u8, Error> {
    let made = source::bitcode(
        &arguments.files,
        arguments.compile_commands.as_deref(),
        &arguments.flags,
    )?;
    let program = llvm::read(made.paths())?;
    let mut out = std::io::stdout().lock();
    if arguments.dump {
        // A reader that has seen enough is no error.
        let _ = write!(out, "{}", ir::Text(&program));
        return Ok(0);
    }
    let is_linux = arguments
        .model
        .iter()
        .any(|name| name.as_os_str() == "linux");
    let mut model = match is_linux {
        true => Model::linux()?,
        false => Model::user()?,
    };
    for path in arguments
        .model
        .iter()
        .filter(|name| name.as_os_str() != "linux")
    {
        model.read_file(path)?;
    }
    let scanned = found::scan(&program, &model, &roots::of(&program, &model));
    // As above.
    let _ = match arguments.format {
        Format::Text => tell(&mut out, &scanned),
        Format::Json => {
            let report = json::report(&scanned.findings, &scanned.figures);
            writeln!(out, "{report}")
        }
    };
    for what in &scanned.left_out {
        eprintln!("deadheat: not analysed: {what}");
    }
    Ok(match scanned.findings.is_empty() {
        true => 0,
        false => FINDINGS,
    })
}

fn tell(out: &mut impl Write, scanned: &Scanned) -> std::io::Result<()> {
    let figures = &scanned.figures;
    let rows = [
        ("functions", figures.functions.to_string()),
        (
            "shared",
            format!("{} variables in warnings", figures.shared_variables),
        ),
        (
            "pairs",
            format!(
                "{} with disjoint locksets, {} after histories and order",
                figures.disjoint, figures.warnings
            ),
        ),
        (
            "warnings",
            format!(
                "{} places, {} without those that others cover",
                figures.after_contexts, figures.after_reduction
            ),
        ),
        ("deadlocks", figures.deadlocks.to_string()),
        ("time", format!("{:.3} s", figures.seconds)),
    ];
    for (name, value) in rows {
        writeln!(out, "{name:<16}{value}")?;
    }
    for finding in &scanned.findings {
        write!(out, "\n{}", text::finding(finding))?;
    }
    Ok(())
}
