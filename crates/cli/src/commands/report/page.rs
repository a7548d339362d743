//! The page: findings with the source text that they speak of, and the recording in plots.

use std::path::{Path, PathBuf};

use deadheat_report::{Finding, Overview, html};
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Watched;
use deadheat_session::terminal::say;

use super::inputs::Input;

/// Larger source files are not looked into.
const LARGEST_SOURCE: u64 = 8 << 20;

/// Writes the page, and says where it is.
pub fn write(path: &Path, inputs: &[Input], findings: &[Finding]) -> Result<()> {
    let overview = overview(inputs);
    let folders = folders(inputs);
    let source = |file: &str| read_source(&folders, file);
    let commands: Vec<String> = inputs.iter().filter_map(command).collect();
    let page = html::page(&html::Contents {
        findings,
        overview: overview.as_ref(),
        about: &commands.join(", "),
        version: env!("CARGO_PKG_VERSION"),
        source: &source,
    });
    let shown = path.display();
    std::fs::write(path, page)
        .map_err(|error| Error::usage(format!("cannot write {shown}: {error}")))?;
    say(format_args!("the page is {shown}: open it in a browser"));
    Ok(())
}

/// The trace in a few figures, if there is one recording and its trace can be read.
fn overview(inputs: &[Input]) -> Option<Overview> {
    let [
        Input {
            recording: Some(recording),
            ..
        },
    ] = inputs
    else {
        return None;
    };
    let trace = recording.traces().into_iter().next()?;
    let found = input::open(&trace).and_then(|input| {
        let mut steps = Watched::new(input, "counting");
        Overview::of(&mut steps).map_err(|error| input::broken(&trace, &error))
    });
    found
        .inspect_err(|error| {
            let what = error.what();
            say(format_args!("note: the run in figures is left out: {what}"));
        })
        .ok()
}

/// Where the files of findings may lie: their paths are as seen from where they were looked for.
fn folders(inputs: &[Input]) -> Vec<PathBuf> {
    let recordings = inputs.iter().filter_map(|input| input.recording.as_ref());
    let infos = recordings.filter_map(|recording| recording.info());
    let ran = infos.map(|info| PathBuf::from(info.directory));
    [PathBuf::new()].into_iter().chain(ran).collect()
}

fn read_source(folders: &[PathBuf], file: &str) -> Option<String> {
    let mut paths = folders.iter().map(|folder| folder.join(file));
    let path = paths.find(|path| path.is_file())?;
    let is_small = path
        .metadata()
        .is_ok_and(|data| data.len() <= LARGEST_SOURCE);
    let bytes = is_small.then(|| std::fs::read(path).ok())??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The command that was recorded.
fn command(input: &Input) -> Option<String> {
    let info = input.recording.as_ref()?.info()?;
    Some(info.command.join(" "))
}
