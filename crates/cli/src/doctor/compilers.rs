//! Compilers: each builds a small program with two threads, which is then recorded.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

use deadheat_build::compiler::{Language, Surroundings, Wish};
use deadheat_build::rust;
use deadheat_run::launch;
use deadheat_session::error::{Error, Result};

use super::{Check, State};

const C: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return count == 2 ? 0 : 1;
}
";

const CXX: &str = "\
#include <mutex>
#include <thread>
int main() {
    std::mutex lock;
    int count = 0;
    auto work = [&] { std::lock_guard<std::mutex> guard(lock); count++; };
    std::thread one(work), two(work);
    one.join();
    two.join();
    return count == 2 ? 0 : 1;
}
";

const RUST: &str = "\
use std::sync::Mutex;
fn main() {
    let count = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *count.lock().unwrap() += 1);
        }
    });
    assert_eq!(count.into_inner().unwrap(), 2);
}
";

/// A compiler to try.
struct Tried {
    language: &'static str,
    name: OsString,
    install: &'static str,
}

/// Tries the compilers that are known, and those that the user has named.
pub fn checks() -> Vec<Check> {
    let mut all = Vec::new();
    let own = |variable: &str, language| {
        let name = std::env::var_os(variable).filter(|name| !name.is_empty())?;
        Some(Tried {
            language,
            name,
            install: "correct the variable, or install the compiler",
        })
    };
    all.extend(own("DEADHEAT_CC", "C"));
    all.extend(own("DEADHEAT_CXX", "C++"));
    let known = [
        ("C", "gcc", "on Debian: apt-get install gcc"),
        ("C++", "g++", "on Debian: apt-get install g++"),
        ("C", "clang", "on Debian: apt-get install clang"),
        ("C++", "clang++", "on Debian: apt-get install clang"),
    ];
    all.extend(known.map(|(language, name, install)| Tried {
        language,
        name: name.into(),
        install,
    }));
    all.push(Tried {
        language: "Rust",
        name: rust::default_compiler(),
        install: "install Rust from https://rustup.rs",
    });
    all.iter().map(Tried::check).collect()
}

impl Tried {
    fn check(&self) -> Check {
        let name = format!("{} for {}", self.name.display(), self.language);
        let Some(version) = self.version() else {
            return Check::missing(name, "not found").help(self.install);
        };
        let mut check = match self.build_and_record() {
            Ok(state) => {
                let told = format!("{version}; what it builds is recorded");
                Check { told, ..state }
            }
            Err(error) => Check::because("", State::Missing, &error),
        };
        check.name = name;
        check.language = (check.state != State::Missing).then_some(self.language);
        check
    }

    /// The version as the compiler tells it, if it is there.
    fn version(&self) -> Option<String> {
        let program = match self.language {
            "Rust" => vec![self.name.clone()],
            language => {
                let language = match language {
                    "C" => Language::C,
                    _ => Language::Cxx,
                };
                let wish = Wish::Exactly(self.name.clone());
                let surroundings = Surroundings::of_process().ok()?;
                surroundings.choose(&wish, language).ok()?.command
            }
        };
        let (first, more) = program.split_first()?;
        let output = Command::new(first).args(more).arg("--version").output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // It stands behind the name of whoever has made a package of it.
        let words = text.lines().next()?.split_whitespace().rev();
        let is_version =
            |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let version = words.into_iter().find(is_version);
        Some(version.unwrap_or("of an unknown version").to_owned())
    }

    /// Builds a program and records it, in both modes.
    fn build_and_record(&self) -> Result<Check> {
        let folder = tempfile::tempdir()
            .map_err(|error| Error::not_started(format!("no place for a program: {error}")))?;
        let (file, text, command) = match self.language {
            "C" => ("prog.c", C, "cc"),
            "C++" => ("prog.cpp", CXX, "c++"),
            _ => ("prog.rs", RUST, "rustc"),
        };
        let source = folder.path().join(file);
        std::fs::write(source, text)
            .map_err(|error| Error::not_started(format!("cannot write a program: {error}")))?;
        let mut build: Vec<OsString> = vec![command.into()];
        match self.language {
            "Rust" => build.push("--edition=2021".into()),
            _ => build.extend(["--compiler".into(), self.name.clone(), "-pthread".into()]),
        }
        build.extend([file, "-o", "prog"].map(OsString::from));
        run(folder.path(), &build, "it builds no program")?;
        record(folder.path(), &[], "what it builds cannot be recorded")?;
        match record(folder.path(), &["--serial"], "") {
            Ok(()) => Ok(Check::ok("", "")),
            Err(_) => {
                let why = "what it builds can only be recorded while threads run free";
                record(folder.path(), &["--serial", "--threads", "real"], why)?;
                Ok(Check::degraded("", "").help("serial recordings work with --threads real only"))
            }
        }
    }
}

/// Records the program; there must be a trace then.
fn record(folder: &Path, options: &[&str], failed: &str) -> Result<()> {
    let mut args = vec![
        "record",
        "--quiet",
        "--exit-code-from-program",
        "-o",
        "t.dht",
    ];
    args.extend(options);
    args.extend(["--", "./prog"]);
    let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    run(folder, &args, failed)?;
    let trace = folder.join("t.dht");
    let bytes = trace.metadata().map_or(0, |data| data.len());
    let _ = std::fs::remove_file(&trace);
    match bytes {
        0 => Err(Error::not_started(format!(
            "{failed}: no trace was written"
        ))),
        _ => Ok(()),
    }
}

/// Runs Deadheat, which must succeed.
fn run(folder: &Path, args: &[OsString], failed: &str) -> Result<()> {
    let ended = Command::new(deadheat_session::executable::own_path()?)
        .args(args)
        .current_dir(folder)
        .env_remove(launch::OPTIONS)
        .stdin(std::process::Stdio::null())
        .output();
    match ended {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let error = Error::not_started(format!("{failed} ({})", output.status));
            Err(last_lines(&output).into_iter().fold(error, Error::help))
        }
        Err(error) => Err(Error::not_started(format!("{failed}: {error}"))),
    }
}

/// What it said last.
fn last_lines(output: &Output) -> Vec<String> {
    const LINES: usize = 3;
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LINES));
    last.map(|line| format!("it said: {line}")).collect()
}

/// The name alone, if it is one that can be run.
pub fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(OsStr::new(name)))
        .any(|path| deadheat_build::compiler::is_executable(&path))
}
