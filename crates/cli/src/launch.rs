//! Starts a program with the runtime's variables set, and waits for it.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::program::{Kind, Program};
use crate::runtime_files::RuntimeFiles;
use crate::signals::Watch;

/// Where the runtime writes the trace.
pub const TRACE: &str = "DEADHEAT_TRACE";
/// The runtime's options, `name=value:name=value`.
pub const OPTIONS: &str = "DEADHEAT_OPTIONS";
/// Fills the environment up; see [`padding`].
const PAD: &str = "DEADHEAT_PAD";

/// A run under the runtime.
pub struct Launch<'a> {
    /// What to run.
    pub program: &'a Program,
    /// Its name as the user gave it, and its arguments.
    pub command: &'a [OsString],
    /// The runtime's variables: [`OPTIONS`], and [`TRACE`] or those of a watched program.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether addresses should be the same in every run.
    pub steady: bool,
}

/// How a run went.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// How long it took.
    pub took: Duration,
    /// Whether the system refused to keep addresses the same.
    pub unsteady: bool,
}

impl Launch<'_> {
    /// Runs the program to its end.
    pub fn run(&self) -> Result<Outcome> {
        let (name, args) = self.command.split_first().expect("a command has a name");
        let mut command = Command::new(&self.program.path);
        command.arg0(name).args(args);
        let mut set = self.variables.clone();
        if self.program.kind == Kind::LoadsTsan {
            set.push(library_path(RuntimeFiles::extract()?.libraries()));
        }
        if self.steady {
            set.push(padding(&self.program.path, self.command, &set));
        }
        command.envs(set);

        let watch = Watch::begin();
        let steady = Steady::begin(self.steady);
        let started = Instant::now();
        let child = command.spawn();
        let unsteady = self.steady && steady.is_none();
        drop(steady);
        let ended = child.and_then(|mut child| {
            watch.child(child.id());
            child.wait()
        });
        let took = started.elapsed();
        watch.end();
        match ended {
            Ok(status) => Ok(Outcome {
                status,
                took,
                unsteady,
            }),
            Err(error) => Err(Error::not_started(format!(
                "cannot start {}: {error}",
                self.program.path.display()
            ))),
        }
    }
}

/// Puts our libraries before those that the user has named.
fn library_path(ours: &Path) -> (OsString, OsString) {
    const NAME: &str = "LD_LIBRARY_PATH";
    let mut value = ours.as_os_str().to_owned();
    if let Some(theirs) = std::env::var_os(NAME).filter(|theirs| !theirs.is_empty()) {
        value.push(":");
        value.push(theirs);
    }
    (NAME.into(), value)
}

/// A variable that makes arguments and environment fill whole blocks. They lie at the bottom of
/// the stack, so their size would otherwise move every address on it: a run from another
/// shell, or into another file, would not be the same run.
fn padding(
    program: &Path,
    command: &[OsString],
    set: &[(OsString, OsString)],
) -> (OsString, OsString) {
    const BLOCK: usize = 32 * 1024;
    const POINTER: usize = 8;
    let ours = |name: &OsStr| name == PAD || set.iter().any(|(set, _)| set == name);
    let inherited = std::env::vars_os().filter(|(name, _)| !ours(name));
    let variables: usize = inherited
        .chain(set.iter().cloned())
        .map(|(name, value)| name.len() + 1 + value.len() + 1 + POINTER)
        .sum();
    let arguments: usize = command.iter().map(|arg| arg.len() + 1 + POINTER).sum();
    let own = PAD.len() + 2 + POINTER;
    let total = variables + arguments + program.as_os_str().len() + 1 + own;
    let missing = total.next_multiple_of(BLOCK) - total;
    (PAD.into(), "x".repeat(missing).into())
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

    #[test]
    fn padding_fills_blocks_whatever_is_set() {
        let total = |set: &[(OsString, OsString)]| {
            let program = Path::new("/bin/prog");
            let command = [OsString::from("prog"), OsString::from("arg")];
            let (name, value) = padding(program, &command, set);
            let mut all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
            all.extend(set.iter().cloned());
            all.push((name, value));
            let variables: usize = all.iter().map(|(n, v)| n.len() + v.len() + 2 + 8).sum();
            variables + "prog".len() + "arg".len() + 2 + 16 + "/bin/prog".len() + 1
        };
        let short = [(OsString::from("DEADHEAT_TRACE"), OsString::from("/a"))];
        let long = [(
            OsString::from("DEADHEAT_TRACE"),
            OsString::from("/a/long/one"),
        )];
        assert_eq!(total(&short) % (32 * 1024), 0);
        assert_eq!(total(&long) % (32 * 1024), 0);
    }
}
