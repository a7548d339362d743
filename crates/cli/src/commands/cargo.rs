//! `deadheat cargo`, which is `cargo deadheat`: cargo with our compiler, recording what it runs.

use std::ffi::OsString;
use std::process::ExitCode;

use deadheat_build::rust::cargo::{self, Workspace};
use deadheat_run::store::Store;
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::signals::Watch;

use super::schedule::Schedule;

const EXAMPLES: &str = "\
Examples:
  cargo deadheat run -- args                build and record the program
  cargo deadheat test                       build and record the tests, each program of them
  cargo deadheat test name -- --test-threads 2
  cargo deadheat --serial --seed 7 test     one thread at a time
  cargo deadheat nextest run                a recording for each test
  cargo deadheat build                      only build; then: deadheat record -- target/deadheat/...

The options of Deadheat stand before cargo's command, cargo's own behind it.
What is done:
  Everything that belongs to the program is instrumented, with its dependencies and with the C and C++
  code that their build scripts compile; build scripts and macros are not. The standard library
  stays as it is: what it does when locks are contended is replaced by the same, instrumented.
  What is built goes to the folder `deadheat` in cargo's own target folder. Link-time
  optimisation is switched off.
  Each program that is run is recorded as with `deadheat record`, in the store of the workspace;
  its exit code is its own.
The toolchain is the one that cargo uses (`cargo +1.95 deadheat test`).";

/// Runs cargo so that what it builds can be recorded, and what it runs is.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "cargo deadheat [OPTIONS] COMMAND [CARGO OPTIONS] [-- ARGS]\n       \
                      deadheat cargo [OPTIONS] COMMAND [CARGO OPTIONS] [-- ARGS]"
)]
pub struct Args {
    /// Let one thread run at a time: an exact order of all events, with values.
    #[arg(long)]
    serial: bool,

    /// Print nothing about a recording when all goes well.
    #[arg(short, long)]
    quiet: bool,

    /// A command of cargo, its options, and what follows `--`.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    cargo: Vec<OsString>,

    #[command(flatten)]
    schedule: Schedule,
}

impl Args {
    /// Runs cargo to its end, which is ours.
    pub fn run(self) -> Result<ExitCode> {
        let workspace = Workspace::find(&self.cargo)?;
        let mut command = cargo::command(&workspace, &self.cargo, &self.runner())?;
        command.env(
            "DEADHEAT_STORE",
            Store::of_folder(&workspace.root)?.folder(),
        );
        let watch = Watch::begin(true);
        let ended = command.spawn().and_then(|mut child| {
            watch.child(child.id());
            child.wait()
        });
        watch.end();
        match ended {
            Ok(status) => Ok(Ended::from_status(status).shell_code().into()),
            Err(error) => Err(Error::not_started(format!("cannot run cargo: {error}"))
                .help("install Rust from https://rustup.rs, or put cargo on PATH")),
        }
    }

    /// What runs each program: cargo splits it at spaces.
    fn runner(&self) -> String {
        let mut words = ["record", "--cargo", "--exit-code-from-program"]
            .map(str::to_owned)
            .to_vec();
        words.extend(self.quiet.then(|| "--quiet".to_owned()));
        words.extend(self.serial.then(|| "--serial".to_owned()));
        words.extend(self.schedule.arguments());
        words.push("--".to_owned());
        words.join(" ")
    }
}
