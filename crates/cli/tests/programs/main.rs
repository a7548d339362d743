//! Every program of `programs/`, built by the wrapper with each compiler and recorded in each
//! mode: it behaves as its text says, its trace is one, and the races that happens-before finds in it
//! are those that the text marks. What `check` finds is confirmed, and replays every time. What belongs to a Cargo package is
//! built by `cargo deadheat`.
//!
//! One test per program and build, in all its modes, named so: `zoo/c/mutex_race/gcc-O1`, or `rust/zoo/mutex_race/rustc`.

mod build;
mod cases;
mod found;
mod recorded;
#[path = "../support/mod.rs"]
mod support;

use std::process::{Command, Output};

use cases::{Case, Mode, cases};
use libtest_mimic::{Arguments, Failed, Trial};
use support::Sandbox;
use support::verdict::Lines;

fn main() {
    let arguments = Arguments::from_args();
    let trials = cases()
        .into_iter()
        .map(|(name, cases)| Trial::test(name, move || run(&cases).map_err(Failed::from)));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Builds a program once, and tries it in all modes, each in a folder of its own; all that fail are told.
fn run(cases: &[Case]) -> Result<(), String> {
    let built = Sandbox::new();
    let first = cases.first().ok_or("no modes")?;
    match first.oracle.cargo_target() {
        Some(target) => build::with_cargo(&built, &target)?,
        None => first.build(&built)?,
    }
    let failed = cases.iter().filter_map(|case| {
        let problem = case.run(&built).err()?;
        Some(format!("{:?}: {problem}", case.mode))
    });
    match failed.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        some => Err(some.join("\n")),
    }
}

impl Case {
    fn run(&self, built: &Sandbox) -> Result<(), String> {
        let here = Sandbox::new();
        build::copy(built, &here).map_err(|error| error.to_string())?;
        match self.mode {
            Mode::Watch => self.watch(&here),
            Mode::Check => self.check(&here),
            Mode::Explore => self.explore(&here),
            Mode::Parallel | Mode::Serial | Mode::Real => self.record_and_predict(&here),
        }
    }

    /// Longer than it takes. One that may deadlock, and is otherwise at its end in no time, is stopped then.
    fn seconds(&self) -> &'static str {
        match self.oracle.deadlocks.is_empty() {
            true => "20",
            false => "5",
        }
    }

    fn lines(&self) -> Lines {
        match self.level {
            "-O0" => Lines::Exact,
            _ => Lines::Near,
        }
    }

    fn behaves(&self, output: &Output) -> Result<(), String> {
        let directives = &self.oracle.directives;
        if output.status.code() != Some(directives.exit) {
            return Err(told(
                output,
                &format!("expected exit code {}", directives.exit),
            ));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        match &directives.stdout {
            Some(expected) if *expected != printed => Err(told(
                output,
                &format!("expected on standard output: {expected:?}"),
            )),
            _ => Ok(()),
        }
    }
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(told(&output, &format!("{command:?}"))),
    }
}

/// A problem, with what was printed.
fn told(output: &Output, problem: &str) -> String {
    format!(
        "{problem}\n{}\n--- stdout\n{}--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
