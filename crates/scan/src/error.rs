//! What can go wrong before there is a program to analyse.

use std::path::PathBuf;

/// Why there is no program to analyse.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model that cannot be read.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing was given.
    #[error(
        "there is nothing to analyse: give C, C++ or Rust sources, .bc or .ll files, or compile_commands.json"
    )]
    NoInput,
    /// A file of no known kind.
    #[error("{} is neither a source file (.c, .cc, .cpp, .cxx, .rs) nor bitcode (.bc, .ll)", path.display())]
    UnknownKind {
        /// The file.
        path: PathBuf,
    },
    /// A file that LLVM does not take.
    #[error("{} is not LLVM bitcode: {message}", path.display())]
    NotBitcode {
        /// The file.
        path: PathBuf,
        /// What LLVM says.
        message: String,
    },
    /// Bitcode that only a newer LLVM understands.
    #[error(
        "{} was made by {producer}, and only bitcode of LLVM 19 and before can be read; \
         make it with clang-19, or give LLVM's text (rustc --emit=llvm-ir)",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// What made it.
        producer: String,
    },
    /// Bitcode that breaks LLVM's own rules.
    #[error("{} is broken: {message}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What LLVM says.
        message: String,
    },
    /// Bitcode in which nothing is defined.
    #[error("{} defines no functions: there is nothing to analyse", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Bitcode of optimised code.
    #[error(
        "{} was optimised, so its accesses are no longer those of the source text; \
         compile with -O0 (or with -O2 -Xclang -disable-llvm-passes)",
        path.display()
    )]
    Optimised {
        /// The file.
        path: PathBuf,
    },
    /// Modules that do not fit together.
    #[error("{} does not fit to the files before it: {message}", path.display())]
    Unlinkable {
        /// The file that was added.
        path: PathBuf,
        /// What LLVM says.
        message: String,
    },
    /// LLVM could not bring the program into the form in which it is read.
    #[error("LLVM could not prepare the program: {message}")]
    Unprepared {
        /// What LLVM says.
        message: String,
    },
    /// A compiler cannot be started.
    #[error("cannot run {compiler}: {source} (is it installed?)")]
    NoCompiler {
        /// The compiler.
        compiler: String,
        /// Why.
        source: std::io::Error,
    },
    /// A compiler refused a file.
    #[error("{} does not compile; {command}\n{message}", path.display())]
    Uncompiled {
        /// The source file.
        path: PathBuf,
        /// How it was called.
        command: String,
        /// What it said.
        message: String,
    },
    /// A list of compilations that is none.
    #[error("{} is not a list of compilations: {message}", path.display())]
    BadCommands {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A file with settings that cannot be read.
    #[error("{}: {message}", path.display())]
    BadSetting {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A warning that there is none of.
    #[error(
        "there is no warning {id}; \
         names of warnings are made of their places, and change when lines move"
    )]
    NoSuchWarning {
        /// Its name.
        id: String,
    },
}

impl Error {
    /// The exit code: 2 for wrong usage, 3 for a program that could not be compiled or read.
    pub fn exit(&self) -> u8 {
        match self {
            Error::Model(_)
            | Error::NoInput
            | Error::UnknownKind { .. }
            | Error::BadSetting { .. }
            | Error::NoSuchWarning { .. } => 2,
            _ => 3,
        }
    }
}
