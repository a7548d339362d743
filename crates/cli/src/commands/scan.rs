//! `deadheat scan`: its place among the commands. The work is done by [`crate::scanner`].

use std::ffi::OsString;
use std::process::ExitCode;

use crate::error::Result;
use crate::scanner;

const EXAMPLES: &str = "\
Examples:
  deadheat scan src/*.c -- -Iinclude        sources, with flags for the compiler
  deadheat scan --format sarif -o races.sarif prog.c
  deadheat scan --help                      all options";

/// Finds possible races and deadlocks in source code or LLVM bitcode, without running it.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub struct Args {
    /// The analyser's arguments: `deadheat scan --help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Scans.
    pub fn run(self) -> Result<ExitCode> {
        match scanner::run(&self.args)? {}
    }
}
