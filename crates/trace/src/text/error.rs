//! What can be wrong with a text trace, and where.

use thiserror::Error;

/// Why a text trace cannot be read: the place and the problem.
///
/// ```
/// use deadheat_trace::text;
///
/// let error = text::parse("T0|w(x=1)|1\nT0|r(x:9y=1)|2\n").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 8));
/// assert_eq!(
///     error.to_string(),
///     "line 2, column 8: expected a number of bytes such as 4 (quote names that contain a `:`), \
///      found `9y`"
/// );
/// ```
#[derive(Debug, Error)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: u64,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a line of a text trace.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A line has too few or too many fields.
    #[error("expected three fields, `thread|op(target)|location`, found {found}")]
    Fields {
        /// How many it has.
        found: usize,
    },
    /// Something else stands where a part of the line should be.
    #[error("expected {what}, found {}", quoted(found))]
    Expected {
        /// What should be there.
        what: &'static str,
        /// What is there.
        found: String,
    },
    /// An operation that there is not.
    #[error("`{word}` is no operation{}", hint(*nearest))]
    UnknownOp {
        /// What stands there.
        word: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// An operation of the full format in a file that is read as STD.
    #[error(
        "`{word}` is no operation of STD (acq, rel, r, w, fork, join, begin, end){}",
        if *full { "; read the file as a full text trace" } else { "" }
    )]
    NotStd {
        /// What stands there.
        word: String,
        /// It is an operation of the full format.
        full: bool,
    },
    /// A value that its variable cannot hold.
    #[error("{value} does not fit into {size} byte{}", if *size == 1 { "" } else { "s" })]
    ValueTooLarge {
        /// The value, as written.
        value: String,
        /// How many bytes there are.
        size: u64,
    },
    /// An access past the end of a variable.
    #[error(
        "the variable `{name}` has {has} bytes, this needs {needs}; \
         write `#! variable {name} {needs}` before its first use"
    )]
    Beyond {
        /// The variable.
        name: String,
        /// Its size.
        has: u64,
        /// How far the access reaches.
        needs: u64,
    },
    /// A variable is declared after its first use, or twice with different sizes.
    #[error("the variable `{name}` has {has} bytes already; declare it before its first use")]
    Redeclared {
        /// The variable.
        name: String,
        /// Its size.
        has: u64,
    },
    /// A header that is not the first line.
    #[error("the header must come before everything but comments")]
    LateHeader,
    /// A file of a later version of the format.
    #[error("the trace has format version {version}, this Deadheat knows 1; use a newer Deadheat")]
    Newer {
        /// The version it says.
        version: String,
    },
    /// A line that is not UTF-8.
    #[error("the line is not UTF-8 text; is this a text trace?")]
    NotText,
    /// The file is a recording, not a text trace.
    #[error("this is a recording, not a text trace; convert it with `deadheat trace convert`")]
    Recording,
    /// A line that no trace has.
    #[error("the line is longer than {limit} bytes; is this a text trace?")]
    LineTooLong {
        /// The longest that is read.
        limit: usize,
    },
    /// More of something than an event can name.
    #[error("no more than {limit} {what} are possible")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// The file cannot be read.
    #[error("cannot read on: {0}")]
    Io(std::io::Error),
}

/// A problem and the byte of the line that it is at; the reader adds the line.
#[derive(Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub problem: Problem,
}

impl Fault {
    pub fn new(at: usize, problem: Problem) -> Self {
        Fault { at, problem }
    }

    /// `what` was expected at byte `at`, where `found` stands.
    pub fn expected(at: usize, what: &'static str, found: &str) -> Self {
        let problem = Problem::Expected {
            what,
            found: found.to_owned(),
        };
        Fault { at, problem }
    }

    /// The error for this line of the file.
    pub fn on_line(self, line: u64, text: &str) -> ParseError {
        let before = text.char_indices().take_while(|(at, _)| *at < self.at);
        ParseError {
            line,
            column: before.count() + 1,
            problem: self.problem,
        }
    }
}

/// At most this much of a line is repeated in a message.
const LONGEST_QUOTE: usize = 40;

fn quoted(found: &str) -> String {
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let mut shown = String::new();
    for c in found.chars().take(LONGEST_QUOTE) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    let dots = match found.chars().nth(LONGEST_QUOTE) {
        Some(_) => "...",
        None => "",
    };
    format!("`{shown}{dots}`")
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(word) => format!("; did you mean `{word}`?"),
        None => "; the operations are listed in docs/trace-text.md".to_owned(),
    }
}
