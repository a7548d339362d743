//! The table of options that can be set, taken from the definition of the commands.

use std::any::TypeId;
use std::error::Error as _;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};
use deadheat_session::error::Error;

use super::{Entry, Given};

/// Options that belong to one call (`*`: of every command, all options): set once, they would do harm.
const ONE_CALL: [(&str, &str); 9] = [
    ("*", "config"),
    ("*", "output"),
    ("*", "help"),
    ("*", "version"),
    ("rm", "*"),
    ("doctor", "*"),
    ("scan", "explain"),
    ("trace cat", "window"),
    ("trace cat", "thread"),
];

/// A value that stands for something else where others are paths.
const NO_PATH: [(&str, &str); 1] = [("model", "linux")];

/// All commands with their options.
pub struct Table {
    root: Command,
}

/// An option of a command that can be set.
#[derive(Clone)]
pub struct Setting<'a> {
    /// The command as typed, such as `check` or `trace cat`.
    pub path: String,
    /// Its definition.
    pub command: &'a Command,
    /// The option's definition.
    pub arg: &'a Arg,
}

impl Table {
    /// That of these commands.
    pub fn new(mut root: Command) -> Self {
        root.build();
        Table { root }
    }

    /// The table of Deadheat's own commands.
    pub fn own() -> Self {
        Table::new(crate::commands::definition())
    }

    /// The command that these words begin with, and how many of them name it.
    pub fn command(&self, words: &[OsString]) -> (&Command, String, usize) {
        let mut command = &self.root;
        let mut path = Vec::new();
        for word in words.iter().filter_map(|word| word.to_str()) {
            match command.find_subcommand(word) {
                Some(found) => command = found,
                None => break,
            }
            path.push(word);
        }
        (command, path.join(" "), path.len())
    }

    /// Every option of every command that can be set, in the order of the commands.
    pub fn all(&self) -> Vec<Setting<'_>> {
        let mut found = Vec::new();
        settings(&self.root, "", &mut found);
        found
    }

    /// The options of one command.
    pub fn of(&self, path: &str) -> Vec<Setting<'_>> {
        let all = self.all().into_iter();
        all.filter(|setting| setting.path == path).collect()
    }

    /// The names of the commands that have something to set.
    pub fn commands(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.all().into_iter().map(|one| one.path).collect();
        paths.dedup();
        paths
    }

    /// Whether this makes sense: a command has such an option and it takes the value. At the top
    /// of a file one command that takes it is enough.
    pub fn check(&self, entry: &Entry, folder: Option<&Path>) -> Result<(), Error> {
        let settings = match &entry.command {
            Some(path) => self.of(path),
            None => self.all(),
        };
        let named = || settings.iter().filter(|one| one.name() == entry.name);
        let mut wrong = None;
        for setting in named() {
            match setting.arguments(&entry.given, folder) {
                Ok(_) => return Ok(()),
                Err(error) => wrong = Some(error),
            }
        }
        Err(match wrong {
            Some(wrong) => wrong.at(&entry.place),
            None => {
                let names = settings.iter().map(|setting| setting.name());
                unknown("option", &entry.name, names, &entry.place)
            }
        })
    }
}

fn settings<'a>(command: &'a Command, path: &str, found: &mut Vec<Setting<'a>>) {
    for arg in command.get_arguments() {
        let name = arg.get_long().unwrap_or_default();
        let is_one_call = ONE_CALL
            .iter()
            .any(|(p, n)| (*p == "*" || *p == path) && (*n == "*" || *n == name));
        if !name.is_empty() && !arg.is_hide_set() && !is_one_call {
            found.push(Setting {
                path: path.to_owned(),
                command,
                arg,
            });
        }
    }
    for below in command.get_subcommands() {
        let path = format!("{path} {}", below.get_name());
        settings(below, path.trim_start(), found);
    }
}

/// No such name: says which is the nearest.
pub fn unknown<'a>(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
    place: &str,
) -> Error {
    const ALIKE: f64 = 0.8;
    let near = names
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(alike, _)| *alike > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let error = Error::usage(format!("{place}: there is no {what} {name}"));
    let error = match near {
        Some((_, near)) => error.help(format!("did you mean {near}?")),
        None => error,
    };
    error.help("`deadheat help options` lists all that can be set")
}

/// A value that an option cannot have.
#[derive(Debug)]
pub struct Wrong {
    what: String,
    help: Option<String>,
}

impl Wrong {
    fn new(what: String) -> Self {
        Wrong { what, help: None }
    }

    /// As an error, with the place.
    pub fn at(self, place: &str) -> Error {
        let error = Error::usage(format!("{place}: {}", self.what));
        match self.help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

impl Setting<'_> {
    /// The option's name.
    pub fn name(&self) -> &str {
        self.arg.get_long().unwrap_or_default()
    }

    /// Whether it is on or off and nothing else.
    pub fn is_flag(&self) -> bool {
        matches!(self.arg.get_action(), ArgAction::SetTrue)
    }

    /// Whether it may stand without a value.
    pub fn is_optional(&self) -> bool {
        let range = self.arg.get_num_args();
        !self.is_flag() && range.is_some_and(|range| range.min_values() == 0)
    }

    /// Whether it may be given several times.
    pub fn is_list(&self) -> bool {
        matches!(self.arg.get_action(), ArgAction::Append)
    }

    /// Whether its value is the path of a file.
    fn is_path(&self) -> bool {
        self.arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
    }

    /// The arguments that have the same effect. A path in a file is one from the file's folder.
    pub fn arguments(&self, given: &Given, folder: Option<&Path>) -> Result<Vec<OsString>, Wrong> {
        let name = self.name();
        let alone = OsString::from(format!("--{name}"));
        let values = match given {
            Given::Flag(false) if self.is_flag() || self.is_optional() => return Ok(vec![]),
            Given::Flag(true) if self.is_flag() || self.is_optional() => return Ok(vec![alone]),
            Given::Flag(_) => return Err(Wrong::new(format!("{name} wants a value"))),
            _ if self.is_flag() => {
                return Err(Wrong::new(format!("{name} is true or false, not {given}")));
            }
            Given::One(value) => std::slice::from_ref(value),
            Given::Several(values) if self.is_list() => values,
            Given::Several(_) => {
                return Err(Wrong::new(format!("{name} wants one value, not a list")));
            }
        };
        let mut arguments = Vec::new();
        for value in values {
            let value = match folder {
                Some(folder) if self.is_path() && !NO_PATH.contains(&(name, value)) => {
                    folder.join(value).into_os_string()
                }
                _ => value.into(),
            };
            self.check(&value)?;
            let mut argument = alone.clone();
            argument.push("=");
            argument.push(value);
            arguments.push(argument);
        }
        Ok(arguments)
    }

    /// Whether the option's own parser takes this value.
    fn check(&self, value: &OsString) -> Result<(), Wrong> {
        let alone = Arg::new("value")
            .value_parser(self.arg.get_value_parser().clone())
            .value_delimiter(self.arg.get_value_delimiter())
            .allow_hyphen_values(true);
        let command = Command::new("check").no_binary_name(true).arg(alone);
        let Err(error) = command.try_get_matches_from([value]) else {
            return Ok(());
        };
        let why = error.source().map(|source| format!(": {source}"));
        let words = match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(words)) if !words.is_empty() => Some(words.join(", ")),
            _ => None,
        };
        Err(Wrong {
            what: format!(
                "{} cannot be {:?}{}",
                self.name(),
                value.to_string_lossy(),
                why.unwrap_or_default()
            ),
            help: words.map(|words| format!("it can be one of: {words}")),
        })
    }
}
