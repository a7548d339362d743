//! The static analyser: a program of its own, `deadheat-scan`, because it alone needs LLVM. It lies
//! beside this one, or on `PATH`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use deadheat_session::error::{Error, Result};

/// The analyser's file name.
const NAME: &str = "deadheat-scan";
/// The version of LLVM that it is made for.
pub const LLVM: u32 = 19;

/// Becomes the analyser: all arguments are its own, and so is the exit code.
pub fn run(args: &[OsString]) -> Result<std::convert::Infallible> {
    let mut command = command()?;
    let shown = command.get_program().display().to_string();
    let error = command.args(args).exec();
    Err(Error::not_started(format!("cannot run {shown}: {error}")))
}

/// A command that runs the analyser.
pub fn command() -> Result<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = deadheat_session::executable::own_path()?;
    let beside = own.parent().map(PathBuf::from);
    let mut folders = beside.into_iter().chain(std::env::split_paths(&path));
    let found = folders.find_map(|folder| {
        let path = folder.join(NAME);
        path.is_file().then_some(path)
    });
    found.map(Command::new).ok_or_else(|| {
        Error::not_started(format!("the static analyser, {NAME}, is not installed"))
            .note(format!(
                "it is a program of its own because it needs LLVM {LLVM}, and nothing else does"
            ))
            .help("in a checkout of Deadheat: ./deadheat scan installs, builds and runs it")
            .help(format!(
                "by hand: install clang-19 and llvm-19-dev, run `cargo build --release -p {NAME}`,\n\
                 and put {NAME} beside {} or on PATH",
                own.display()
            ))
    })
}
