//! `deadheat rm`: deletes recordings.

use std::ffi::OsString;

use deadheat_run::store::{Recording, Store, select};
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::{counted, say};

const EXAMPLES: &str = "\
Examples:
  deadheat rm 3 4                           delete these
  deadheat rm --keep 5                      delete all but the latest five
  deadheat rm --all                         delete all";

/// Deletes recordings of this project.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Numbers of recordings, or `latest`.
    #[arg(required_unless_present_any = ["keep", "all"], value_name = "RECORDING")]
    recordings: Vec<OsString>,

    /// Delete all but the latest N.
    #[arg(long, value_name = "N", conflicts_with_all = ["recordings", "all"])]
    keep: Option<usize>,

    /// Delete all.
    #[arg(long, conflicts_with = "recordings")]
    all: bool,
}

impl Args {
    /// Deletes them.
    pub fn run(self) -> Result<Exit> {
        let store = Store::of_project()?;
        let mut doomed: Vec<Recording> = Vec::new();
        for wish in &self.recordings {
            let found = select::by_number(&store, wish)?;
            doomed.extend([found.ok_or_else(|| {
                Error::usage(format!(
                    "{} is not the number of a recording",
                    wish.display()
                ))
                .help("`deadheat ls` lists them")
            })?]);
        }
        if let Some(kept) = self.all.then_some(0).or(self.keep) {
            let mut all = store.recordings();
            all.truncate(all.len().saturating_sub(kept));
            doomed = all;
        }
        for recording in &doomed {
            recording.remove()?;
        }
        say(format_args!(
            "deleted {}",
            counted(doomed.len() as u64, "recording")
        ));
        Ok(Exit::Clean)
    }
}
