//! Suppressions: the same files, in the same places, as for races that are found in runs.

use std::path::{Path, PathBuf};

use deadheat_report::Suppressions;
use serde::Deserialize;

use crate::Error;

/// The project's configuration, in this folder or the nearest one above.
const NAME: &str = "deadheat.toml";

/// What of the configuration is of interest here. The rest is about runs.
#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    suppressions: Vec<PathBuf>,
}

/// What is not to be shown, by the configuration (the nearest one if none is named) and these files.
pub fn suppressions(config: Option<&Path>, files: &[PathBuf]) -> Result<Suppressions, Error> {
    let here = std::env::current_dir().unwrap_or_default();
    let nearest = here.ancestors().map(|folder| folder.join(NAME));
    let config = match config {
        Some(path) => Some(path.to_owned()),
        None => nearest.into_iter().find(|path| path.is_file()),
    };
    let mut paths = Vec::new();
    if let Some(path) = config {
        let read: Config = toml::from_str(&read(&path)?)
            .map_err(|error| wrong(&path, error.to_string().trim_end()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        paths.extend(read.suppressions.iter().map(|path| folder.join(path)));
    }
    paths.extend(files.iter().cloned());
    let mut all = Suppressions::default();
    for path in paths {
        all.read(&read(&path)?)
            .map_err(|error| wrong(&path, &error.to_string()))?;
    }
    Ok(all)
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, message: &str) -> Error {
    Error::BadSetting {
        path: path.to_owned(),
        message: message.to_owned(),
    }
}
