//! Damaged input for every reader: bytes of good files are changed, left out, repeated; nothing may crash or panic.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Row;
use super::tools::{Mode, Numbers, Tools, is_documented, run_usual};

/// How many files of each kind for each run that is asked for.
const EACH: u64 = 100;

/// A kind of file: its name, a good one, and the arguments of the command that reads it, in which `@` is the file.
struct Kind {
    what: &'static str,
    good: Vec<u8>,
    name: &'static str,
    reads: &'static [&'static [&'static str]],
}

/// Every kind of file.
pub fn rows(tools: &Tools, runs: usize) -> Result<Vec<Row>, String> {
    let [ours, _] = tools.build("threads")?;
    let store = tools.work.join("store");
    tools.clear(&store);
    let mut record = tools.deadheat(&store);
    record
        .args(Mode::Serial.arguments())
        .arg(&ours)
        .args(["4", "2"]);
    run_usual(&mut record)?;
    let trace = store.join("recordings/000001/trace.dht");
    let text = |to: &str| -> Result<Vec<u8>, String> {
        let mut convert = tools.deadheat(&store);
        convert.args(["trace", "convert", "--to", to]).arg(&trace);
        Ok(run_usual(&mut convert)?.stdout)
    };
    let report = run_usual(
        tools
            .deadheat(&store)
            .args(["predict", "--format", "json", "--method", "all"])
            .arg(&trace),
    )?;
    let kinds = [
        Kind {
            what: "recordings",
            good: std::fs::read(&trace).map_err(|error| error.to_string())?,
            name: "bad.dht",
            reads: &[
                &["trace", "verify", "@"],
                &["predict", "@"],
                &["trace", "convert", "--to", "text", "@"],
            ],
        },
        Kind {
            what: "text traces",
            good: text("text")?,
            name: "bad.txt",
            reads: &[&["trace", "stats", "@"], &["predict", "@"]],
        },
        Kind {
            what: "STD traces",
            good: text("std")?,
            name: "bad.std",
            reads: &[&["predict", "--method", "hb", "@"]],
        },
        Kind {
            what: "reports",
            good: report.stdout,
            name: "bad.json",
            reads: &[&["report", "@"]],
        },
        Kind {
            what: "suppressions",
            good: b"# known\nrace:^look_up$\ndeadlock:order.c\nrace_top:*::push\ncalled_from_lib:libz.so\n".to_vec(),
            name: "bad.supp",
            reads: &[&["predict", "--suppressions", "@", "000001"]],
        },
        Kind {
            what: "configurations",
            good: b"suppressions = []\n\n[[channel]]\nsend = \"put\"\nreceive = \"take\"\n\n[check]\nruns = 3\n".to_vec(),
            name: "bad.toml",
            reads: &[&["predict", "--config", "@", "000001"]],
        },
    ];
    let mut numbers = Numbers::new(11);
    let mut rows = Vec::new();
    for kind in kinds {
        eprintln!("bench: damaged {}", kind.what);
        let mut row = Row::new(format!("damaged {}", kind.what));
        let path = tools.work.join(kind.name);
        for _ in 0..EACH * runs as u64 {
            std::fs::write(&path, damaged(&kind.good, &mut numbers))
                .map_err(|error| error.to_string())?;
            for arguments in kind.reads {
                let output = run_usual(&mut reading(tools, &store, arguments, &path))?;
                let is_good = is_documented(&output);
                if !is_good {
                    keep(&path, row.tried);
                }
                row.count(is_good, true);
            }
        }
        rows.push(row);
    }
    tools.clear(&store);
    Ok(rows)
}

fn reading(tools: &Tools, store: &Path, arguments: &[&str], file: &Path) -> Command {
    let mut command = tools.deadheat(store);
    for argument in arguments {
        match *argument {
            "@" => command.arg(file),
            other => command.arg(other),
        };
    }
    command
}

/// Keeps a file that something did not survive, for a look at it.
fn keep(file: &Path, number: u64) {
    let kept = PathBuf::from(format!("{}.{number}", file.display()));
    if std::fs::copy(file, &kept).is_ok() {
        eprintln!("bench: not survived: {}", kept.display());
    }
}

/// A good file with some damage.
fn damaged(good: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() as u64) as usize;
        let length = numbers.below(64).min((bytes.len() - at) as u64) as usize;
        match numbers.below(6) {
            0 if !bytes.is_empty() => bytes[at] = numbers.below(256) as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let again = bytes[at..at + length].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let noise: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
                bytes.splice(at..at, noise);
            }
        }
    }
    bytes
}
