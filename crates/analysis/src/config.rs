//! What a project has set that is no option of a command: files of suppressions, and channels.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

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
