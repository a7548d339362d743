//! `deadheat replay`: runs the program into a finding.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_analysis::witness::{self, Witness};
use deadheat_engine::confirm::fine::Output;
use deadheat_engine::confirm::shown::Shown;
use deadheat_engine::confirm::{Case, debugger};
use deadheat_explore::After;
use deadheat_report::Kind;
use deadheat_run::store::Store;
use deadheat_run::watch::OnRace;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::{BAD, BOLD, say, styled};

const EXAMPLES: &str = "\
Examples:
  deadheat replay 3fa1b2c4                  the finding of that name, as last recorded
  deadheat replay witness-3fa1b2c4.json     the finding of a witness file
  deadheat replay 3fa1b2c4 --gdb            stop in front of the race, or in the deadlock, in gdb
  deadheat replay 3fa1b2c4 --order ba       let the second access happen first, then go on

The program runs with the arguments, variables, folder and standard input that it was recorded
with, one thread at a time in the order of the witness, until both threads stand in front of their
accesses or the deadlock stands. Without --order and --gdb it is ended there. Each step is compared
with the recording: if the program does something else, that is said and the exit code is 4.
What `deadheat predict --method interleave --enforce` has confirmed is shown again by the order of
synchronisation alone, with threads running free in between.
The exit code is 66 if the finding was reached every time.";

/// Runs the program into a finding, again and again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A finding's short name, or the path of a witness.
    #[arg(value_name = "FINDING")]
    finding: OsString,

    /// Go on from the race: `ab` with the finding's first side first, `ba` with its second.
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<Order>,

    /// Start gdb where both threads stand, or in the deadlock.
    #[arg(long)]
    gdb: bool,

    /// Replay so many times, and say how often the finding was reached.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
}

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// The first side.
    Ab,
    /// The second side.
    Ba,
}

impl Args {
    /// Replays.
    pub fn run(self) -> Result<Exit> {
        let path = self.witness()?;
        let witness = Witness::read(&path)?;
        if witness.synchronisation.is_some() {
            return self.show_again(&witness);
        }
        if self.order.is_some() && witness.next.is_empty() {
            return Err(Error::usage(format!(
                "{} has no two orders: its witness is one whole run",
                witness.finding
            ))
            .help("leave out --order"));
        }
        let case = Case::new(witness)?;
        let first = match self.order {
            Some(Order::Ba) => 1,
            _ => 0,
        };
        if self.gdb {
            return debugger::run(&case, first);
        }
        let after = match self.order {
            Some(_) => After::Go,
            None if case.witness.kind == Kind::Failure => After::Go,
            None => After::Stop,
        };
        let mut reached = 0;
        let mut why = None;
        for _ in 0..self.times {
            let enforced = case.enforce(after, first, Output::Shown)?;
            if case.stands(&enforced) {
                reached += 1;
                if self.times == 1 && self.order.is_some() {
                    say(format_args!("the program {}", enforced.ended.told()));
                }
            } else {
                why = Some(case.why(&enforced));
            }
        }
        let stands = match case.witness.kind {
            Kind::Race if case.witness.next.is_empty() => {
                "both accesses happened, and nothing ordered them"
            }
            Kind::Race => "both threads stood in front of their accesses",
            Kind::Deadlock => "the deadlock stood",
            Kind::Failure if case.lasts() => "the program does not end",
            Kind::Failure => "the program failed as recorded",
        };
        if self.times > 1 {
            say(format_args!("{stands} {reached} of {} times", self.times));
        } else if reached == 1 {
            say(format_args!(
                "{}: {}",
                styled(BAD, stands),
                case.witness.signature
            ));
        }
        match why {
            None => Ok(Exit::Findings),
            Some(why) => Err(Error::new(Exit::Diverged, format!("the replay diverged: {why}"))
                .note("The program did not do what it did when it was recorded: it may depend on something that is not replayed.")),
        }
    }

    /// Replays what a schedule of synchronisation has shown.
    fn show_again(&self, witness: &Witness) -> Result<Exit> {
        if self.order.is_some() || self.gdb && witness.kind == Kind::Deadlock {
            return Err(Error::usage(format!(
                "the witness of {} holds nothing between synchronisations: nobody can be stopped there",
                witness.finding
            ))
            .help("`deadheat check` records the program so that every step can be held"));
        }
        let on_race = match self.gdb {
            true => OnRace::Gdb,
            false => OnRace::Continue,
        };
        let again = Shown::new(witness)?;
        let (mut reached, mut why) = (0, None);
        for _ in 0..self.times {
            match again.run(on_race)? {
                None => reached += 1,
                other => why = other,
            }
        }
        let stands = match witness.kind {
            Kind::Race => "the race was seen",
            Kind::Deadlock => "the deadlock stood",
            Kind::Failure => "the program failed",
        };
        if self.times > 1 {
            say(format_args!("{stands} {reached} of {} times", self.times));
        } else if reached == 1 {
            let signature = &witness.signature;
            say(format_args!("{}: {signature}", styled(BAD, stands)));
        }
        match why {
            None => Ok(Exit::Findings),
            Some(why) => Err(Error::new(
                Exit::Diverged,
                format!("the replay diverged: {why}"),
            )
            .note("Only synchronisation is held to the schedule: what threads do in between may differ.")),
        }
    }

    /// The witness that the user means.
    fn witness(&self) -> Result<PathBuf> {
        let path = Path::new(&self.finding);
        if path.is_file() {
            return Ok(path.to_owned());
        }
        let store = Store::of_project()?;
        let name = witness::file_name(&self.finding.to_string_lossy());
        let recordings = store.recordings();
        let found = recordings
            .iter()
            .rev()
            .map(|recording| recording.folder.join(&name))
            .find(|path| path.is_file());
        found.ok_or_else(|| {
            Error::usage(format!(
                "no witness of a finding {} in {}",
                styled(BOLD, self.finding.display()),
                store.folder().display()
            ))
            .help("`deadheat check` and `deadheat predict` print the names of findings in brackets")
            .help("or give the path of a witness file")
        })
    }
}
