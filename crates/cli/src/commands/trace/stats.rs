//! `deadheat trace stats`: a trace in figures.

use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::progress::Watched;
use deadheat_trace::stats;

use super::Which;

const EXAMPLES: &str = "\
Examples:
  deadheat trace stats                      the latest recording
  deadheat trace stats 3
  deadheat trace stats --json | jq .shared_words";

/// Counts what a trace holds: events, threads, locks, shared memory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Counts and prints.
    pub fn run(self) -> Result<Exit> {
        let path = self.which.path()?;
        let mut steps = Watched::new(input::open(&path)?, "counting");
        let stats = stats::of(&mut steps).map_err(|error| input::broken(&path, &error))?;
        let notes = steps.into_inner().remarks();
        if self.json {
            let text = serde_json::to_string_pretty(&stats).expect("plain data has a JSON form");
            println!("{text}");
        } else {
            print!("{stats}");
        }
        input::tell(&notes);
        Ok(Exit::Clean)
    }
}
