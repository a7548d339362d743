//! One run of the analyser.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Cache;
use crate::explore::run;

/// So long nobody waits.
const PATIENCE: Duration = Duration::from_secs(120);

/// What it said.
pub struct Scanned {
    /// Lines of the sources that are not empty.
    pub lines: usize,
    /// Shared variables, warnings, after reduction, after contexts, deadlocks.
    pub counts: [u64; 5],
    /// Seconds of the analysis.
    pub seconds: f64,
    /// Seconds of the whole process, reading bitcode included.
    pub whole: f64,
    /// Megabytes, at most.
    pub megabytes: f64,
}

impl Scanned {
    /// Runs the analyser on what was compiled; `None` if it takes too long.
    pub fn of(
        cache: &Cache,
        within: &Path,
        arguments: &[String],
        lines: usize,
    ) -> Result<Option<Self>, String> {
        let mut command = Command::new(&cache.scan);
        command.args(["--format", "json"]).args(arguments);
        let run = run::run(command, within, PATIENCE)?;
        if run.is_cut {
            return Ok(None);
        }
        let report = run.report()?;
        let stats = &report["stats"];
        let count = |name: &str| stats[name].as_u64().ok_or(format!("no {name}: {stats}"));
        Ok(Some(Scanned {
            lines,
            counts: [
                count("shared_variables")?,
                count("warnings")?,
                count("after_reduction")?,
                count("after_contexts")?,
                count("deadlocks")?,
            ],
            seconds: stats["seconds"].as_f64().unwrap_or_default(),
            whole: run.took.as_secs_f64(),
            megabytes: run.megabytes,
        }))
    }
}

/// How many lines of files are not empty.
pub fn lines(files: &[PathBuf]) -> Result<usize, String> {
    let mut all = 0;
    for file in files {
        let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let text = String::from_utf8_lossy(&text);
        all += text.lines().filter(|line| !line.trim().is_empty()).count();
    }
    Ok(all)
}
