//! Runs a program under live detection and shows what it finds, while it finds it.
//!
//! The runtime appends what it finds to a file; a thread here follows the file, puts names to
//! addresses, and prints. `deadheat_wire::watch` describes the file.
//!
//! * `process`: what a watched process has told about itself; findings with names.
//! * `follow`: reads the file as it grows, prints findings, answers threads that wait.
//! * `debugger`: stops the program, or starts a debugger, where a race was found.

mod debugger;
mod follow;
mod process;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deadheat_report::text::Look;
use deadheat_report::{Finding, Suppressions};
use deadheat_session::error::{Error, Result};
use deadheat_session::scratch;
use deadheat_trace::watch::{ANSWERS, Place, REPORT, SELECT};
use deadheat_wire::plan::PLAN;

pub use debugger::OnRace;
use follow::Follower;

use crate::again::Again;
use crate::launch::{self, Launch, Started};
use crate::program::Program;
use crate::stdin::Source;
use crate::store::info::Ended;

/// What a program is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    /// Accesses that nothing ordered in this run: every one is a race.
    Hb,
    /// Memory that no lock protects: cheap, many false alarms.
    Simple,
    /// The same with an order of threads, conditions and channels: fewer.
    Detailed,
}

impl Detector {
    fn word(self) -> &'static str {
        match self {
            Detector::Hb => "hb",
            Detector::Simple => "simple",
            Detector::Detailed => "detailed",
        }
    }
}

/// A program to watch.
pub struct Plan<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its name and arguments.
    pub command: &'a [OsString],
    /// What to look for.
    pub detector: Detector,
    /// What to do when something is found.
    pub on_race: OnRace,
    /// The most memory that detection may use, in megabytes.
    pub memory: Option<u64>,
    /// More options of the runtime, as the user has set them.
    pub options: Option<String>,
    /// The memory to look at; all if `None`.
    pub places: Option<&'a [Place]>,
    /// What not to show.
    pub suppressions: &'a Suppressions,
    /// How findings look that are printed as they come; not at all if `None`.
    pub show: Option<Look>,
    /// A schedule to enforce meanwhile.
    pub enforced: Option<Enforced<'a>>,
}

/// A recorded program that is run again by a schedule. What it prints is kept from the user.
pub struct Enforced<'a> {
    /// How it was started.
    pub again: &'a Again,
    /// The file of the schedule.
    pub plan: &'a Path,
    /// Whether it was given up, asked from time to time.
    pub is_given_up: &'a (dyn Fn() -> bool + Sync),
    /// How long it may take.
    pub limit: Duration,
}

/// How long a program may go on by itself after its schedule was given up: it may have ended up in a deadlock.
const GRACE: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

impl Enforced<'_> {
    /// Waits for the program's end, and ends it if it takes too long.
    fn wait(&self, started: &mut Started) -> Result<()> {
        let begun = Instant::now();
        let mut given_up: Option<Instant> = None;
        while !started.has_ended()? {
            if given_up.is_none() && (self.is_given_up)() {
                given_up = Some(Instant::now());
            }
            if begun.elapsed() > self.limit || given_up.is_some_and(|at| at.elapsed() > GRACE) {
                started.kill();
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// What watching a program gave.
pub struct Watched {
    /// How the program ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// What was found, each once.
    pub findings: Vec<Finding>,
    /// The memory that was flagged.
    pub places: Vec<Place>,
    /// How many findings were held back.
    pub suppressed: u64,
    /// What the runtime wants the user to know.
    pub notes: Vec<String>,
    /// What it counted, by name, summed over all processes.
    pub figures: Vec<(String, u64)>,
}

impl Plan<'_> {
    /// Runs the program to its end.
    pub fn run(&self) -> Result<Watched> {
        let refused = |error| Error::not_started(format!("cannot keep a report: {error}"));
        let folder = tempfile::Builder::new()
            .prefix("watch-")
            .tempdir_in(scratch::on_disk());
        let folder = folder.map_err(refused)?;
        let report = folder.path().join("report");
        let answers = folder.path().join(format!("report{ANSWERS}"));
        std::fs::write(&report, "").map_err(refused)?;
        std::fs::write(&answers, "").map_err(refused)?;
        let variables = self.variables(&report, folder.path()).map_err(refused)?;
        let own = || Launch {
            program: self.program,
            command: self.command,
            environment: Cow::Owned(launch::inherited()),
            variables: variables.clone(),
            folder: None,
            stdin: Source::Own,
            output: None,
            steady: false,
            filled: None,
            is_users: true,
        };
        let mut launch = match &self.enforced {
            None => own(),
            Some(enforced) => enforced.again.launch(variables.clone()),
        };
        if self.enforced.is_some() {
            let file = |name: &str| File::create(folder.path().join(name)).map_err(refused);
            launch.output = Some((file("stdout")?, file("stderr")?));
        }
        let mut follower = Follower::new(&report, &answers, self.suppressions).map_err(refused)?;
        follower.on_race = self.on_race;
        follower.show = self.show;
        let over = AtomicBool::new(false);
        let (outcome, followed) = std::thread::scope(|scope| {
            let following = scope.spawn(|| follower.until(&over));
            let outcome = launch.start().and_then(|mut started| {
                if let Some(enforced) = &self.enforced {
                    enforced.wait(&mut started)?;
                }
                started.wait()
            });
            over.store(true, Ordering::Release);
            (outcome, following.join())
        });
        let outcome = outcome?;
        if let Err(panic) = followed {
            std::panic::resume_unwind(panic);
        }
        let told = follower.finish();
        if let Some(why) = told.cannot {
            return Err(Error::not_started(format!(
                "{} cannot be watched: {why}",
                self.command[0].display()
            )));
        }
        if !told.began {
            let name = self.command[0].display();
            let ended = Ended::from_status(outcome.status).told();
            return Err(
                Error::not_started(format!("nothing was watched: {name} {ended}"))
                    .note("It did not start, or started no program that was built with Deadheat.")
                    .help("build it with Deadheat: deadheat build --help"),
            );
        }
        Ok(Watched {
            ended: Ended::from_status(outcome.status),
            took: outcome.took,
            findings: told.findings,
            places: told.places,
            suppressed: told.suppressed,
            notes: told.notes,
            figures: told.figures,
        })
    }

    fn variables(
        &self,
        report: &Path,
        folder: &Path,
    ) -> std::io::Result<Vec<(OsString, OsString)>> {
        // What comes last counts: the command line.
        let more = self.options.as_deref().unwrap_or_default();
        let mut options = format!("{more}:mode=watch:detector={}", self.detector.word());
        if self.on_race != OnRace::Continue {
            options.push_str(":on_race=wait");
        }
        if let Some(memory) = self.memory {
            options.push_str(&format!(":memory={memory}"));
        }
        let mut variables = vec![
            (OsString::from(REPORT), report.into()),
            (OsString::from(launch::OPTIONS), options.into()),
        ];
        if let Some(enforced) = &self.enforced {
            variables.push((OsString::from(PLAN), enforced.plan.into()));
        }
        if let Some(places) = self.places {
            let mut text = String::new();
            for place in places {
                // Writing to a string does not fail.
                let _ = place.write(&mut text);
                text.push('\n');
            }
            let path = folder.join("places");
            std::fs::write(&path, text)?;
            variables.push((OsString::from(SELECT), path.into()));
        }
        Ok(variables)
    }
}
