//! `deadheat record`: runs a program and writes down what its threads do.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use deadheat_build::compiler::is_executable;
use deadheat_run::again;
use deadheat_run::program::{Kind, Program};
use deadheat_run::recorder::{Place, Plan};
use deadheat_run::store::{Store, select};
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::say;

use super::schedule::{Schedule, is_serial};

const EXAMPLES: &str = "\
Examples:
  deadheat record -- ./prog args            threads run free
  deadheat record --serial -- ./prog        one thread at a time: exact order, with values
  deadheat record --seed 7 -- ./prog        the same, with another schedule
  deadheat record -o run.dht -- ./prog      into a file instead of the project's store

The program must be built with Deadheat (`deadheat build --help`). A script is run as it is:
whatever it starts that is built with Deadheat is recorded.
Options marked (serial) mean --serial. More of the runtime's options are listed by
DEADHEAT_OPTIONS=help=1.
The exit code is 0 when a trace was written, whatever the program's own (which is reported), and
66 when the program was stopped in a deadlock.";

/// Runs a program and records what its threads do.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "deadheat record [OPTIONS] [--] PROGRAM [ARGS]..."
)]
pub struct Args {
    /// Let one thread run at a time: an exact order of all events, with values.
    #[arg(long)]
    serial: bool,

    /// Write the trace to this file instead of the project's store.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// End with the program's own exit code, or 128 and its signal.
    #[arg(long)]
    exit_code_from_program: bool,

    /// Print nothing when all goes well.
    #[arg(short, long)]
    quiet: bool,

    /// Called by cargo, for each program that it runs.
    #[arg(long, hide = true)]
    cargo: bool,

    /// Runs what a recording ran, with the same input, instead of a program that is named.
    #[arg(
        long,
        hide = true,
        value_name = "RECORDING",
        conflicts_with = "command"
    )]
    again: Option<OsString>,

    /// The program and its arguments.
    #[arg(
        required_unless_present = "again",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,

    #[command(flatten)]
    schedule: Schedule,
}

impl Args {
    /// Records.
    pub fn run(self) -> Result<ExitCode> {
        if let Some(recording) = &self.again {
            return self.again(recording);
        }
        if self.cargo && self.command[1..].iter().any(|arg| arg == "--list") {
            return run_plainly(&self.command); // the names of the tests, for whoever runs them
        }
        let program = match Program::find(&self.command[0]) {
            // Cargo also runs what it builds for the machine that builds: tests of macros.
            Err(error) if self.cargo && is_executable(Path::new(&self.command[0])) => {
                say(format_args!("not recorded: {}", error.what()));
                return run_plainly(&self.command);
            }
            found => found?,
        };
        if program.kind == Kind::Script && !self.quiet {
            say("note: this is a script; what it starts is recorded if it is built with Deadheat");
        }
        let options = self.schedule.options(self.serial);
        let place = match &self.output {
            Some(path) => Place::file(path)?,
            None => Place::Store(Store::of_project()?.add()?),
        };
        let plan = Plan {
            program,
            typed: self.command.clone(),
            command: self.command,
            steady: is_serial(&options),
            options,
            place,
            again: None,
            aside: false,
            variables: Vec::new(),
            output: None,
            limit: None,
            asked_after: None,
        };
        finish(plan, self.quiet, self.exit_code_from_program)
    }

    /// Records a recorded program once more; options that are given come after those that it had.
    fn again(&self, recording: &OsStr) -> Result<ExitCode> {
        let store = Store::of_project()?;
        let again = again::of(&select::trace(&store, Some(recording))?)?;
        let more = self.schedule.options(is_serial(&again.invocation.options));
        let options = format!("{}:{more}", again.invocation.options);
        let place = match &self.output {
            Some(path) => Place::file(path)?,
            None => Place::Store(store.add()?),
        };
        let plan = Plan {
            program: again.program.clone(),
            typed: again.invocation.command.clone(),
            command: again.invocation.command.clone(),
            steady: again.invocation.filled.is_some(),
            options,
            place,
            again: Some(again),
            aside: false,
            variables: Vec::new(),
            output: None,
            limit: None,
            asked_after: None,
        };
        finish(plan, self.quiet, self.exit_code_from_program)
    }
}

/// Records, and says how it went.
fn finish(plan: Plan, quiet: bool, exit_code_from_program: bool) -> Result<ExitCode> {
    let recorded = plan.run()?;
    recorded.tell(quiet);
    Ok(if exit_code_from_program {
        ExitCode::from(recorded.ended.shell_code())
    } else if recorded.deadlocked {
        Exit::Findings.into()
    } else {
        Exit::Clean.into()
    })
}

/// Becomes a program that is not to be recorded.
fn run_plainly(command: &[OsString]) -> Result<ExitCode> {
    let error = Command::new(&command[0]).args(&command[1..]).exec();
    Err(Error::not_started(format!(
        "cannot run {}: {error}",
        command[0].display()
    )))
}
