//! `deadheat check --scan`: the static analyser is asked as well.

use deadheat_engine::scanned::Scanned;
use deadheat_session::error::{Error, Result};

use super::Args;

impl Args {
    /// What the static analyser says, if it is asked: of the file that is named, else of the sources.
    pub(super) fn scanned(&self) -> Result<Option<Scanned>> {
        let Some(named) = &self.scan else {
            return Ok(None);
        };
        let mut args = self.config.to_arguments()?;
        match named {
            None => {
                let (sources, flags) = self.building.sources(&self.command);
                if sources.is_empty() {
                    return Err(Error::usage("there are no sources to scan, only a program").help(
                        "deadheat check --scan=compile_commands.json ./prog (or bitcode, or a source file)",
                    ));
                }
                args.extend(sources);
                args.push("--".into());
                args.extend(flags);
            }
            Some(list) if list.extension().is_some_and(|name| name == "json") => {
                args.extend(["--compile-commands".into(), list.into()]);
            }
            Some(file) => args.push(file.into()),
        }
        Scanned::of(&args).map(Some)
    }
}
