//! A recording from beginning to end: start the program, wait, look at what it left, write down
//! how it went.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadheat_session::error::{Error, Result};
use deadheat_session::terminal::{BAD, BOLD, count, counted, duration, say, size, styled};

use crate::again::Again;
use crate::input::{self, Patience, survey};
use crate::launch::{self, Launch};
use crate::program::{Kind, Program};
use crate::stdin::{self, Source};
use crate::store::info::{Contents, Ended, Info};
use crate::store::invocation::{self, Invocation, beside};
use crate::store::{Recording, moment, traces_beside};

/// Where a recording goes.
pub enum Place {
    /// Into the project's store.
    Store(Recording),
    /// Into a file of the user's.
    File(PathBuf),
}

/// A program to record.
pub struct Plan {
    /// The program.
    pub program: Program,
    /// Its name and its arguments.
    pub command: Vec<OsString>,
    /// What the user typed for it.
    pub typed: Vec<OsString>,
    /// The runtime's options.
    pub options: String,
    /// Whether addresses should be the same in every run.
    pub steady: bool,
    /// Where the recording goes.
    pub place: Place,
    /// The recorded run that this one is to be again, if it is.
    pub again: Option<Again>,
    /// Whether what it prints goes to standard error: standard output is for the report.
    pub aside: bool,
    /// More variables of the runtime's.
    pub variables: Vec<(OsString, OsString)>,
    /// Where else its output and its errors go.
    pub output: Option<(std::fs::File, std::fs::File)>,
    /// How long it may take.
    pub limit: Option<Duration>,
    /// After so long it is asked to end, as a user would ask it.
    pub asked_after: Option<Duration>,
}

/// A recording that was made.
pub struct Recorded {
    /// How the program ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// The traces: the program's own first.
    pub traces: Vec<PathBuf>,
    /// What the first of them holds.
    pub contents: Contents,
    /// What the user should know about the trace.
    remarks: Vec<String>,
    /// Whether the program was stopped in a deadlock.
    pub deadlocked: bool,
    /// Whether the recording stopped before the program ended, and said why.
    pub is_stopped: bool,
    /// Whether it was stopped because nothing would ever end it.
    pub hangs: bool,
    /// Why it was stopped though it might have gone on some time.
    pub patience: Option<Patience>,
    /// Whether it was ended because it ran for too long.
    pub is_cut: bool,
    /// Where it is, in words.
    place: String,
}

impl Place {
    /// A file of the user's. One that is there is replaced if it is a trace or empty, and left
    /// alone if it is anything else.
    pub fn file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let refused = |error| Error::usage(format!("cannot write {shown}: {error}"));
        if let Ok(mut file) = std::fs::File::open(path) {
            let mut head = Vec::new();
            file.by_ref()
                .take(8)
                .read_to_end(&mut head)
                .map_err(refused)?;
            if !head.is_empty() && head != crate::input::MAGIC {
                return Err(
                    Error::usage(format!("{shown} exists and is not a recording"))
                        .help("choose another name, or delete it first"),
                );
            }
            std::fs::remove_file(path).map_err(refused)?;
            for what in ["live", "invocation", "stdin", "inputs"] {
                let _ = std::fs::remove_file(beside(path, what));
            }
        }
        let path = std::path::absolute(path).map_err(refused)?;
        if !path.parent().is_some_and(Path::is_dir) {
            return Err(Error::usage(format!(
                "cannot write {shown}: no such folder"
            )));
        }
        Ok(Place::File(path))
    }

    /// Where the trace goes.
    pub fn trace(&self) -> PathBuf {
        match self {
            Place::Store(recording) => recording.trace(),
            Place::File(path) => path.clone(),
        }
    }

    fn told(&self) -> String {
        match self {
            Place::Store(recording) => format!("recording {}", recording.number),
            Place::File(path) => path.display().to_string(),
        }
    }
}

impl Plan {
    /// Records.
    pub fn run(self) -> Result<Recorded> {
        let mut info = self.info();
        if let Place::Store(recording) = &self.place {
            recording.describe(&info)?;
        }
        let trace = self.place.trace();
        let launch = self.launch(&trace);
        let described = self.describe_start(&launch, info.stdin, &trace);
        described.inspect_err(|_| self.give_up())?;
        let run = || {
            let mut started = launch.start()?;
            if let Some(time) = self.asked_after {
                started.end_after(time)?;
            }
            started.wait_within(self.limit)
        };
        let outcome = run().inspect_err(|_| self.give_up())?;
        let ended = Ended::from_status(outcome.status);
        let traces = traces_beside(&trace);
        let Some(first) = traces.first() else {
            self.give_up();
            return Err(self.nothing(ended));
        };
        if outcome.unsteady {
            say(
                "note: the system does not allow to switch off address randomisation here, so \
                 addresses differ from run to run",
            );
        }
        if !outcome.kept {
            say(
                "note: the standard input could not be copied; the program cannot be run again with it",
            );
            info.stdin = stdin::Kind::Other;
            self.describe_start(&launch, info.stdin, &trace)?;
        }
        let survey = survey(first)?;
        if survey.contents.events == 0 && !survey.contents.complete {
            self.give_up();
            return Err(self.no_events(ended, survey.remarks));
        }
        info.ended = Some(ended);
        info.seconds = Some(outcome.took.as_secs_f64());
        info.trace = Some(survey.contents);
        if let Place::Store(recording) = &self.place {
            recording.describe(&info)?;
        }
        Ok(Recorded {
            ended,
            took: outcome.took,
            contents: survey.contents,
            deadlocked: survey.deadlocked,
            is_stopped: survey.is_stopped,
            hangs: survey.hangs,
            patience: survey.patience,
            is_cut: outcome.is_cut,
            place: self.place.told(),
            remarks: survey.remarks,
            traces,
        })
    }

    /// The run that is recorded.
    fn launch(&self, trace: &Path) -> Launch<'_> {
        let mut variables = vec![
            (launch::TRACE.into(), trace.into()),
            (launch::OPTIONS.into(), self.options.clone().into()),
        ];
        variables.extend(self.variables.iter().cloned());
        let own = |files: &(std::fs::File, std::fs::File)| {
            Some((files.0.try_clone().ok()?, files.1.try_clone().ok()?))
        };
        let elsewhere = self.output.as_ref().and_then(own);
        if let Some(again) = &self.again {
            let mut launch = again.launch(variables);
            launch.output = elsewhere;
            return launch;
        }
        Launch {
            program: &self.program,
            command: &self.command,
            environment: Cow::Owned(launch::inherited()),
            variables,
            folder: None,
            stdin: Source::Kept {
                copy: Invocation::stdin_path(trace),
                keep_free: launch::option(&self.options, "keep_free")
                    .and_then(|bytes| bytes.parse().ok()),
            },
            output: elsewhere.or_else(|| self.aside.then(launch::errors_twice).flatten()),
            steady: self.steady,
            filled: None,
            is_users: true,
        }
    }

    /// Writes down how the program is started.
    fn describe_start(&self, launch: &Launch<'_>, stdin: stdin::Kind, trace: &Path) -> Result<()> {
        let refused = |error| {
            let path = Invocation::path(trace);
            Error::not_started(format!("cannot write {}: {error}", path.display()))
        };
        if let Some(again) = &self.again {
            return again.describe(&self.options, trace).map_err(refused);
        }
        let invocation = Invocation {
            program: self.program.path.clone(),
            identity: invocation::identity(&self.program).map_err(refused)?,
            folder: std::env::current_dir().map_err(refused)?,
            stdin,
            options: self.options.clone(),
            filled: self.steady.then(|| launch.filled()).transpose()?,
            command: self.command.clone(),
            environment: launch.environment.clone().into_owned(),
        };
        invocation.write(trace).map_err(refused)
    }

    fn info(&self) -> Info {
        let lossy = |text: &OsString| text.to_string_lossy().into_owned();
        let here = match &self.again {
            Some(again) => again.invocation.folder.clone(),
            None => std::env::current_dir().unwrap_or_default(),
        };
        Info {
            deadheat: env!("CARGO_PKG_VERSION").into(),
            command: self.typed.iter().map(lossy).collect(),
            directory: here.to_string_lossy().into_owned(),
            program: self.program.path.to_string_lossy().into_owned(),
            build_id: self.program.build_id.clone(),
            started: moment::written(SystemTime::now()),
            options: self.options.clone(),
            stdin: match &self.again {
                Some(again) => again.invocation.stdin,
                None => stdin::Kind::own(),
            },
            ended: None,
            seconds: None,
            trace: None,
        }
    }

    /// Takes back a recording that came to nothing.
    fn give_up(&self) {
        if let Place::Store(recording) = &self.place {
            let _ = recording.remove();
        }
    }

    /// There is a trace, but there was no room for a single event.
    fn no_events(&self, ended: Ended, remarks: Vec<String>) -> Error {
        let error = self.not_recorded(ended);
        remarks.into_iter().fold(error, Error::note)
    }

    fn not_recorded(&self, ended: Ended) -> Error {
        let name = self.typed[0].display();
        Error::not_started(format!("nothing was recorded: {name} {}", ended.told()))
    }

    /// There is no trace.
    fn nothing(&self, ended: Ended) -> Error {
        let error = self.not_recorded(ended);
        match self.program.kind {
            Kind::Script => error
                .note("It is a script, and started no program that was built with Deadheat.")
                .help("build what it starts with Deadheat: deadheat build -- make"),
            _ => error
                .note("Its messages above may say why.")
                .help("does it run by itself?"),
        }
    }
}

/// So many accesses, in words.
fn counted_accesses(many: u64) -> String {
    match many {
        1 => "1 access".to_owned(),
        _ => format!("{} accesses", count(many)),
    }
}

impl Recorded {
    /// It is kept where the first run of the same kind was, and told in its place.
    pub fn takes_place_of(&mut self, first: &Recorded) {
        self.place.clone_from(&first.place);
    }

    /// Something more that the user should know.
    pub fn remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    /// Tells the user how it went; only what needs attention if `quiet`.
    pub fn tell(&self, quiet: bool) {
        let contents = &self.contents;
        if !quiet {
            let mode = match contents.serial {
                true => format!("serial, seed {}", contents.seed),
                false => "parallel".to_owned(),
            };
            say(format_args!(
                "recorded {} of {} ({mode}, {}) in {}: {}",
                styled(BOLD, counted(contents.events, "event")),
                counted(contents.threads, "thread"),
                size(contents.bytes),
                duration(self.took),
                self.place,
            ));
            if let Some(left_out) = contents.left_out {
                say(format_args!(
                    "{} to memory that threads do not share {} not recorded",
                    counted_accesses(left_out),
                    if left_out == 1 { "was" } else { "were" },
                ));
            }
        }
        if self.deadlocked {
            say(styled(BAD, "the program was stopped in a deadlock"));
        } else if self.hangs {
            say(styled(
                BAD,
                "the program was stopped: it would not have ended",
            ));
        } else if self.patience.is_some() {
            say("the program was stopped while it waited");
        } else if self.ended != Ended::Exit(0) {
            say(format_args!("the program {}", self.ended.told()));
        }
        if !quiet {
            self.tell_others();
        }
        input::tell(&self.remarks);
    }

    /// Names traces of other processes: not all, for some programs start very many.
    fn tell_others(&self) {
        const MOST: usize = 5;
        let others = &self.traces[1..];
        if others.is_empty() {
            return;
        }
        let count = counted(others.len() as u64, "more trace");
        say(format_args!("{count} of other processes:"));
        for path in others.iter().take(MOST) {
            say(format_args!("  {}", path.display()));
        }
        let rest = others.len().saturating_sub(MOST);
        if rest > 0 {
            let folder = others[0].parent().unwrap_or(Path::new("."));
            say(format_args!(
                "  ... and {rest} more in {}",
                folder.display()
            ));
        }
    }
}
