//! Rust programs: `deadheat rustc`, and the compiler that `cargo deadheat` puts before cargo.
//!
//! The stable compiler instruments for threads if it is told that it may use what is not yet
//! stable (`plan`); the standard library is linked as it is, with a few of its functions
//! replaced (`standard`).

pub mod cargo;
mod command_line;
mod plan;
mod replacements;
mod rlib;
mod standard;
mod toolchain;

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use command_line::CommandLine;
use plan::Parts;
use standard::Standard;
use toolchain::Toolchain;
pub use toolchain::default_compiler;

use deadheat_session::error::{Error, Result};

use crate::runtime_files::RuntimeFiles;

/// The names under which cargo calls us instead of the compiler and of rustdoc.
pub const WRAPPER: &str = "deadheat-rustc";
/// See [`WRAPPER`].
pub const DOC_WRAPPER: &str = "deadheat-rustdoc";

/// Becomes the compiler. `args` are those after `deadheat rustc`.
pub fn run(args: Vec<OsString>) -> Result<Infallible> {
    become_compiler(self::command(&default_compiler(), &args)?)
}

/// Becomes the compiler that cargo wants to call: `args` begin with it. What is built for the
/// machine that builds (build scripts, procedural macros) stays as it is; cargo names a target
/// for everything else.
pub fn run_wrapper(args: &[OsString]) -> Result<Infallible> {
    let Some((compiler, rest)) = args.split_first() else {
        return Err(Error::usage(format!("{WRAPPER} is for cargo to call")));
    };
    let line = CommandLine::parse(rest);
    // Another wrapper that the user has, such as sccache, gets its own call through.
    let mut before = cargo::inner_wrapper();
    let command = if line.target.is_some() && line.compiles {
        let mut command = self::command(compiler, rest)?;
        if let Some(outer) = before.take() {
            command = behind(&outer, &command);
        }
        command
    } else {
        let mut command = Command::new(before.as_deref().unwrap_or(compiler));
        if before.is_some() {
            command.arg(compiler);
        }
        command.args(rest);
        command
    };
    become_compiler(command)
}

/// Becomes rustdoc. The examples that it compiles and runs are programs like any other.
pub fn run_rustdoc(args: &[OsString]) -> Result<Infallible> {
    let rustdoc = toolchain::set(cargo::INNER_RUSTDOC).unwrap_or_else(|| "rustdoc".into());
    let line = CommandLine::parse(args);
    let mut command = Command::new(rustdoc);
    command.args(args);
    if line.test && line.target.is_some() {
        add(&mut command, &default_compiler(), &line)?;
        command.args(kept_examples(args));
    }
    become_compiler(command)
}

/// Keeps the programs that are made of examples, in cargo's folder: else they are gone when a recording of
/// one is looked at, and with them all names.
fn kept_examples(args: &[OsString]) -> Vec<OsString> {
    const KEEP: &str = "--persist-doctests";
    let is_named = |arg: &OsString| arg.to_string_lossy().starts_with(KEEP);
    let folder = toolchain::set("CARGO_TARGET_DIR").map(PathBuf::from);
    let Some(folder) = folder.filter(|_| !args.iter().any(is_named)) else {
        return Vec::new();
    };
    let name = args.iter().skip_while(|arg| *arg != "--crate-name").nth(1);
    let folder = folder
        .join("doctests")
        .join(name.unwrap_or(&"crate".into()));
    vec!["-Zunstable-options".into(), KEEP.into(), folder.into()]
}

/// The same command, run by a tool that takes it as its arguments.
fn behind(outer: &OsStr, command: &Command) -> Command {
    let mut whole = Command::new(outer);
    whole.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole
}

/// The command that compiles and links for Deadheat.
pub fn command(compiler: &OsStr, args: &[OsString]) -> Result<Command> {
    let line = CommandLine::parse(args);
    let mut command = Command::new(compiler);
    command.args(args);
    if !line.compiles {
        return Ok(command);
    }
    add(&mut command, compiler, &line)?;
    Ok(command)
}

/// Adds what instruments, and what is linked.
fn add(command: &mut Command, compiler: &OsStr, line: &CommandLine) -> Result<()> {
    let toolchain = Toolchain::of(compiler, line.target.as_deref())?;
    let files = RuntimeFiles::extract()?;
    let standard = match line.links() {
        true => Some(Standard::of(&toolchain)?),
        false => None,
    };
    let parts = Parts {
        object: &files.object(),
        exports: &files.exports(),
        standard: standard.as_ref(),
    };
    command.args(plan::added(line, &parts));
    if toolchain.is_stable() {
        command.env("RUSTC_BOOTSTRAP", "1");
        // What the program itself may use stays what the stable compiler lets it use.
        command.arg("-Zallow-features=");
    }
    Ok(())
}

fn become_compiler(mut command: Command) -> Result<Infallible> {
    let failed = command.exec();
    let shown = command.get_program().display();
    Err(Error::not_started(format!("cannot run {shown}: {failed}"))
        .help("install Rust from https://rustup.rs, put rustc on PATH, or name it in RUSTC"))
}
