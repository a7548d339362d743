//! Why a program's file cannot be used.

use std::path::PathBuf;

/// Why a program's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no ELF file, or a damaged one.
    #[error("{path} is no ELF file that can be understood: {reason}", path = path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The code is for a machine that is not known here.
    #[error("{path} is for a machine whose code is not understood: {machine}", path = path.display())]
    OtherMachine {
        /// Which file.
        path: PathBuf,
        /// What it is for.
        machine: String,
    },
}
