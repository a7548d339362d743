//! The options that name the configuration and files of suppressions. The file is read by
//! [`super::file`].

use std::ffi::OsString;
use std::path::PathBuf;

use deadheat_analysis::config::Config;
use deadheat_report::Suppressions;
use deadheat_session::error::{Error, Result};

use super::file::File;
use super::table::Table;

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
