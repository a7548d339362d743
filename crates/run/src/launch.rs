//! Starts a program with the runtime's variables set, and waits for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use deadheat_build::runtime_files::RuntimeFiles;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Recording;
use deadheat_session::signals::{self, Watch};
use deadheat_session::terminal::{counted, say};

use crate::disk;
use crate::orphans::{self, Manner};
use crate::program::{Kind, Program};
use crate::stdin::{self, Source};

/// Where the runtime writes the trace.
pub const TRACE: &str = "DEADHEAT_TRACE";
/// The runtime's options, `name=value:name=value`.
pub const OPTIONS: &str = "DEADHEAT_OPTIONS";
/// Fills the environment up; see [`Launch::filled`].
const PAD: &str = "DEADHEAT_PAD";

/// What counts in a list of the runtime's options: the last of that name.
pub fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let mut last_first = options.rsplit(':');
    last_first.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
}

/// Names and values.
pub type Variables = BTreeMap<OsString, OsString>;

/// The variables of this process that a program inherits.
pub fn inherited() -> Variables {
    std::env::vars_os()
        .filter(|(name, _)| name != PAD)
        .collect()
}

/// A run under the runtime.
pub struct Launch<'a> {
    /// What to run.
    pub program: &'a Program,
    /// Its name as the user gave it, and its arguments.
    pub command: &'a [OsString],
    /// The program's own variables.
    pub environment: Cow<'a, Variables>,
    /// The runtime's variables: [`OPTIONS`], and [`TRACE`] or those of a watched program.
    pub variables: Vec<(OsString, OsString)>,
    /// The folder to run in; the current one if `None`.
    pub folder: Option<&'a Path>,
    /// Its standard input.
    pub stdin: Source,
    /// Where its output and its errors go; to this process's own if `None`.
    pub output: Option<(File, File)>,
    /// Whether addresses should be the same in every run.
    pub steady: bool,
    /// What [`Launch::filled`] was in a run whose addresses this one should have.
    pub filled: Option<usize>,
    /// Whether it is the run that the user asked for: see [`orphans`].
    pub is_users: bool,
}

/// How a run went.
#[derive(Debug)]
pub struct Outcome {
    /// It was ended because it ran for too long.
    pub is_cut: bool,
    /// How it ended.
    pub status: ExitStatus,
    /// How long it took.
    pub took: Duration,
    /// Whether the system refused to keep addresses the same.
    pub unsteady: bool,
    /// Whether a copy of the standard input that was wanted is complete.
    pub kept: bool,
}

/// A run that is under way.
pub struct Started {
    child: Child,
    signals: Watch,
    input: stdin::Running,
    since: Instant,
    unsteady: bool,
    before: orphans::Before,
    is_users: bool,
    /// It is to end when its time is up, with all that it has started.
    is_asked: bool,
    /// How the user's run goes, where the user is to see that.
    progress: Option<Recording>,
}

impl Launch<'_> {
    /// Starts the program.
    pub fn start(&self) -> Result<Started> {
        let not_started = |error: io::Error| {
            Error::not_started(format!(
                "cannot start {}: {error}",
                self.program.path.display()
            ))
        };
        let (name, args) = self.command.split_first().expect("a command has a name");
        let mut command = Command::new(&self.program.path);
        command.arg0(name).args(args);
        let mut set = self.all_variables()?;
        let padding = self.steady.then(|| self.padding(&set)).flatten();
        set.extend(padding.map(|bytes| (PAD.into(), "x".repeat(bytes).into())));
        command.env_clear().envs(set);
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        let (stdin, input) = self.stdin.begin().map_err(|error| {
            Error::not_started(format!("cannot set up the standard input: {error}"))
        })?;
        command.stdin(stdin);
        if let Some((output, errors)) = &self.output {
            command.stdout(output.try_clone().map_err(not_started)?);
            command.stderr(errors.try_clone().map_err(not_started)?);
        }

        let before = orphans::Before::now();
        let signals = Watch::begin(self.is_users);
        let steady = Steady::begin(self.steady);
        let since = Instant::now();
        let child = command.spawn();
        let unsteady = self.steady && (steady.is_none() || padding.is_none());
        drop(steady);
        drop(command); // with it, the program's end of a pipe
        match child {
            Ok(child) => {
                signals.child(child.id());
                before.started(child.id());
                let progress = self.is_users.then(|| self.trace()).flatten();
                Ok(Started {
                    progress: progress.map(Recording::new),
                    child,
                    signals,
                    input,
                    since,
                    unsteady,
                    before,
                    is_users: self.is_users,
                    is_asked: false,
                })
            }
            Err(error) => {
                signals.end();
                input.finish();
                Err(not_started(error))
            }
        }
    }

    /// Where its trace will be.
    fn trace(&self) -> Option<PathBuf> {
        let mut variables = self.variables.iter();
        let trace = variables.find(|(name, _)| name == TRACE);
        trace.map(|(_, path)| path.into())
    }

    /// How many bytes arguments and environment fill in a steady run. They lie at the bottom of the
    /// stack, so their size would otherwise move every address on it: a run from another shell, or
    /// into another file, would not be the same run. There is room for a few more variables in a later
    /// run.
    pub fn filled(&self) -> Result<usize> {
        const BLOCK: usize = 32 * 1024;
        const SPARE: usize = 8 * 1024;
        let needed = self.needed(&self.all_variables()?) + SPARE;
        Ok(self.filled.unwrap_or(needed.next_multiple_of(BLOCK)))
    }

    /// How many bytes are missing to fill as much; `None` if that is too little for this run.
    fn padding(&self, set: &Variables) -> Option<usize> {
        self.filled().ok()?.checked_sub(self.needed(set))
    }

    /// What arguments and environment take, with an empty variable that fills them up.
    fn needed(&self, set: &Variables) -> usize {
        const POINTER: usize = 8;
        let variables = set.iter().map(|(name, value)| name.len() + 1 + value.len());
        let arguments = self.command.iter().map(|arg| arg.len());
        let texts = variables.chain(arguments).chain([PAD.len() + 1]);
        let texts: usize = texts.map(|bytes| bytes + 1 + POINTER).sum();
        texts + self.program.path.as_os_str().len() + 1
    }

    /// The program's variables and the runtime's.
    fn all_variables(&self) -> Result<Variables> {
        let mut set = self.environment.clone().into_owned();
        if self.steady {
            // What Rust prints of a panic's calls takes a hundred thousand steps in code without hooks, which differ with the
            // length of paths. The finding has the place.
            if let Some(value) = set.get_mut(OsStr::new("RUST_BACKTRACE")) {
                *value = "0".into();
            }
        }
        set.remove(OsStr::new(PAD));
        if self.program.kind == Kind::LoadsTsan {
            let theirs = set.remove(OsStr::new(LIBRARIES));
            let ours = RuntimeFiles::extract()?;
            set.insert(LIBRARIES.into(), library_path(ours.libraries(), theirs));
        }
        set.extend(self.variables.iter().cloned());
        // All runs of a command share what it may write.
        let options = set.get(OsStr::new(OPTIONS)).and_then(|text| text.to_str());
        let shared = self.trace().zip(options);
        if let Some(shared) = shared.and_then(|(trace, options)| disk::share(&trace, options)) {
            set.insert(OPTIONS.into(), shared.into());
        }
        Ok(set)
    }
}

impl Started {
    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        let ended = self.child.try_wait().map_err(lost)?;
        Ok(ended.is_some())
    }

    /// Ends it, if it has not ended by itself.
    pub fn kill(&mut self) {
        // At worst it is gone already.
        let _ = self.child.kill();
        // Nothing that it has started was meant to be without it.
        self.is_users = false;
    }

    /// Waits so long for its end, and ends it then; whether that was necessary.
    pub fn kill_after(&mut self, limit: Duration) -> Result<bool> {
        self.kill_when(|since| since > limit)
    }

    /// Waits for its end, and ends it when `is_over` says so, which hears how long it has run; whether
    /// that was necessary.
    pub fn kill_when(&mut self, mut is_over: impl FnMut(Duration) -> bool) -> Result<bool> {
        let mut pause = Duration::from_micros(200);
        while !self.has_ended()? {
            if is_over(self.since.elapsed()) {
                self.kill();
                return Ok(true);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Ok(false)
    }

    /// Asks it to end after so long, if it goes on and the user has not asked it before; one that does not heed
    /// that is ended. So is whatever it has left behind: it goes on as long as any of that does.
    pub fn end_after(&mut self, time: Duration) -> Result<()> {
        self.is_asked = true;
        let is_over = |since: Duration| since > time || signals::is_stopped();
        let mut pause = Duration::from_micros(200);
        while !self.has_ended()? || !self.before.left().is_empty() {
            if is_over(self.since.elapsed()) {
                self.ask_to_end()?;
                return self.wait_for(signals::GRACE);
            }
            self.show_progress();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Sends what ends a program that does not mind.
    fn ask_to_end(&mut self) -> Result<()> {
        if !signals::is_stopped() {
            say("the time is up: asking the program to end; what was recorded is looked at next");
            if !self.has_ended()? {
                // SAFETY: no memory is concerned; the process is our child and was not waited for.
                unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
            }
        }
        Ok(())
    }

    /// Gives it so long to end, and ends it then.
    fn wait_for(&mut self, grace: Duration) -> Result<()> {
        let begun = Instant::now();
        while !self.has_ended()? {
            if begun.elapsed() > grace {
                self.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn show_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.goes_on();
        }
    }

    /// Waits for its end; a program that was asked to end and does not is ended.
    fn wait_while_wanted(&mut self, limit: Option<Duration>) -> Result<bool> {
        let mut pause = Duration::from_micros(200);
        let mut asked: Option<Instant> = None;
        while !self.has_ended()? {
            if signals::is_stopped() && asked.is_none() {
                say("stopping the program; what was recorded is looked at next");
                asked = Some(Instant::now());
            }
            if asked.is_some_and(|asked| asked.elapsed() > signals::GRACE) {
                self.kill();
            }
            if limit.is_some_and(|limit| self.since.elapsed() > limit) {
                self.kill();
                return Ok(true);
            }
            self.show_progress();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Ok(false)
    }

    /// Waits for its end, and ends what it has left behind.
    pub fn wait(self) -> Result<Outcome> {
        self.wait_within(None)
    }

    /// The same; the program is ended when it has run for so long.
    pub fn wait_within(mut self, limit: Option<Duration>) -> Result<Outcome> {
        let mut is_cut = false;
        if self.is_users && signals::are_kept() || limit.is_some() {
            is_cut = self.wait_while_wanted(limit)?;
        }
        let ended = self.child.wait();
        let took = self.since.elapsed();
        self.signals.end();
        let manner = match (self.is_users, self.is_asked) {
            (false, false) => Manner::Ended,
            (_, true) => Manner::Asked,
            (true, false) => Manner::Awaited,
        };
        let left = self.before.end_others(self.child.id(), manner);
        if self.is_users && left > 0 {
            let orphans = counted(left as u64, "orphan");
            say(format_args!("the program left {orphans} behind, ended now"));
        }
        let kept = self.input.finish();
        Ok(Outcome {
            status: ended.map_err(lost)?,
            is_cut,
            took,
            unsteady: self.unsteady,
            kept,
        })
    }
}

fn lost(error: io::Error) -> Error {
    Error::not_started(format!("the program cannot be waited for: {error}"))
}

const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// Puts our libraries before those that the user has named.
fn library_path(ours: &Path, theirs: Option<OsString>) -> OsString {
    let mut value = ours.as_os_str().to_owned();
    if let Some(theirs) = theirs.filter(|theirs| !theirs.is_empty()) {
        value.push(":");
        value.push(theirs);
    }
    value
}

/// This process's standard error, for a program's output and errors.
pub fn errors_twice() -> Option<(File, File)> {
    let errors = || {
        let fd = io::stderr().as_fd().try_clone_to_owned();
        fd.ok().map(File::from)
    };
    Some((errors()?, errors()?))
}

/// For a run whose output nobody wants.
pub fn nowhere() -> Option<(File, File)> {
    let nothing = || File::options().write(true).open("/dev/null").ok();
    Some((nothing()?, nothing()?))
}

/// Whether the system allows programs to be started with the same addresses in every run.
pub fn can_be_steady() -> bool {
    Steady::begin(true).is_some()
}

/// While it lives, programs that this thread starts get the same addresses in every run.
struct Steady {
    before: libc::c_int,
}

impl Steady {
    /// `None` if it is not wanted or the system does not allow it (containers may not).
    fn begin(wanted: bool) -> Option<Self> {
        const ASK: libc::c_ulong = 0xFFFF_FFFF;
        if !wanted {
            return None;
        }
        // SAFETY: personality takes no pointers; this value only asks.
        let before = unsafe { libc::personality(ASK) };
        if before < 0 {
            return None;
        }
        let persona = (before | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong;
        // SAFETY: no pointers; what changes is how programs started from now on are laid out.
        let done = unsafe { libc::personality(persona) };
        (done >= 0).then_some(Steady { before })
    }
}

impl Drop for Steady {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe { libc::personality(self.before as libc::c_ulong) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arguments and environment fill with these variables of the runtime.
    fn total(path: &str, filled: Option<usize>) -> Option<usize> {
        let program = Program {
            path: "/bin/prog".into(),
            kind: Kind::Linked,
            build_id: None,
        };
        let launch = Launch {
            program: &program,
            command: &["prog".into(), "arg".into()],
            environment: Cow::Owned(inherited()),
            variables: vec![(TRACE.into(), path.into())],
            folder: None,
            stdin: Source::Own,
            output: None,
            steady: true,
            filled,
            is_users: true,
        };
        let mut all = launch.all_variables().unwrap();
        let padding = launch.padding(&all)?;
        all.insert(PAD.into(), "x".repeat(padding).into());
        let variables: usize = all.iter().map(|(n, v)| n.len() + v.len() + 2 + 8).sum();
        Some(variables + "prog".len() + "arg".len() + 2 + 16 + "/bin/prog".len() + 1)
    }

    #[test]
    fn the_last_of_several_options_counts() {
        let options = "keep_free=5:mode=serial:keep_free=7";
        assert_eq!(option(options, "keep_free"), Some("7"));
        assert_eq!(option(options, "keep"), None);
    }

    #[test]
    fn padding_fills_blocks_whatever_is_set() {
        let short = total("/a", None).unwrap();
        assert_eq!(short % (32 * 1024), 0);
        assert_eq!(total("/a/long/one", None).unwrap() % (32 * 1024), 0);
        assert_eq!(total(&"x".repeat(8000), Some(short)), Some(short));
        assert_eq!(total("/a", Some(short * 2)), Some(short * 2));
        assert_eq!(total("/a", Some(100)), None);
    }
}
