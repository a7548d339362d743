//! The project's configuration, in the folder in which the user stands or the nearest one above:
//! `deadheat.toml`, or `[workspace.metadata.deadheat]` or `[package.metadata.deadheat]` in `Cargo.toml`.
//!
//! ```toml
//! warnings = true                      # for every command that has --warnings
//! suppressions = ["known-races.txt"]   # files, from the folder of deadheat.toml
//!
//! [check]                              # for one command
//! runs = 10
//!
//! [runtime]                            # what the library in the program obeys
//! clock = "real"
//!
//! [[channel]]                          # who calls `send` hands over to who returns from `receive`
//! send = "queue_push"
//! receive = "queue_pop"
//! ```

use std::ops::Range;
use std::path::{Path, PathBuf};

use deadheat_analysis::config::Config;
use deadheat_session::error::{Error, Result};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::table::{self, Table};
use super::{Entry, Given, variable};

/// The file's name.
pub const NAME: &str = "deadheat.toml";
const CARGO: &str = "Cargo.toml";
/// The table of the runtime's own options.
const RUNTIME: &str = "runtime";

/// What a file sets.
#[derive(Debug, Default)]
pub struct File {
    /// Its path, if there is one.
    pub path: Option<PathBuf>,
    /// The folder that paths in it are seen from.
    pub folder: PathBuf,
    /// What is no option of a command.
    pub config: Config,
    /// The options.
    pub entries: Vec<Entry>,
    /// Those of the runtime, `name=value` each, with where they stand.
    pub runtime: Vec<(String, String)>,
}

impl File {
    /// The file that is named, or the nearest one.
    pub fn find(named: Option<&Path>, table: &Table) -> Result<Self> {
        if let Some(path) = named {
            return File::read(path, table)?.ok_or_else(|| {
                Error::usage(format!("{}: nothing about Deadheat", path.display())).help(
                    "it stands in [workspace.metadata.deadheat] or [package.metadata.deadheat]",
                )
            });
        }
        let here = std::env::current_dir().unwrap_or_default();
        for folder in here.ancestors() {
            // What lies here is named as the user would.
            let folder = match folder == here {
                true => Path::new(""),
                false => folder,
            };
            for name in [NAME, CARGO] {
                let path = folder.join(name);
                if path.is_file()
                    && let Some(file) = File::read(&path, table)?
                {
                    return Ok(file);
                }
            }
        }
        Ok(File::default())
    }

    fn read(path: &Path, table: &Table) -> Result<Option<Self>> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::usage(format!("cannot read {}: {error}", path.display())))?;
        File::parse(path, &text, table)
    }

    /// What the text of this file says; `None` if it is a `Cargo.toml` that says nothing about us.
    pub fn parse(path: &Path, text: &str, table: &Table) -> Result<Option<Self>> {
        let is_cargo = path.file_name().is_some_and(|name| name == CARGO);
        if is_cargo && !text.contains("deadheat") {
            return Ok(None);
        }
        let reader = Reader {
            shown: path.display().to_string(),
            text,
            table,
            folder: path.parent().unwrap_or(Path::new("")),
        };
        let parsed = DeTable::parse(text).map_err(|error| reader.refused(&error))?;
        let whole = parsed.into_inner();
        let ours = match is_cargo {
            false => Some(whole),
            true => in_cargo(whole),
        };
        let Some(ours) = ours else {
            return Ok(None);
        };
        let mut file = File {
            path: Some(path.to_owned()),
            folder: reader.folder.to_owned(),
            config: Config {
                is_in_cargo: is_cargo,
                ..Config::default()
            },
            ..File::default()
        };
        reader.top(ours, &mut file)?;
        Ok(Some(file))
    }
}

/// The table about us in a `Cargo.toml`.
fn in_cargo(mut whole: DeTable<'_>) -> Option<DeTable<'_>> {
    ["workspace", "package"].into_iter().find_map(|top| {
        let mut at = whole.remove(top)?.into_inner();
        for name in ["metadata", "deadheat"] {
            let DeValue::Table(mut table) = at else {
                return None;
            };
            at = table.remove(name)?.into_inner();
        }
        match at {
            DeValue::Table(table) => Some(table),
            _ => None,
        }
    })
}

struct Reader<'a> {
    shown: String,
    text: &'a str,
    table: &'a Table,
    folder: &'a Path,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> String {
        let line = 1 + self.text[..span.start].matches('\n').count();
        format!("{}, line {line}", self.shown)
    }

    fn refused(&self, error: &toml::de::Error) -> Error {
        let place = match error.span() {
            Some(span) => self.place(&span),
            None => self.shown.clone(),
        };
        Error::usage(format!("{place}: {}", error.message().trim_end()))
    }

    /// What `T` is made of, at the file's top.
    fn plain<'de, T: Deserialize<'de>>(&self, value: Spanned<DeValue<'de>>) -> Result<T> {
        let place = self.place(&value.span());
        T::deserialize(value.into_deserializer())
            .map_err(|error: toml::de::Error| Error::usage(format!("{place}: {}", error.message())))
    }

    fn top(&self, table: DeTable<'_>, file: &mut File) -> Result<()> {
        for (name, value) in in_order(table) {
            let place = self.place(&name.span());
            match &**name.get_ref() {
                "suppressions" => {
                    let paths: Vec<PathBuf> = self.plain(value)?;
                    let paths = paths.iter().map(|path| self.folder.join(path));
                    file.config.suppressions = paths.collect();
                }
                "channel" => file.config.channels = self.plain(value)?,
                name => match value.into_inner() {
                    DeValue::Table(below) if name == RUNTIME => self.runtime(below, file)?,
                    DeValue::Table(below) => self.command(name, &place, below, file)?,
                    value => self.entry(None, name, value, place, file)?,
                },
            }
        }
        Ok(())
    }

    /// The table of a command, or of a group of commands such as `trace`.
    fn command(&self, path: &str, place: &str, table: DeTable<'_>, file: &mut File) -> Result<()> {
        let commands = self.table.commands();
        let group = format!("{path} ");
        if !commands
            .iter()
            .any(|command| command == path || command.starts_with(&group))
        {
            let names = commands.iter().map(String::as_str);
            return Err(table::unknown(
                "command with settings called",
                path,
                names,
                place,
            ));
        }
        for (name, value) in in_order(table) {
            let place = self.place(&name.span());
            match value.into_inner() {
                DeValue::Table(below) => {
                    let path = format!("{path} {}", name.get_ref());
                    self.command(&path, &place, below, file)?;
                }
                value => self.entry(Some(path), name.get_ref(), value, place, file)?,
            }
        }
        Ok(())
    }

    /// The table of the runtime's own options.
    fn runtime(&self, table: DeTable<'_>, file: &mut File) -> Result<()> {
        for (name, value) in in_order(table) {
            let place = self.place(&name.span());
            let name = &**name.get_ref();
            let value = match value.get_ref() {
                DeValue::Boolean(flag) => Some(u8::from(*flag).to_string()),
                other => plain_text(other),
            };
            variable::check_runtime(name, value.as_deref().unwrap_or_default(), &place)?;
            let item = format!("{name}={}", value.unwrap_or_default());
            file.runtime.push((item, place));
        }
        Ok(())
    }

    fn entry(
        &self,
        command: Option<&str>,
        name: &str,
        value: DeValue<'_>,
        place: String,
        file: &mut File,
    ) -> Result<()> {
        let given = match &value {
            DeValue::Boolean(flag) => Given::Flag(*flag),
            DeValue::Array(values) => {
                let texts = values.iter().map(|value| plain_text(value.get_ref()));
                let texts: Option<Vec<String>> = texts.collect();
                let lists = || Error::usage(format!("{place}: {name} wants texts in its list"));
                Given::Several(texts.ok_or_else(lists)?)
            }
            other => Given::One(
                plain_text(other)
                    .ok_or_else(|| Error::usage(format!("{place}: {name} wants a text")))?,
            ),
        };
        let entry = Entry {
            command: command.map(str::to_owned),
            name: name.to_owned(),
            given,
            place,
        };
        self.table.check(&entry, Some(self.folder))?;
        file.entries.push(entry);
        Ok(())
    }
}

/// As it stands in the file.
fn in_order<'i>(table: DeTable<'i>) -> Vec<(Spanned<DeString<'i>>, Spanned<DeValue<'i>>)> {
    let mut items: Vec<_> = table.into_iter().collect();
    items.sort_by_key(|(name, _)| name.span().start);
    items
}

/// A text or a number, as it would be typed.
fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<Option<File>> {
        File::parse(Path::new(name), text, &Table::own())
    }

    #[test]
    fn everything_that_can_be_set() {
        let text = "runs = 3\nsuppressions = ['a.txt']\n[trace.cat]\nframes = true\n\
                    [[channel]]\nsend = 'push'\nreceive = 'pop'\n";
        let file = parse("below/deadheat.toml", text).unwrap().unwrap();
        assert_eq!(file.config.suppressions, [Path::new("below/a.txt")]);
        assert_eq!(file.config.channels[0].send, "push");
        assert_eq!(file.config.channels[0].receive, "pop");
        let entries: Vec<_> = file
            .entries
            .iter()
            .map(|entry| (entry.command.as_deref(), &*entry.name, &*entry.place))
            .collect();
        assert_eq!(
            entries,
            [
                (None, "runs", "below/deadheat.toml, line 1"),
                (Some("trace cat"), "frames", "below/deadheat.toml, line 4")
            ]
        );
    }

    #[test]
    fn cargos_file_says_it_in_its_metadata() {
        let of = |text: &str| parse("Cargo.toml", text).unwrap();
        assert!(of("[package]\nname = 'deadheat-user'\n").is_none());
        assert!(of("[package.metadata.other]\nx = 1\n").is_none());
        for top in ["workspace", "package"] {
            let file = of(&format!("\n[{top}.metadata.deadheat.check]\nruns = 3\n")).unwrap();
            assert_eq!(file.entries[0].place, "Cargo.toml, line 3");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let wrong = |text: &str| parse("deadheat.toml", text).unwrap_err().to_string();
        let said = [
            wrong("\nrusn = 3\n"),
            wrong("[chek]\nruns = 3\n"),
            wrong("[check]\n\nmethod = 'hb'\n"),
            wrong("[check]\npolicy = 'fifo'\n"),
            wrong("[check]\nruns = 0\n"),
            wrong("runs = [1, 2]\n"),
            wrong("only = [[1]]\n"),
            wrong("warnings = 'yes'\n"),
            wrong("seed = true\n"),
            wrong("[rm]\nall = true\n"),
            wrong("suppressions = 3\n"),
            wrong("[[channel]]\nsend = 'push'\n"),
            wrong("a = [\n"),
            wrong("[runtime]\nclok = 'real'\n"),
            wrong("[runtime]\nclock = 'odd'\n"),
            wrong("[runtime]\nmode = 'serial'\n"),
        ];
        insta::assert_snapshot!(said.join("\n\n"));
    }
}
