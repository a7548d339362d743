//! The project's configuration: `deadheat.toml`, in the folder in which the user stands or the
//! nearest one above.
//!
//! ```toml
//! suppressions = ["known-races.txt"]   # files, from the folder of deadheat.toml
//!
//! [[channel]]                          # who calls `send` hands over to who returns from `receive`
//! send = "queue_push"
//! receive = "queue_pop"
//! ```

use std::path::{Path, PathBuf};

use deadheat_report::Suppressions;
use serde::Deserialize;

use crate::error::{Error, Result};

/// The file's name.
pub const NAME: &str = "deadheat.toml";

/// What a project has set.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Files in ThreadSanitizer's syntax.
    #[serde(default)]
    pub suppressions: Vec<PathBuf>,
    /// Pairs of functions that hand something over.
    #[serde(default, rename = "channel")]
    pub channels: Vec<Channel>,
    /// The file's folder.
    #[serde(skip)]
    folder: PathBuf,
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
        match &self.config {
            Some(path) => Config::read(path),
            None => {
                let here = std::env::current_dir().unwrap_or_default();
                let mut above = here.ancestors().map(|folder| folder.join(NAME));
                match above.find(|path| path.is_file()) {
                    Some(path) => Config::read(&path),
                    None => Ok(Config::default()),
                }
            }
        }
    }

    /// The same for another of Deadheat's programs.
    pub fn to_arguments(&self) -> Vec<std::ffi::OsString> {
        let config = self.config.iter().map(|path| ("--config", path));
        let files = self.suppressions.iter();
        let files = files.map(|path| ("--suppressions", path));
        config
            .chain(files)
            .flat_map(|(name, path)| [name.into(), path.into()])
            .collect()
    }

    /// What is not to be shown, by the configuration and by options.
    pub fn suppressions(&self, config: &Config) -> Result<Suppressions> {
        let configured = config
            .suppressions
            .iter()
            .map(|path| config.folder.join(path));
        let mut all = Suppressions::default();
        for path in configured.chain(self.suppressions.iter().cloned()) {
            let shown = path.display();
            let text = std::fs::read_to_string(&path)
                .map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
            all.read(&text)
                .map_err(|error| Error::usage(format!("{shown}, {error}")))?;
        }
        Ok(all)
    }
}

impl Config {
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
        let mut config: Config = toml::from_str(&text)
            .map_err(|error| Error::usage(format!("{shown}: {}", error.to_string().trim_end())))?;
        config.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_can_be_set() {
        let text = "suppressions = ['a.txt']\n[[channel]]\nsend = 'push'\nreceive = 'pop'\n";
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(config.suppressions, [Path::new("a.txt")]);
        assert_eq!(config.channels[0].send, "push");
        assert_eq!(config.channels[0].receive, "pop");
        assert!(toml::from_str::<Config>("supressions = []").is_err());
    }
}
