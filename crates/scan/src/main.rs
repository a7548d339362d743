//! `deadheat-scan`: the static analyser as a program of its own, so that everything else works without LLVM.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use deadheat_scan::{Error, ir, llvm, source};

/// Finds possible data races and deadlocks in C, C++ and Rust programs without running them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the program as the analyses see it.
    Dump {
        #[command(flatten)]
        input: Input,
    },
}

#[derive(clap::Args)]
struct Input {
    /// Sources (.c, .cc, .cpp, .cxx, .rs) and bitcode (.bc, .ll).
    files: Vec<PathBuf>,
    /// Analyse what this compile_commands.json lists.
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,
    /// Flags for the compiler.
    #[arg(last = true)]
    flags: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Dump { input } => dump(&input),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deadheat-scan: error: {error}");
            ExitCode::from(3)
        }
    }
}

fn dump(input: &Input) -> Result<(), Error> {
    let program = read(input)?;
    // A reader that has seen enough is no error.
    let _ = write!(std::io::stdout().lock(), "{}", ir::Text(&program));
    Ok(())
}

fn read(input: &Input) -> Result<ir::Program, Error> {
    let made = source::bitcode(
        &input.files,
        input.compile_commands.as_deref(),
        &input.flags,
    )?;
    llvm::read(made.paths())
}
