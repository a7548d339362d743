//! The compiler wrapper: `deadheat cc` and `deadheat c++`.
//!
//! A call is taken apart (`command_line`), a real compiler is chosen (`choose`), the
//! arguments are completed (`plan`), and this process becomes that compiler.

mod choose;
mod command_line;
mod names;
pub mod options;
mod plan;
pub mod proper;
mod response;
pub mod shims;

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub use choose::{Surroundings, Wish, is_executable};
pub use names::{CompilerName, Language};
use plan::Parts;

use deadheat_session::error::{Error, Result};

use crate::runtime_files::RuntimeFiles;
use crate::rust;

/// Set for the real compiler: how many wrappers stand above it. What it calls in turn by a
/// compiler's name is part of the same call and gets nothing added a second time.
const DEPTH: &str = "DEADHEAT_DEPTH";

/// A chain of this many wrappers does not end.
const MAX_DEPTH: usize = 8;

/// Becomes the real compiler. `args` are those after `deadheat cc`.
pub fn run(language: Language, args: Vec<OsString>) -> Result<Infallible> {
    let (wish, rest) = wish(args)?;
    become_compiler(language, wish, rest)
}

/// The same for a shim, which is called by the compiler's own name.
pub fn run_shim(
    name: &CompilerName<'_>,
    file_name: &str,
    args: Vec<OsString>,
) -> Result<Infallible> {
    let wish = if name.is_generic() {
        Wish::Any
    } else {
        Wish::Exactly(file_name.into())
    };
    become_compiler(name.language(), wish, args)
}

/// The command that compiles and links for Deadheat, for those who want to run it themselves.
pub fn command(language: Language, wish: &Wish, args: Vec<OsString>) -> Result<Command> {
    let surroundings = Surroundings::of_process()?;
    let compiler = surroundings.choose(wish, language)?;
    let files = RuntimeFiles::extract()?;
    let parts = Parts {
        object: &files.object(),
        exports: &files.exports(),
        deadheat: &surroundings.deadheat,
    };
    let args = plan::plan(compiler.family, &response::expand(args), parts)?;
    let (program, first) = compiler
        .command
        .split_first()
        .expect("a compiler has a path");
    let mut command = Command::new(program);
    command.args(first).args(response::shorten(args));
    Ok(command)
}

/// Whether a compiler's arguments say how far to optimise.
pub fn names_optimisation(args: &[OsString]) -> bool {
    command_line::CommandLine::parse(args).optimised
}

/// Arguments that stand in one text, with quotes as in a shell.
pub fn words(text: &OsStr) -> Vec<OsString> {
    response::split(text.as_encoded_bytes())
}

fn become_compiler(language: Language, wish: Wish, args: Vec<OsString>) -> Result<Infallible> {
    let depth: usize = std::env::var(DEPTH)
        .ok()
        .and_then(|depth| depth.parse().ok())
        .unwrap_or(0);
    if depth >= MAX_DEPTH {
        return Err(
            Error::not_started("the compiler wrapper calls itself without end")
                .note("The compiler that it was given leads back to Deadheat.")
                .help("name the real one: --compiler PATH, or DEADHEAT_CC and DEADHEAT_CXX"),
        );
    }
    let mut command = if depth == 0 && !rust::cargo::builds_for_host() {
        self::command(language, &wish, args)?
    } else {
        let compiler = Surroundings::of_process()?.choose(&wish, language)?;
        let mut words = compiler.command.into_iter();
        let mut command = Command::new(words.next().expect("a compiler has a path"));
        command.args(words).args(args);
        command
    };
    let failed = command.env(DEPTH, (depth + 1).to_string()).exec();
    Err(Error::not_started(format!(
        "cannot run {}: {failed}",
        command.get_program().display()
    )))
}

/// Takes what a call says about the compiler off its arguments.
fn wish(mut args: Vec<OsString>) -> Result<(Wish, Vec<OsString>)> {
    let Some(first) = args.first() else {
        return Ok((Wish::Any, args));
    };
    if let Some(name) = first.to_str().and_then(|f| f.strip_prefix("--compiler=")) {
        let wish = Wish::Named(name.into());
        args.remove(0);
        return Ok((wish, args));
    }
    if first == "--compiler" {
        if args.len() < 2 {
            return Err(Error::usage(
                "--compiler needs a name, such as gcc or clang-19",
            ));
        }
        let name = args.remove(1);
        args.remove(0);
        return Ok((Wish::Named(name), args));
    }
    let name = Path::new(first).file_name().and_then(OsStr::to_str);
    if name.is_some_and(|name| CompilerName::parse(name).is_some()) {
        let name = args.remove(0);
        return Ok((Wish::Exactly(name), args));
    }
    Ok((Wish::Any, args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wished(args: &[&str]) -> (Wish, Vec<OsString>) {
        wish(args.iter().map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn the_first_argument_may_name_the_compiler() {
        assert_eq!(wished(&["-c", "a.c"]).0, Wish::Any);
        assert_eq!(
            wished(&["--compiler", "clang", "a.c"]).0,
            Wish::Named("clang".into())
        );
        assert_eq!(
            wished(&["--compiler=gcc", "a.c"]).0,
            Wish::Named("gcc".into())
        );
        let (wish, rest) = wished(&["/usr/bin/clang++-19", "-c", "a.cc"]);
        assert_eq!(wish, Wish::Exactly("/usr/bin/clang++-19".into()));
        assert_eq!(rest, ["-c", "a.cc"]);
        assert!(super::wish(vec!["--compiler".into()]).is_err());
    }
}
