//! Expected failures: what went wrong, where, and what to do about it.
//!
//! Everything a user can bring about ends in an [`Error`] with a documented exit code. What
//! cannot happen panics, and `main` says that this is a bug.

use std::fmt::{self, Display};

use anstyle::{AnsiColor, Style};

use crate::exit::Exit;
use crate::here::seen;

/// A failure that the user can do something about.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    what: String,
    notes: Vec<String>,
    help: Vec<String>,
}

/// The result of everything that may fail in an expected way.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure in one line: what, and where.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Error {
            exit,
            what: what.into(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Wrong usage.
    pub fn usage(what: impl Into<String>) -> Self {
        Error::new(Exit::Usage, what)
    }

    /// A program that could not be built, started or recorded.
    pub fn not_started(what: impl Into<String>) -> Self {
        Error::new(Exit::NotStarted, what)
    }

    /// Adds what explains the failure.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what the user can do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The failure in one line.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What the user can do.
    pub fn advice(&self) -> &[String] {
        &self.help
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints it on standard error, in colour where that is wanted.
    pub fn print(&self) {
        let (red, cyan) = (style(AnsiColor::Red), style(AnsiColor::Cyan));
        anstream::eprintln!("deadheat: {red}error{red:#}: {}", seen(&self.what));
        for note in &self.notes {
            anstream::eprintln!("  {cyan}note{cyan:#}: {}", indent(&seen(note)));
        }
        for help in &self.help {
            anstream::eprintln!("  {cyan}help{cyan:#}: {}", indent(&seen(help)));
        }
    }
}

const fn style(color: AnsiColor) -> Style {
    Style::new()
        .bold()
        .fg_color(Some(anstyle::Color::Ansi(color)))
}

/// Lines after the first stand under the first.
fn indent(text: &str) -> String {
    text.replace('\n', "\n        ")
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        for help in &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
