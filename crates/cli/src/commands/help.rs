//! `deadheat help`: the commands, one of them, or all options that can be set.

use std::ffi::OsString;
use std::process::ExitCode;

use deadheat_session::error::Result;
use deadheat_session::exit::Exit;

use crate::settings::list;
use crate::settings::table::Table;

const EXAMPLES: &str = "\
Examples:
  deadheat help                             all commands
  deadheat help check                       one of them
  deadheat help trace cat
  deadheat help options                     all options that can be set, and where";

/// Explains a command, or all options that can be set.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A command, or `options`.
    #[arg(value_name = "COMMAND|options")]
    topic: Vec<OsString>,
}

impl Args {
    /// Explains.
    pub fn run(self) -> Result<ExitCode> {
        if self.topic == ["options"] {
            anstream::print!("{}", list::text(&Table::own()));
            return Ok(Exit::Clean.into());
        }
        let mut words = vec![OsString::from("deadheat")];
        words.extend(self.topic);
        words.push("--help".into());
        crate::run(words)
    }
}
