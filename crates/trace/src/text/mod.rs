//! Traces as text, in and out: STD as RAPID reads and writes it, and the full format, a superset
//! of it that says everything a trace holds and that people can write by hand.
//!
//! A line is an event, `thread|op(target)|location`. The grammar, all operations and examples are
//! in `docs/trace-text.md`.
//!
//! ```
//! use deadheat_trace::text;
//!
//! let trace = text::parse(
//!     "# a message passed through an atomic flag
//!      T0 | fork(T1)       | main.c:10
//!      T0 | w(data=42)     | main.c:11
//!      T0 | aw(flag=1,rel) | main.c:12
//!      T1 | ar(flag=1,acq) | main.c:20
//!      T1 | branch         | main.c:20
//!      T1 | r(data=42)     | main.c:21",
//! )?;
//! assert_eq!(trace.steps.len(), 6);
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! The folder: `line` is the grammar of an event, `directive` that of `#!` lines, both on top of
//! `cursor`; `names` turns names into numbers; `read` is the stream. On the way out `tokens` turns
//! numbers into names, `write` writes the full format and `standard` STD.

mod cursor;
mod directive;
mod error;
mod line;
mod location;
mod named;
mod names;
mod read;
mod standard;
mod tokens;
mod words;
mod write;

use std::collections::BTreeMap;
use std::io::Write;

pub use error::{ParseError, Problem};
pub use read::Reader;

use crate::{Annotate, Op, Steps, Trace, WriteError};

/// The word that names the format in a header.
const FORMAT: &str = "deadheat-trace";
/// The format's version.
const VERSION: u32 = 1;
/// The longest line that is read, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Which text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// STD, as RAPID reads and writes it: nothing but `acq rel r w fork join begin end`, names
    /// without white space, numbers as locations, no comments.
    Std,
    /// Deadheat's own, everything that a trace holds.
    Full,
}

/// Reads a text trace of the full format, or of STD, from memory.
///
/// ```
/// use deadheat_trace::text;
/// let trace = text::parse("T0|r(x:4=-1)|7\n")?;
/// assert_eq!(trace.steps[0].read(), Some(0xFFFF_FFFF));
/// # Ok::<(), text::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Trace, ParseError> {
    Reader::new(text.as_bytes(), Flavor::Full)?.collect_trace()
}

/// Reads an STD trace from memory, and nothing else: a name is whatever stands in the
/// parentheses, `x=5` too.
///
/// ```
/// use deadheat_trace::text;
/// assert!(text::parse_std("T0|r(x)|7\n").is_ok());
/// assert!(text::parse_std("T0|r(x)|main.c:7\n").is_err());
/// ```
pub fn parse_std(text: &str) -> Result<Trace, ParseError> {
    Reader::new(text.as_bytes(), Flavor::Std)?.collect_trace()
}

/// What was written, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many lines with events.
    pub lines: u64,
    /// How many steps STD can say only in a roundabout way: atomics as accesses under a lock,
    /// barriers and the like as a lock that is taken and given back.
    pub translated: BTreeMap<Op, u64>,
    /// How many steps were left out because STD cannot say them.
    pub dropped: BTreeMap<Op, u64>,
    /// What the numbers stand for that STD has as locations, other than themselves.
    pub locations: Vec<(i32, String)>,
    /// What of that keeps events in an order which the file does not have: see [`lacks`].
    pub lacks: Vec<&'static str>,
}

/// What an STD file that Deadheat has written lacks, by its last line: kinds of synchronisation that STD cannot say. Accesses
/// that only these keep apart would race in other orders of the file's critical sections, though never in its own.
///
/// ```
/// use deadheat_trace::text;
///
/// let trace = text::parse("T0|post(s)|1\nT1|take(s)|2\n")?;
/// let mut out = Vec::new();
/// text::write(&mut trace.stream(), &mut out, text::Flavor::Std)?;
/// let last = std::str::from_utf8(&out)?.lines().next_back();
/// assert_eq!(last.and_then(text::lacks), Some("semaphores".to_owned()));
/// assert_eq!(text::lacks("T0|rel(m)|7"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lacks(last_line: &str) -> Option<String> {
    standard::lacks(last_line)
}

/// Writes a trace as text. Nothing is lost in [`Flavor::Full`] but the modules: a recording's
/// locations become `module+0xoffset`.
///
/// ```
/// use deadheat_trace::{Op, text};
///
/// let trace = text::parse("T0|w(x=1)|a.c:1\nT0|branch|a.c:2\n")?;
/// let mut out = Vec::new();
/// let written = text::write(&mut trace.stream(), &mut out, text::Flavor::Std)?;
/// assert_eq!(out, b"T0|w(x)|1\n");
/// assert_eq!(written.dropped[&Op::Branch], 1);
/// assert_eq!(written.locations, [(1, "a.c:1".to_string())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<S: Steps, W: Write>(
    steps: &mut S,
    out: W,
    flavor: Flavor,
) -> Result<Written, WriteError<S::Error>> {
    match flavor {
        Flavor::Std => standard::write(steps, out),
        Flavor::Full => write::write(steps, out, &mut (), false),
    }
}

/// Writes a trace in the full format with what somebody else knows about it: locations, a `branch`
/// before each step that one was passed before, and in comments what branches and addresses
/// depend on; the functions of each place too if `functions` is set.
pub fn write_annotated<S: Steps, W: Write>(
    steps: &mut S,
    out: W,
    annotate: &mut dyn Annotate,
    functions: bool,
) -> Result<Written, WriteError<S::Error>> {
    write::write(steps, out, annotate, functions)
}
