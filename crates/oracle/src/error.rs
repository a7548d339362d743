//! What can be wrong with a program's marks, and where.

use std::path::{Path, PathBuf};

/// A problem, with the file and, where there is one, the line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", place(path, *line))]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from one.
    pub line: Option<u32>,
    /// What is wrong.
    #[source]
    pub problem: Problem,
}

impl Error {
    pub(crate) fn new(path: &Path, line: Option<u32>, problem: Problem) -> Error {
        Error {
            path: path.to_path_buf(),
            line,
            problem,
        }
    }
}

fn place(path: &Path, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// What can be wrong.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file or folder could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    /// A mark or directive is not of its form.
    #[error("malformed {keyword}: expected `{expected}`")]
    Malformed {
        /// The mark's or directive's first word.
        keyword: String,
        /// The form it must have.
        expected: &'static str,
    },
    /// The header has a line that looks like a directive, but there is none of this name.
    #[error("unknown directive `{0}`")]
    UnknownDirective(String),
    /// A directive that can be given once is given again.
    #[error("second `{0}`")]
    Repeated(String),
    /// A mark for the whole program stands outside the header.
    #[error("`{0}` for the whole program belongs into the header")]
    OutsideHeader(String),
    /// A mark for one line stands on a line that has only the comment.
    #[error("`{0}` stands on a line without code")]
    NoCode(String),
    /// A mark names a line that the file does not have.
    #[error("there is no line {0}")]
    NoSuchLine(u32),
    /// The partner line does not carry the mirrored mark.
    #[error("line {partner} does not mirror this mark for `{object}`")]
    Unmirrored {
        /// The line that should mirror it.
        partner: u32,
        /// The object, lock or condition that is named here.
        object: String,
    },
    /// A mark names a file that is not there.
    #[error("there is no file {0} beside this one")]
    NoSuchFile(String),
    /// The partner line in another file does not carry the mirrored mark.
    #[error("line {partner} of {file} does not mirror this mark for `{object}`")]
    UnmirroredAcross {
        /// The other file.
        file: String,
        /// The line that should mirror it.
        partner: u32,
        /// The object that is named here.
        object: String,
    },
    /// A lock is said to be held in a deadlock, but nobody in it waits for that lock.
    #[error("`{0}` is held here, but no request of this deadlock waits for it")]
    HeldInVain(String),
    /// Two verdicts exclude each other.
    #[error("`{0}` and `{1}` contradict each other")]
    Contradiction(&'static str, &'static str),
}
