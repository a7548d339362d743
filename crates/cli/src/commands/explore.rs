//! `deadheat explore`.

use std::path::PathBuf;

use deadheat_explore::search::{Manner, Program};

use crate::error::Result;
use crate::exit::Exit;

/// Explores.
#[derive(Debug, clap::Args)]
pub struct Args {
    trace: PathBuf,
    #[arg(long)]
    runs: u64,
    #[arg(long)]
    again: bool,
}

impl Args {
    pub fn run(self) -> Result<Exit> {
        let again = crate::again::of(&self.trace)?;
        let mut copies = crate::explore::copies::Copies::new(&again, None, !self.again)?;
        let manner = Manner {
            longest: 100_000,
            ..Manner::default()
        };
        let since = std::time::Instant::now();
        let mut last = None;
        for _ in 0..self.runs {
            last = Some(copies.run(&[], &manner)?);
        }
        eprintln!("{:?} copied {}", since.elapsed(), copies.is_copied);
        if let Some(last) = last {
            for t in &last.transitions {
                eprintln!("{t:x?}");
            }
            eprintln!("{:x?} {:?}", last.pending, last.ending);
        }
        Ok(Exit::Clean)
    }
}
