//! `deadheat trace convert`: writes a trace in another format.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use deadheat_analysis::config::Config;
use deadheat_analysis::interleaving::Loaded;
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::progress::Watched;
use deadheat_session::terminal::{count, say};
use deadheat_trace::{Op, Steps, WriteError, json, text, verify};

use super::{Format, Which};

const EXAMPLES: &str = "\
Examples:
  deadheat trace convert --to std -o run.std        for RAPID and tools like it
  deadheat trace convert 3 --to json -o run.jsonl
  deadheat trace convert run.std --to text
  deadheat trace convert --to csp -o run.csp        a model of its interleavings, for FDR

What STD cannot say is left out or said in a roundabout way; how much of it is told at the end.";

/// Writes a trace in another format.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,

    /// The format.
    #[arg(long, value_enum)]
    to: Target,

    /// The file; standard output if it is not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Put an explicit event where memory was changed by code that is not instrumented.
    #[arg(long)]
    repair: bool,
}

/// What a trace can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Deadheat's text format, which says everything.
    Text,
    /// STD, the text format of RAPID: accesses, locks, fork and join.
    Std,
    /// One JSON object per line.
    Json,
    /// CSPM, the language of the refinement checker FDR: a model of the orders that synchronisation
    /// allows, with an assertion that no deadlock is among them and one for each shared object that no race is.
    Csp,
}

impl Args {
    /// Converts.
    pub fn run(self) -> Result<Exit> {
        let path = self.which.path()?;
        let format = match self.to {
            Target::Text => Format::Text,
            Target::Std => Format::Std,
            Target::Json => Format::Json,
            Target::Csp => return self.model(&path),
        };
        let input = input::open(&path)?;
        let out = BufWriter::with_capacity(1 << 16, self.out(&path)?);
        let written = if self.repair {
            convert(&mut verify::repair(input), out, format)
        } else {
            let mut steps = Watched::new(input, "converting");
            let written = convert(&mut steps, out, format);
            input::tell(&steps.into_inner().remarks());
            written
        };
        let written = written.map_err(|error| input::not_converted(&path, &error))?;
        tell(&written);
        Ok(Exit::Clean)
    }

    /// Writes the model of the trace's interleavings.
    fn model(&self, path: &Path) -> Result<Exit> {
        let (loaded, tables) = Loaded::read(path, &Config::default())?;
        let written = self.out(path)?.write_all(loaded.cspm(&tables).as_bytes());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Error::usage(format!("cannot write the model: {error}")))
            }
            _ => Ok(Exit::Clean),
        }
    }

    fn out(&self, path: &Path) -> Result<Box<dyn Write>> {
        Ok(match &self.output {
            None => Box::new(stdout().lock()),
            Some(output) => Box::new(self.create(output, path)?),
        })
    }

    fn create(&self, output: &Path, input: &Path) -> Result<File> {
        let same = output
            .canonicalize()
            .is_ok_and(|output| input.canonicalize().is_ok_and(|input| input == output));
        if same {
            return Err(
                Error::usage(format!("{} is the trace itself", output.display()))
                    .help("choose another name"),
            );
        }
        File::create(output)
            .map_err(|error| Error::usage(format!("cannot write {}: {error}", output.display())))
    }
}

fn convert<S: Steps>(
    steps: &mut S,
    out: impl Write,
    format: Format,
) -> Result<text::Written, WriteError<S::Error>> {
    match format {
        Format::Text => text::write(steps, out, text::Flavor::Full),
        Format::Std => text::write(steps, out, text::Flavor::Std),
        Format::Json => json::write(steps, out).map(|lines| text::Written {
            lines,
            ..text::Written::default()
        }),
    }
}

/// An operation's name: `barrier enter` for `BarrierEnter`.
fn in_words(op: Op) -> String {
    let mut words = String::new();
    for letter in format!("{op:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Says what the format could not hold.
fn tell(written: &text::Written) {
    let listed = |ops: &BTreeMap<Op, u64>| {
        let each = ops
            .iter()
            .map(|(op, n)| format!("{} {}", count(*n), in_words(*op)));
        each.collect::<Vec<_>>().join(", ")
    };
    if !written.translated.is_empty() {
        say(format_args!(
            "said in a roundabout way: {}",
            listed(&written.translated)
        ));
    }
    if !written.dropped.is_empty() {
        say(format_args!("left out: {}", listed(&written.dropped)));
    }
    if !written.lacks.is_empty() {
        say(format_args!(
            "note: STD cannot say {}: the file is marked, as it proves nothing about other orders than its own",
            written.lacks.join(", ").replace('-', " ")
        ));
    }
}
