//! The commands: what can be typed, and what answers.

mod build;
mod cargo;
mod check;
mod compile;
mod config;
mod doctor;
mod explore;
mod help;
mod limits;
mod ls;
mod predict;
mod record;
mod replay;
mod report;
mod rm;
mod scan;
mod schedule;
mod search;
mod shell;
mod sources;
mod trace;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;

use crate::settings::apply::{self, Applied};

/// Finds data races and deadlocks in C, C++ and Rust programs from one recorded run.
#[derive(Debug, Parser)]
#[command(
    name = "deadheat",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = format!("{EXAMPLES}\n\n{}", Exit::help()),
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  deadheat check prog.c                     build a program, record it, find and confirm races
  deadheat build -- make                    build a project so that it can be recorded
  cargo deadheat test                       build and record the tests of a Rust crate
  deadheat watch -- ./prog args             report races as they happen
  deadheat record -- ./prog args            record a run
  deadheat predict                          look for races in the latest recording
  deadheat replay 3fa1b2c4                  run the program into a finding
  deadheat report --html                    what was found, as a page to look at
  deadheat scan src/*.c                     look for races without running the program
  deadheat trace stats                      what the latest recording holds
  deadheat doctor                           what works on this machine
  deadheat COMMAND --help                   more about a command
  deadheat help options                     all options that can be set, and where";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Cc(compile::CcArgs),
    #[command(name = "c++")]
    Cxx(compile::CxxArgs),
    Rustc(compile::RustcArgs),
    Build(build::Args),
    Cargo(cargo::Args),
    Record(record::Args),
    Watch(watch::Args),
    Predict(predict::Args),
    Explore(explore::Args),
    Scan(scan::Args),
    Replay(replay::Args),
    Report(report::Args),
    Ls(ls::Args),
    Rm(rm::Args),
    Trace(trace::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    Help(help::Args),
}

/// The commands and their options, as they are defined.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Runs what the user typed.
pub fn run(args: Vec<OsString>) -> Result<ExitCode> {
    let applied = apply::applied(args)?;
    let cli = Cli::try_parse_from(&applied.args).unwrap_or_else(|error| refuse(&error, &applied));
    match cli.command {
        Command::Check(args) => args.run().map(ExitCode::from),
        Command::Cc(args) => args.run(),
        Command::Cxx(args) => args.run(),
        Command::Rustc(args) => args.run(),
        Command::Cargo(args) => args.run(),
        Command::Build(args) => args.run().map(ExitCode::from),
        Command::Record(args) => args.run(),
        Command::Watch(args) => args.run(),
        Command::Predict(args) => args.run().map(ExitCode::from),
        Command::Explore(args) => args.run().map(ExitCode::from),
        Command::Scan(args) => args.run(&applied.args[2..]),
        Command::Replay(args) => args.run().map(ExitCode::from),
        Command::Report(args) => args.run().map(ExitCode::from),
        Command::Ls(args) => args.run().map(ExitCode::from),
        Command::Rm(args) => args.run().map(ExitCode::from),
        Command::Trace(args) => args.run(),
        Command::Completions(args) => args.run().map(ExitCode::from),
        Command::Man(args) => args.run().map(ExitCode::from),
        Command::Config(args) => args.run().map(ExitCode::from),
        Command::Doctor(args) => args.run().map(ExitCode::from),
        Command::Help(args) => args.run(),
    }
}

/// What a command line means, in one text: to compare.
#[cfg(test)]
pub fn meaning(args: &[OsString]) -> Result<String, clap::Error> {
    Cli::try_parse_from(args).map(|cli| format!("{cli:?}"))
}

/// Ends with what is wrong about a command line, or with the help that it asks for.
fn refuse(error: &clap::Error, applied: &Applied) -> ! {
    if error.use_stderr() {
        let _ = error.print();
        for (name, place) in &applied.from {
            anstream::eprintln!("  note: --{name} is set in {place}");
        }
        std::process::exit(error.exit_code());
    }
    error.exit()
}
