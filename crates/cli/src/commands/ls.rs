//! `deadheat ls`: the recordings of the project.

use std::path::Path;
use std::time::SystemTime;

use deadheat_run::store::info::{Contents, Info};
use deadheat_run::store::{Recording, Store, moment};
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::here::seen;
use deadheat_session::terminal::{Align, count, size, table};

const EXAMPLES: &str = "\
Examples:
  deadheat ls
  deadheat ls --json | jq '.[-1].command'

Recordings are kept in .deadheat in the nearest folder above that has .git, Cargo.toml,
Makefile, CMakeLists.txt or the like, or in $DEADHEAT_STORE. The last line is the latest.";

/// Lists the recordings of this project.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print everything that is known, as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Lists them.
    pub fn run(self) -> Result<Exit> {
        let store = Store::of_project()?;
        let recordings = store.recordings();
        if self.json {
            let all: Vec<_> = recordings.iter().map(as_json).collect();
            let text = serde_json::to_string_pretty(&all).expect("plain data has a JSON form");
            println!("{text}");
        } else if recordings.is_empty() {
            let folder = store.folder().display().to_string();
            anstream::eprintln!("no recordings in {}", seen(&folder));
        } else {
            let now = SystemTime::now();
            let rows: Vec<_> = recordings.iter().map(|r| row(r, now)).collect();
            anstream::print!("{}", table(&COLUMNS, &rows));
        }
        Ok(Exit::Clean)
    }
}

const COLUMNS: [(&str, Align); 8] = [
    ("#", Align::Right),
    ("when", Align::Left),
    ("mode", Align::Left),
    ("threads", Align::Right),
    ("events", Align::Right),
    ("size", Align::Right),
    ("exit", Align::Left),
    ("command", Align::Left),
];

fn row(recording: &Recording, now: SystemTime) -> Vec<String> {
    let info = recording.info();
    let info = info.as_ref();
    let trace = info.and_then(|info| info.trace);
    let unknown = || "-".to_owned();
    // A store lies in its project, recordings in a folder of the store.
    let project = recording.folder.ancestors().nth(3);
    let bytes = recording.traces().iter().map(|path| bytes(path)).sum();
    let when = info.and_then(|info| moment::read(&info.started));
    vec![
        recording.number.to_string(),
        when.map_or_else(unknown, |then| moment::ago(then, now)),
        trace.as_ref().map_or_else(unknown, mode),
        trace.map_or_else(unknown, |trace| count(trace.threads)),
        trace.map_or_else(unknown, |trace| count(trace.events)),
        size(bytes),
        info.and_then(|info| info.ended)
            .map_or_else(unknown, |ended| ended.short()),
        info.map_or_else(unknown, |info| command(info, project)),
    ]
}

fn mode(trace: &Contents) -> String {
    let mode = match trace.serial {
        true => format!("serial, seed {}", trace.seed),
        false => "parallel".to_owned(),
    };
    if trace.complete {
        mode
    } else {
        mode + ", cut short"
    }
}

/// The command as typed, without the way to its project, cut where a line would get long.
fn command(info: &Info, project: Option<&Path>) -> String {
    const LONGEST: usize = 60;
    let whole = info.command.join(" ");
    let inside = project.and_then(|project| whole.strip_prefix(&*project.to_string_lossy()));
    let shown = inside.map_or(&*whole, |inside| inside.trim_start_matches('/'));
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown.to_owned(),
    }
}

fn bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |data| data.len())
}

fn as_json(recording: &Recording) -> serde_json::Value {
    serde_json::json!({
        "number": recording.number,
        "folder": recording.folder.to_string_lossy(),
        "traces": recording.traces().iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(),
        "info": recording.info(),
    })
}
