//! `deadheat trace cat`: prints a trace.

use std::io::{BufWriter, Write, stdout};

use deadheat_analysis::symbols::{Followed, Shared};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_trace::{Annotate, Steps, WriteError, json, text, verify};

use super::part::{Part, Positions, Thread};
use super::{Format, Which};

const EXAMPLES: &str = "\
Examples:
  deadheat trace cat | less                 the latest recording
  deadheat trace cat 3 --window 100..200    events 100 to 199 of recording 3
  deadheat trace cat 3 --thread T2          what one thread did
  deadheat trace cat other.std              a text trace
  deadheat trace cat --frames               with functions, also inlined ones
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

    /// Also the functions of each event, with those that were inlined, as comments (text).
    #[arg(long, conflicts_with = "no_symbols")]
    frames: bool,

    /// Places as they are recorded, and no branches: the program's files are not looked at.
    #[arg(long)]
    no_symbols: bool,

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
        let recorded = !input.tables().modules.is_empty();
        let symbols = recorded && !self.no_symbols && self.format != Format::Std;
        let symbols = symbols.then(|| Shared::of(input.tables()));
        let printer = Printer {
            format: self.format,
            frames: self.frames,
            symbols: symbols.clone(),
        };
        let followed = Followed::new(input, symbols.clone());
        let (positions, threads) = (self.window, self.thread);
        let written = if self.repair {
            let repaired = verify::repair(followed);
            printer.print(Part::new(repaired, positions, threads), out)
        } else {
            printer.print(Part::new(followed, positions, threads), out)
        };
        written.map_err(|error| input::not_converted(&path, &error))?;
        if let Some(symbols) = symbols {
            input::tell(&symbols.remarks());
        }
        Ok(Exit::Clean)
    }
}

/// How a trace is printed.
struct Printer {
    format: Format,
    frames: bool,
    symbols: Option<Shared>,
}

impl Printer {
    fn print<S: Steps>(
        mut self,
        mut steps: S,
        out: impl Write,
    ) -> Result<(), WriteError<S::Error>> {
        let mut nobody = ();
        let annotate: &mut dyn Annotate = match &mut self.symbols {
            Some(symbols) => symbols,
            None => &mut nobody,
        };
        match self.format {
            Format::Text => text::write_annotated(&mut steps, out, annotate, self.frames).map(drop),
            Format::Std => text::write(&mut steps, out, text::Flavor::Std).map(drop),
            Format::Json => json::write_annotated(&mut steps, out, annotate).map(drop),
        }
    }
}
