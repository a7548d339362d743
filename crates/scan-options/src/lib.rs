//! What the static analyser can be asked: the options of `deadheat-scan`.
//!
//! They stand alone because two programs need them. `deadheat-scan` obeys them; `deadheat`, which starts it and does without
//! LLVM, explains them, completes them and sets them from a project's configuration.

use std::path::PathBuf;

use clap::ValueEnum;

/// How it is used.
pub const EXAMPLES: &str = "\
Examples:
  deadheat scan src/*.c -- -Iinclude -DX    sources, with flags for the compiler
  deadheat scan --compile-commands build/compile_commands.json
  deadheat scan module.bc                   bitcode
  deadheat scan --explain 3fa1b2c4 prog.c   everything about one warning
  deadheat scan --only src --except 'src/test*' src/*.c
  deadheat scan --format sarif -o races.sarif prog.c

Warnings are ranked, the most urgent first, each with the reasons for its place. They are not
proven: `deadheat check --scan` runs the program and says which of them it could prove.
A pattern of --only and --except is that of a file as it is shown: * stands for anything, also for
several folders, and a folder's name for all in it.

Exit codes:
    0  no warnings, or one was explained
    2  wrong usage, or a file with settings that cannot be read
    3  the program could not be compiled or read
   66  warnings";

/// The options.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Sources (.c, .cc, .cpp, .cxx, .rs) and bitcode (.bc, .ll).
    pub files: Vec<PathBuf>,

    /// Analyse what this compile_commands.json lists.
    #[arg(long, value_name = "FILE")]
    pub compile_commands: Option<PathBuf>,

    /// What more functions mean: a file in the format of Deadheat's own models; `linux` for the kernel.
    #[arg(long, value_name = "FILE")]
    pub model: Vec<PathBuf>,

    /// Tell everything about the warning with this name.
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    pub explain: Option<String>,

    /// Show only warnings with a place in such a file; may be given several times.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,

    /// Show no warnings with a place in such a file; may be given several times.
    #[arg(long, value_name = "GLOB")]
    pub except: Vec<String>,

    /// Warnings not to show, in ThreadSanitizer's syntax; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub suppressions: Vec<PathBuf>,

    /// The configuration, instead of the nearest deadheat.toml.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Every pair of places that may race, also those that say nothing new. Without it each place is in one warning.
    #[arg(long)]
    pub all_pairs: bool,

    /// How to report what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// How many warnings are shown in text; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub limit: usize,

    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Show the program as the analyses see it.
    #[arg(long, hide = true)]
    pub dump: bool,

    /// Flags for the compiler.
    #[arg(last = true)]
    pub flags: Vec<String>,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code hosts and editors: SARIF 2.1.0.
    Sarif,
}
