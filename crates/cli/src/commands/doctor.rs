//! `deadheat doctor`: what works here, and what to do about the rest.

use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::here::seen;
use deadheat_session::terminal::{BAD, BOLD, GOOD, say, styled};
use serde_json::json;

use crate::doctor::{self, Check, State};

const EXAMPLES: &str = "\
Examples:
  deadheat doctor
  deadheat doctor --format json | jq '.checks[] | select(.state != \"ok\")'

Each compiler builds a small program, which is then recorded; gdb attaches to a process; folders are
written to. Nothing stays behind.
The exit code is 0 when programs can be checked in one language at least, and 3 when in none.";

/// Looks at this machine: what works, and what to do about what does not.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// For people or for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How what was seen is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs: one object.
    Json,
}

impl Args {
    /// Looks.
    pub fn run(self) -> Result<Exit> {
        let checks = doctor::checks();
        let languages = doctor::languages(&checks);
        match self.format {
            Format::Text => tell(&checks, &languages),
            Format::Json => println!(
                "{:#}",
                json!({ "version": 1, "languages": languages, "checks": checks })
            ),
        }
        Ok(match languages.is_empty() {
            true => Exit::NotStarted,
            false => Exit::Clean,
        })
    }
}

fn tell(checks: &[Check], languages: &[&str]) {
    let width = checks.iter().map(|check| check.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for check in checks {
        let (style, word) = match check.state {
            State::Ok => (GOOD, "ok"),
            State::Degraded => (BOLD, "degraded"),
            State::Missing => (BAD, "missing"),
        };
        let state = styled(style, format_args!("{word:<8}"));
        anstream::println!("{state}  {:<width$}  {}", check.name, seen(&check.told));
        for help in &check.help {
            let help = seen(help).replace('\n', " ");
            anstream::println!("{:<8}  {:<width$}  help: {help}", "", "");
        }
    }
    match languages {
        [] => say("no program can be checked here: see what is missing above"),
        some => say(format_args!(
            "programs can be checked in {}",
            some.join(", ")
        )),
    }
}
