//! `deadheat config`: what is set, and where.

use std::ffi::OsString;

use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::{Align, say, table};

use crate::settings::apply;
use crate::settings::file::{File, NAME};
use crate::settings::table::Table;
use crate::settings::variable;

const EXAMPLES: &str = "\
Examples:
  deadheat config                           everything that is set
  deadheat config check                     what counts for `deadheat check`

The places are deadheat.toml or Cargo.toml in this folder or the nearest one above, and the variable
DEADHEAT_OPTIONS; `deadheat help options` lists what can be set there.";

/// Shows which options are set, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only what counts for this command.
    command: Vec<OsString>,
}

impl Args {
    /// Shows it.
    pub fn run(self) -> Result<Exit> {
        let options = Table::own();
        let file = File::find(None, &options)?;
        let rows = match self.command.is_empty() {
            true => everything(&file),
            false => self.of_command(&options, &file)?,
        };
        match rows.is_empty() {
            true => say(format_args!(
                "nothing is set: no {NAME} here or above, and no DEADHEAT_OPTIONS"
            )),
            false => anstream::print!("{}", table(&COLUMNS, &rows)),
        }
        Ok(Exit::Clean)
    }

    fn of_command(&self, options: &Table, file: &File) -> Result<Vec<Vec<String>>> {
        let (_, path, words) = options.command(&self.command);
        if words < self.command.len() || options.of(&path).is_empty() {
            let typed: Vec<_> = self.command.iter().map(|w| w.to_string_lossy()).collect();
            return Err(Error::usage(format!(
                "{} is no command with options that can be set",
                typed.join(" ")
            ))
            .help(format!("these are: {}", options.commands().join(", "))));
        }
        let set = variable::entries(options, &path, &variable::text())?;
        let chosen = apply::chosen(options, &path, &[], &set, file);
        let chosen = chosen.into_iter().filter(|one| !one.arguments.is_empty());
        Ok(chosen
            .map(|one| {
                let arguments = one.arguments.iter().map(|arg| arg.to_string_lossy());
                let arguments: Vec<_> = arguments.collect();
                vec![arguments.join(" "), path.clone(), one.place]
            })
            .collect())
    }
}

const COLUMNS: [(&str, Align); 3] = [
    ("set", Align::Left),
    ("for", Align::Left),
    ("in", Align::Left),
];

fn everything(file: &File) -> Vec<Vec<String>> {
    let text = variable::text();
    let items = text.split(':').filter(|item| !item.is_empty());
    let all = || "all that have it".to_owned();
    let variable = items.map(|item| {
        vec![
            item.to_owned(),
            all(),
            deadheat_run::launch::OPTIONS.to_owned(),
        ]
    });
    let own = file.entries.iter().map(|entry| {
        vec![
            format!("{} = {}", entry.name, entry.given),
            entry.command.clone().unwrap_or_else(all),
            entry.place.clone(),
        ]
    });
    let runtime = file.runtime.iter().map(|(item, place)| {
        let who = "the runtime".to_owned();
        vec![item.replacen('=', " = ", 1), who, place.clone()]
    });
    let shown = |path: &std::path::Path| path.display().to_string();
    let place = file.path.as_deref().map(shown).unwrap_or_default();
    let config = &file.config;
    let suppressions = config.suppressions.iter().map(|path| {
        vec![
            format!("suppressions = {}", shown(path)),
            all(),
            place.clone(),
        ]
    });
    let channels = config.channels.iter().map(|channel| {
        let what = format!("channel = {} to {}", channel.send, channel.receive);
        vec![what, all(), place.clone()]
    });
    variable
        .chain(own)
        .chain(runtime)
        .chain(suppressions)
        .chain(channels)
        .collect()
}
