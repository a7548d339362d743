//! What a project has set that is no option of a command: files of suppressions, and channels. The file
//! is read by [`crate::settings::file`].

use std::ffi::OsString;
use std::path::PathBuf;

use deadheat_report::Suppressions;
use deadheat_session::error::{Error, Result};
use serde::Deserialize;

use crate::settings::file::File;
use crate::settings::table::Table;

/// What a project has set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Files in ThreadSanitizer's syntax.
    pub suppressions: Vec<PathBuf>,
    /// Pairs of functions that hand something over.
    pub channels: Vec<Channel>,
    /// It stands in a `Cargo.toml`, where the static analyser does not look.
    pub is_in_cargo: bool,
}

impl Config {
    /// What the static analyser, which reads `deadheat.toml` itself, has to be told.
    pub fn untold(&self) -> Vec<OsString> {
        let files = self.suppressions.iter().filter(|_| self.is_in_cargo);
        files
            .flat_map(|path| ["--suppressions".into(), path.into()])
            .collect()
    }
}

/// Whoever calls `send` hands over to whoever returns from `receive` later.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The function that sends.
    pub send: String,
    /// The function that receives.
    pub receive: String,
}

/// Where the configuration and suppressions come from.
#[derive(Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// The configuration, instead of the nearest deadheat.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Findings not to show, in ThreadSanitizer's syntax; may be given several times.
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,
}

impl ConfigArgs {
    /// The configuration that the user means.
    pub fn read(&self) -> Result<Config> {
        let file = File::find(self.config.as_deref(), &Table::own())?;
        Ok(file.config)
    }

    /// The same for the static analyser.
    pub fn to_arguments(&self) -> Result<Vec<OsString>> {
        let config = self.config.iter().map(|path| ("--config", path));
        let files = self.suppressions.iter();
        let files = files.map(|path| ("--suppressions", path));
        let mut arguments = self.read()?.untold();
        arguments.extend(
            config
                .chain(files)
                .flat_map(|(name, path)| [OsString::from(name), path.into()]),
        );
        Ok(arguments)
    }

    /// What is not to be shown, by the configuration and by options.
    pub fn suppressions(&self, config: &Config) -> Result<Suppressions> {
        let mut all = Suppressions::default();
        for path in config.suppressions.iter().chain(&self.suppressions) {
            let shown = path.display();
            let text = std::fs::read_to_string(path)
                .map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
            all.read(&text)
                .map_err(|error| Error::usage(format!("{shown}, {error}")))?;
        }
        Ok(all)
    }
}
