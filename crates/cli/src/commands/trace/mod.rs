//! `deadheat trace`: looks into traces.

mod cat;
mod convert;
mod part;
mod stats;
pub mod verify;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use deadheat_run::store::{Store, select};
use deadheat_session::error::Result;

const EXAMPLES: &str = "\
Examples:
  deadheat trace stats                      the latest recording in figures
  deadheat trace cat 3 | less               recording 3, event by event
  deadheat trace convert --to std -o run.std
  deadheat trace verify run.std";

/// Looks into traces: prints, counts, converts and verifies them.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Cat(cat::Args),
    Stats(stats::Args),
    Convert(convert::Args),
    Verify(verify::Args),
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let exit = match self.command {
            Command::Cat(args) => args.run(),
            Command::Stats(args) => args.run(),
            Command::Convert(args) => args.run(),
            Command::Verify(args) => args.run(),
        }?;
        Ok(exit.into())
    }
}

/// Which trace is meant.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// A recording's number, `latest`, or the path of a recording or text trace.
    #[arg(value_name = "TRACE", default_value = "latest")]
    trace: OsString,
}

impl Which {
    /// Its path.
    pub fn path(&self) -> Result<PathBuf> {
        select::trace(&Store::of_project()?, Some(&self.trace))
    }
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Deadheat's text format, which says everything.
    Text,
    /// STD, the text format of RAPID: accesses, locks, fork and join.
    Std,
    /// One JSON object per line.
    Json,
}
