//! `deadheat scan`: its place among the commands. The work is done by [`deadheat_engine::scanner`].

use std::ffi::OsString;
use std::process::ExitCode;

use deadheat_engine::scanner;
use deadheat_scan_options::{Arguments, EXAMPLES};
use deadheat_session::error::Result;

use crate::settings::file::File;
use crate::settings::table::Table;

/// Finds possible races and deadlocks in source code or LLVM bitcode, without running it.
#[derive(Debug, clap::Args)]
#[command(version, after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    arguments: Arguments,
}

impl Args {
    /// Has the analyser scan: `args` are those that `self` was made of.
    pub fn run(self, args: &[OsString]) -> Result<ExitCode> {
        let file = File::find(self.arguments.config.as_deref(), &Table::own())?;
        let mut all = file.config.untold();
        all.extend_from_slice(args);
        match scanner::run(&all)? {}
    }
}
