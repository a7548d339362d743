//! `deadheat trace cat`: prints a trace.

use std::io::{BufWriter, stdout};

use deadheat_trace::{json, text, verify};

use super::part::{Part, Positions, Thread};
use super::{Format, Which};
use crate::error::Result;
use crate::exit::Exit;
use crate::input;

const EXAMPLES: &str = "\
Examples:
  deadheat trace cat | less                 the latest recording
  deadheat trace cat 3 --window 100..200    events 100 to 199 of recording 3
  deadheat trace cat 3 --thread T2          what one thread did
  deadheat trace cat other.std              a text trace
  deadheat trace cat --format json | jq .

The text format is described in docs/trace-text.md.";

/// Prints a trace as text or JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,

    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Only the events from A up to but not including B; either may be left out.
    #[arg(long, value_name = "A..B")]
    window: Option<Positions>,

    /// Only the events of this thread, by number or name; may be given several times.
    #[arg(long, value_name = "THREAD")]
    thread: Vec<Thread>,

    /// Put an explicit event where memory was changed by code that is not instrumented.
    #[arg(long)]
    repair: bool,
}

impl Args {
    /// Prints it.
    pub fn run(self) -> Result<Exit> {
        let path = self.which.path()?;
        let input = input::open(&path)?;
        let out = BufWriter::with_capacity(1 << 16, stdout().lock());
        let format = self.format;
        let part = (self.window, self.thread);
        let written = if self.repair {
            print(
                Part::new(verify::repair(input), part.0, part.1),
                out,
                format,
            )
        } else {
            print(Part::new(input, part.0, part.1), out, format)
        };
        written.map_err(|error| input::not_converted(&path, &error))?;
        Ok(Exit::Clean)
    }
}

fn print<S: deadheat_trace::Steps>(
    mut steps: S,
    out: impl std::io::Write,
    format: Format,
) -> Result<(), deadheat_trace::WriteError<S::Error>> {
    match format {
        Format::Text => text::write(&mut steps, out, text::Flavor::Full).map(drop),
        Format::Std => text::write(&mut steps, out, text::Flavor::Std).map(drop),
        Format::Json => json::write(&mut steps, out).map(drop),
    }
}
