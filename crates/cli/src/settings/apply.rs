//! What is set becomes arguments, in front of those that the user has typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use deadheat_session::error::Result;

use super::file::File;
use super::table::{Setting, Table};
use super::{Entry, variable};

/// A command line with what is set put into it.
#[derive(Debug, PartialEq, Eq)]
pub struct Applied {
    /// The arguments.
    pub args: Vec<OsString>,
    /// What was put in, and where it is set.
    pub from: Vec<(String, String)>,
}

/// Puts in what files and the variable set for the command that is called.
pub fn applied(args: Vec<OsString>) -> Result<Applied> {
    let table = Table::own();
    applied_by(&table, args, &variable::text(), |named| {
        let file = File::find(named, &table)?;
        variable::keep_for_runtime(&file.runtime);
        Ok(file)
    })
}

fn applied_by(
    table: &Table,
    mut args: Vec<OsString>,
    variable: &str,
    file: impl FnOnce(Option<&Path>) -> Result<File>,
) -> Result<Applied> {
    let (command, path, words) = table.command(args.get(1..).unwrap_or_default());
    if table.of(&path).is_empty() || asks_help(command, &args[1 + words..]) {
        return Ok(Applied { args, from: vec![] });
    }
    let typed = Typed::of(command, &args[1 + words..]);
    let file = file(typed.config.as_deref())?;
    let set = variable::entries(table, &path, variable)?;
    let chosen = chosen(table, &path, &typed.names, &set, &file);
    let behind = args.split_off(1 + words);
    args.extend(chosen.iter().flat_map(|one| one.arguments.clone()));
    args.extend(behind);
    let from = chosen.into_iter().filter(|one| !one.arguments.is_empty());
    Ok(Applied {
        args,
        from: from.map(|one| (one.name, one.place)).collect(),
    })
}

/// Whether the user wants to read and not to run something: that works whatever is set.
fn asks_help(command: &Command, args: &[OsString]) -> bool {
    let name = OsString::from(command.get_name());
    let parsed = command
        .clone()
        .try_get_matches_from(std::iter::once(&name).chain(args));
    parsed.is_err_and(|error| !error.use_stderr())
}

/// What the user has typed behind a command.
struct Typed {
    names: Vec<String>,
    config: Option<PathBuf>,
}

impl Typed {
    /// Mistakes do not matter yet: they are found when all is parsed.
    fn of(command: &Command, args: &[OsString]) -> Self {
        let name = OsString::from(command.get_name());
        let lenient = command.clone().ignore_errors(true);
        let words = std::iter::once(&name).chain(args);
        let matches = lenient.try_get_matches_from(words).unwrap_or_default();
        let names = command.get_arguments().filter(|arg| {
            let id = arg.get_id().as_str();
            source(&matches, id) == Some(ValueSource::CommandLine)
        });
        let names = names.filter_map(|arg| arg.get_long()).map(str::to_owned);
        let config = matches.try_get_one::<PathBuf>("config");
        Typed {
            names: names.collect(),
            config: config.ok().flatten().cloned(),
        }
    }
}

fn source(matches: &ArgMatches, id: &str) -> Option<ValueSource> {
    matches.ids().find(|known| *known == id)?;
    matches.value_source(id)
}

/// A setting that counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The option's name.
    pub name: String,
    /// Where it is set.
    pub place: String,
    /// The arguments that have its effect.
    pub arguments: Vec<OsString>,
}

/// Of all that is set what counts for a command: what comes first in the order of [`super`], and does not
/// contradict what came before.
pub fn chosen(
    table: &Table,
    path: &str,
    typed: &[String],
    set: &[Entry],
    file: &File,
) -> Vec<Chosen> {
    let settings = table.of(path);
    let own = |entry: &&Entry| entry.command.as_deref() == Some(path);
    let top = |entry: &&Entry| entry.command.is_none();
    let layers: [(Vec<&Entry>, Option<&Path>); 3] = [
        (set.iter().collect(), None),
        (
            file.entries.iter().filter(own).collect(),
            Some(&file.folder),
        ),
        (
            file.entries.iter().filter(top).collect(),
            Some(&file.folder),
        ),
    ];
    let mut known: Vec<String> = typed.to_vec();
    let mut chosen = Vec::new();
    for (layer, folder) in layers {
        let before = known.clone();
        for entry in layer {
            let Some(setting) = settings.iter().find(|one| one.name() == entry.name) else {
                continue;
            };
            if before.iter().any(|name| excludes(setting, &settings, name)) {
                continue;
            }
            // At the top of a file: for commands that take such a value. That one does was checked.
            let Ok(arguments) = setting.arguments(&entry.given, folder) else {
                continue;
            };
            known.push(entry.name.clone());
            chosen.push(Chosen {
                name: entry.name.clone(),
                place: entry.place.clone(),
                arguments,
            });
        }
    }
    chosen
}

/// Whether the option is out of the question once the one of that name is given: it is the same, or
/// the two cannot stand together.
fn excludes(setting: &Setting<'_>, settings: &[Setting<'_>], name: &str) -> bool {
    let conflicts = |one: &Setting<'_>, name: &str| {
        let others = one.command.get_arg_conflicts_with(one.arg);
        others.iter().any(|other| other.get_long() == Some(name))
    };
    let other = settings.iter().find(|other| other.name() == name);
    setting.name() == name
        || conflicts(setting, name)
        || other.is_some_and(|other| conflicts(other, setting.name()))
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
