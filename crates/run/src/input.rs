//! Opens a trace, whatever it is: a recording or text, told apart by its first bytes.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Watched;
use deadheat_session::terminal::say;
use deadheat_trace::file::{Damage, OpenError, Reader, TraceFile};
use deadheat_trace::{Mode, Step, Steps, Tables, WriteError, text};

use crate::store::info::Contents;

/// The first bytes of a recording.
pub const MAGIC: &[u8] = b"DEADHEAT";

/// What the runtime gives as the reason of a recording's end when it stopped a deadlock.
const DEADLOCK: &str = "deadlock";

/// A trace from a file.
pub enum Input {
    /// A recording. The file stays open to the end of the process: a command reads one trace.
    Recording(&'static TraceFile, Box<Reader<'static>>),
    /// Text, of either kind.
    Text(Box<Text>),
}

/// A text trace.
pub struct Text {
    reader: text::Reader<BufReader<File>>,
    /// What it lacks, by its own account, that would keep events in order.
    lacks: Option<String>,
}

/// Why a trace cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] OpenError),
    /// The text is malformed.
    #[error(transparent)]
    Text(#[from] text::ParseError),
}

/// Whether a file is a recording, by its first bytes.
pub fn is_recording(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *MAGIC
}

/// Opens the trace at `path`. A file named `.std` is read as STD and nothing else.
pub fn open(path: &Path) -> Result<Input> {
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut head = Vec::new();
    let start = file
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut head);
    start
        .and_then(|_| file.rewind())
        .map_err(|error| unreadable(path, &error))?;
    if head == MAGIC {
        let mut file = TraceFile::open(path).map_err(|error| broken(path, &error.into()))?;
        file.set_roles(deadheat_report::roles(file.tables()));
        let file: &'static TraceFile = Box::leak(Box::new(file));
        return Ok(Input::Recording(file, Box::new(file.read())));
    }
    if head.contains(&0) {
        return Err(not_a_trace(path));
    }
    let lacks = last_line(&mut file).map_err(|error| unreadable(path, &error))?;
    let lacks = text::lacks(&lacks);
    let flavor = match path.extension() {
        Some(extension) if extension == "std" => text::Flavor::Std,
        _ => text::Flavor::Full,
    };
    let reader = text::Reader::new(BufReader::new(file), flavor);
    let reader = reader.map_err(|error| broken(path, &error.into()))?;
    Ok(Input::Text(Box::new(Text { reader, lacks })))
}

/// The last line of a file, as far as it is not very long; the file is at its start again.
fn last_line(file: &mut File) -> io::Result<String> {
    const LONGEST: u64 = 1 << 10;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
    let mut end = Vec::new();
    file.by_ref().take(LONGEST).read_to_end(&mut end)?;
    file.rewind()?;
    let end = String::from_utf8_lossy(&end);
    Ok(end.lines().next_back().unwrap_or_default().to_owned())
}

impl Input {
    /// What the user should know about it, once it has been read.
    pub fn remarks(&self) -> Vec<String> {
        let Input::Recording(file, reader) = self else {
            return Vec::new();
        };
        let damage = file.damage().iter().chain(reader.damage());
        let notes = file.tables().notes.iter().cloned();
        notes.chain(damage.map(ToString::to_string)).collect()
    }

    /// What it lacks, by its own account, that would keep its events in order: it was made from a trace that had it.
    pub fn lacks(&self) -> Option<&str> {
        match self {
            Input::Recording(..) => None,
            Input::Text(text) => text.lacks.as_deref(),
        }
    }

    /// The number of the line read last, if it is text.
    pub fn line(&self) -> Option<u64> {
        match self {
            Input::Recording(..) => None,
            Input::Text(text) => Some(text.reader.line()),
        }
    }

    /// The seed of its schedule.
    fn seed(&self) -> u64 {
        match self {
            Input::Recording(file, _) => file.seed(),
            Input::Text(_) => 0,
        }
    }

    /// Whether nothing is missing from it.
    fn is_complete(&self) -> bool {
        match self {
            Input::Recording(file, reader) => {
                file.closed().is_some() && file.damage().is_empty() && reader.damage().is_empty()
            }
            Input::Text(_) => true,
        }
    }

    /// Whether the program was stopped in a deadlock.
    pub fn is_deadlocked(&self) -> bool {
        match self {
            Input::Recording(file, _) => file.closed() == Some(DEADLOCK),
            Input::Text(_) => false,
        }
    }

    /// Whether the recording stopped before the program ended, and said why.
    fn is_stopped(&self) -> bool {
        let is_stop = |damage: &Damage| matches!(damage, Damage::Stopped { .. });
        match self {
            Input::Recording(file, _) => file.damage().iter().any(is_stop),
            Input::Text(_) => false,
        }
    }

    /// Whether the program was stopped because nothing would ever end it.
    fn hangs(&self) -> bool {
        match self {
            Input::Recording(file, _) => file.closed() == Some(deadheat_wire::HANGS),
            Input::Text(_) => false,
        }
    }

    /// Why the program was stopped though it might have gone on some time.
    fn patience(&self) -> Option<Patience> {
        match self {
            Input::Recording(file, _) => file.closed().and_then(Patience::of),
            Input::Text(_) => None,
        }
    }
}

impl Steps for Input {
    type Error = ReadError;

    fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        match self {
            Input::Recording(_, reader) => {
                let Ok(step) = reader.next_step();
                Ok(step)
            }
            Input::Text(text) => Ok(text.reader.next_step()?),
        }
    }

    fn tables(&self) -> &Tables {
        match self {
            Input::Recording(_, reader) => reader.tables(),
            Input::Text(text) => text.reader.tables(),
        }
    }

    /// What a trace lacks makes the order of what it has inexact.
    fn mode(&self) -> Mode {
        match self {
            Input::Recording(_, reader) => reader.mode(),
            Input::Text(text) if text.lacks.is_some() => Mode::Parallel,
            Input::Text(text) => text.reader.mode(),
        }
    }

    fn is_made_up(&self) -> bool {
        match self {
            Input::Recording(_, reader) => reader.is_made_up(),
            Input::Text(_) => false,
        }
    }
}

fn not_a_trace(path: &Path) -> Error {
    let shown = path.display();
    Error::usage(format!("{shown} is neither a recording nor a text trace"))
        .help("name a recording made by `deadheat record`, or a text trace")
}

/// The failure to read a trace on.
pub fn broken(path: &Path, error: &ReadError) -> Error {
    let shown = path.display();
    match error {
        ReadError::Recording(error) => Error::usage(error.to_string()),
        ReadError::Text(error) => match error.problem {
            text::Problem::NotText => not_a_trace(path),
            _ => Error::usage(format!("{shown}: {error}"))
                .help("the format of text traces is described in docs/trace-text.md"),
        },
    }
}

/// The failure to write a trace in another form.
pub fn not_converted(path: &Path, error: &WriteError<ReadError>) -> Error {
    match error {
        WriteError::Read(error) => broken(path, error),
        WriteError::Write(error) => Error::usage(format!("cannot write: {error}")),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("cannot read {}: {error}", path.display()))
}

/// Tells the user what they should know about a trace.
pub fn tell(remarks: &[String]) {
    for remark in remarks {
        say(format_args!("note: {remark}"));
    }
}

/// Why a recorded program was stopped that waited, and might have gone on some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Only something outside could have ended its waits.
    Outside,
    /// Its threads only waited in loops.
    Rounds,
}

impl Patience {
    /// What a recording was closed for.
    fn of(reason: &str) -> Option<Self> {
        match reason {
            deadheat_wire::OUTSIDE => Some(Patience::Outside),
            deadheat_wire::ROUNDS => Some(Patience::Rounds),
            _ => None,
        }
    }

    /// What is not known of the program, in words.
    pub fn told(self) -> &'static str {
        match self {
            Patience::Outside => {
                "the program waited for something outside that did not come, and was ended: what it \
                 would have done later was not looked at"
            }
            Patience::Rounds => {
                "all threads waited, or went round in loops that ask for the time, yield or sleep, \
                 and the program was ended: whether it would ever go on is not known"
            }
        }
    }
}

/// What a trace holds, and what the user should know about it.
pub struct Survey {
    /// What it holds.
    pub contents: Contents,
    /// What the user should know.
    pub remarks: Vec<String>,
    /// Whether the program was stopped in a deadlock.
    pub deadlocked: bool,
    /// Whether the recording stopped before the program ended, and said why.
    pub is_stopped: bool,
    /// Whether it was stopped because nothing would ever end it.
    pub hangs: bool,
    /// Why it was stopped though it might have gone on.
    pub patience: Option<Patience>,
}

/// Whether any of these traces has more than one thread.
pub fn any_has_threads(traces: &[PathBuf]) -> Result<bool> {
    for trace in traces {
        if survey(trace)?.contents.threads > 1 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a trace once to see what it holds.
pub fn survey(path: &Path) -> Result<Survey> {
    let bytes = path.metadata().map_or(0, |data| data.len());
    let mut steps = Watched::new(open(path)?, "counting");
    let mut events = 0;
    let mut last_thread = 0;
    while let Some(step) = steps.next_step().map_err(|error| broken(path, &error))? {
        events += 1;
        last_thread = last_thread.max(step.event.thread().0);
    }
    let input = steps.into_inner();
    let remarks = input.remarks();
    Ok(Survey {
        contents: Contents {
            serial: input.mode() == Mode::Serial,
            seed: input.seed(),
            events,
            left_out: input.tables().left_out,
            threads: input.tables().threads.len().max(1) as u64,
            bytes,
            complete: input.is_complete(),
        },
        deadlocked: input.is_deadlocked(),
        is_stopped: input.is_stopped(),
        hangs: input.hangs(),
        patience: input.patience(),
        remarks,
    })
}
