//! What works on this machine, and what to do about the rest: tried, not guessed, wherever that is possible.

mod compilers;
mod places;
mod system;

use deadheat_engine::scanner;
use deadheat_session::error::Error;
use serde::Serialize;

use crate::settings::file::File;
use crate::settings::table::Table;

/// How well something works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should.
    Ok,
    /// It works, but not in full.
    Degraded,
    /// It is not there, or does not work.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What.
    pub name: String,
    /// How well it works.
    pub state: State,
    /// What was seen.
    pub told: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// The language whose programs can be checked because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'static str>,
}

impl Check {
    fn new(name: impl Into<String>, state: State, told: impl Into<String>) -> Self {
        Check {
            name: name.into(),
            state,
            told: told.into(),
            help: Vec::new(),
            language: None,
        }
    }

    fn ok(name: impl Into<String>, told: impl Into<String>) -> Self {
        Check::new(name, State::Ok, told)
    }

    fn degraded(name: impl Into<String>, told: impl Into<String>) -> Self {
        Check::new(name, State::Degraded, told)
    }

    fn missing(name: impl Into<String>, told: impl Into<String>) -> Self {
        Check::new(name, State::Missing, told)
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// What an error says about it.
    fn because(name: impl Into<String>, state: State, error: &Error) -> Self {
        let mut check = Check::new(name, state, error.what());
        check.help = error.advice().to_vec();
        check
    }
}

/// Looks at everything.
pub fn checks() -> Vec<Check> {
    let mut all = vec![versions(), analyser()];
    all.extend(compilers::checks());
    all.extend(system::checks());
    all.extend(places::checks());
    all.push(configuration());
    all
}

/// The languages whose programs can be checked, by what was found. Without a place for recordings and
/// for the runtime there are none.
pub fn languages(checks: &[Check]) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let has_place = checks
        .iter()
        .filter(|check| places::NEEDED.contains(&&*check.name))
        .all(|check| check.state != State::Missing);
    if has_place {
        found.extend(checks.iter().filter_map(|check| check.language));
        found.dedup();
        found.sort_unstable();
        found.dedup();
    }
    found
}

fn versions() -> Check {
    let runtime = deadheat_build::runtime_files::HASH;
    let format = deadheat_wire::VERSION;
    let own = env!("CARGO_PKG_VERSION");
    Check::ok(
        "deadheat",
        format!("{own}; runtime {runtime}, trace format {format}"),
    )
}

fn analyser() -> Check {
    const NAME: &str = "static analyser";
    let found = scanner::command().and_then(|mut command| {
        let failed = |why: String| {
            Error::not_started(format!("it does not start: {why}"))
                .help("install LLVM 19, on Debian: apt-get install llvm-19-dev clang-19")
        };
        let output = command.arg("--version").output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(failed(text(&output.stderr))),
        }
    });
    match found {
        Ok(version) => {
            let version = version.rsplit(' ').next().unwrap_or_default().to_owned();
            Check::ok(NAME, format!("{version}, for LLVM {}", scanner::LLVM))
        }
        Err(error) => Check::because(NAME, State::Missing, &error)
            .help("only `deadheat scan` and `deadheat check --scan` need it"),
    }
}

fn configuration() -> Check {
    const NAME: &str = "configuration";
    match File::find(None, &Table::own()) {
        Ok(File { path: None, .. }) => Check::ok(NAME, "none, which is fine"),
        Ok(File {
            path: Some(path), ..
        }) => Check::ok(NAME, path.display().to_string()),
        Err(error) => Check::because(NAME, State::Missing, &error),
    }
}
