//! `deadheat cc`, `deadheat c++` and `deadheat rustc`: the wrappers' help. Their work is in
//! [`deadheat_build::compiler`] and [`deadheat_build::rust`].

use std::ffi::OsString;
use std::process::ExitCode;

use deadheat_build::compiler::{self, Language};
use deadheat_build::rust;
use deadheat_session::error::Result;

const CC_EXAMPLES: &str = "\
Examples:
  deadheat cc -c prog.c                     compile
  deadheat cc -pthread prog.c -o prog       compile and link
  deadheat cc --compiler clang prog.c       with this compiler
  CC=\"deadheat cc\" CXX=\"deadheat c++\" make
  CC=\"deadheat cc\" CXX=\"deadheat c++\" ./configure
  cmake -DCMAKE_C_COMPILER_LAUNCHER=\"deadheat;cc\" -DCMAKE_C_LINKER_LAUNCHER=\"deadheat;cc\" ..

What is done:
  compile   -g and the compiler's -fsanitize=thread instrumentation, with -O1 unless a -O is
            given; -flto is left out
  link      Deadheat's runtime for executables; nothing for shared libraries, which find it
            in the executable
The compiler is the one that --compiler (as first option) or a path as first argument names,
else $DEADHEAT_CC ($DEADHEAT_CXX), else gcc (g++), else clang (clang++).
All other arguments are the compiler's own. The exit code is the compiler's.";

const CXX_EXAMPLES: &str = "\
Examples:
  deadheat c++ -std=c++20 -pthread prog.cpp -o prog
  deadheat c++ --compiler clang++-19 -c prog.cpp
  cmake -DCMAKE_CXX_COMPILER_LAUNCHER=\"deadheat;c++\" -DCMAKE_CXX_LINKER_LAUNCHER=\"deadheat;c++\" ..

Everything else is as in `deadheat cc --help`.";

const RUSTC_EXAMPLES: &str = "\
Examples:
  deadheat rustc --edition 2024 prog.rs
  deadheat rustc -O prog.rs -o prog
  RUSTC=/path/to/rustc deadheat rustc prog.rs

What is done:
  compile   the compiler's -Zsanitizer=thread instrumentation, on the stable compiler too; debug
            information if there would be none; -Clto is switched off
  link      Deadheat's runtime, and those functions of the standard library that would not be
            seen otherwise
For cargo's projects there is `cargo deadheat` (`deadheat cargo --help`).
The compiler is $RUSTC, else rustc. All arguments are its own, and so is the exit code.";

/// Compiles and links C for recording: a stand-in for the C compiler.
#[derive(Debug, clap::Args)]
#[command(after_help = CC_EXAMPLES)]
pub struct CcArgs {
    /// [--compiler NAME] and the compiler's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Compiles and links C++ for recording: a stand-in for the C++ compiler.
#[derive(Debug, clap::Args)]
#[command(after_help = CXX_EXAMPLES)]
pub struct CxxArgs {
    /// [--compiler NAME] and the compiler's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Compiles and links Rust for recording: a stand-in for rustc.
#[derive(Debug, clap::Args)]
#[command(after_help = RUSTC_EXAMPLES)]
pub struct RustcArgs {
    /// The compiler's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl RustcArgs {
    /// Becomes the compiler.
    pub fn run(self) -> Result<ExitCode> {
        match rust::run(self.args)? {}
    }
}

impl CcArgs {
    /// Becomes the compiler.
    pub fn run(self) -> Result<ExitCode> {
        match compiler::run(Language::C, self.args)? {}
    }
}

impl CxxArgs {
    /// Becomes the compiler.
    pub fn run(self) -> Result<ExitCode> {
        match compiler::run(Language::Cxx, self.args)? {}
    }
}
