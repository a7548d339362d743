//! A recording of ten gigabytes: it is read as a stream, within little memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::Row;
use super::tools::{Mode, Tools, run};

/// As many operations on locks, each with an access, make some ten gigabytes.
const OPERATIONS: &str = "225000000";

/// As much memory of its own a command may use.
const MOST: u64 = 1 << 30;

/// The commands that read it.
const READERS: [&[&str]; 3] = [
    &["trace", "stats"],
    &["trace", "verify"],
    &["predict", "--method", "hb"],
];

/// How long each may take.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(1200);

/// One row for each command.
pub fn rows(tools: &Tools) -> Result<Vec<Row>, String> {
    eprintln!("bench: a recording of ten gigabytes");
    let [ours, _] = tools.build("locks")?;
    let store = tools.work.join("store");
    tools.clear(&store);
    let mut record = tools.deadheat(&store);
    record
        .env("DEADHEAT_OPTIONS", "max_size=0")
        .args(Mode::Parallel.arguments())
        .args([ours.as_os_str(), OPERATIONS.as_ref()]);
    run(&mut record, LIMIT)?;
    let trace = store.join("recordings/000001/trace.dht").metadata();
    let bytes = trace.map_err(|error| error.to_string())?.len();
    let mut rows = Vec::new();
    for reader in READERS {
        let mut row = Row::new(format!(
            "a recording of {:.1} GiB, `{}`",
            bytes as f64 / (1u64 << 30) as f64,
            reader.join(" ")
        ));
        let started = Instant::now();
        let (code, most) = watched(tools.deadheat(&store).args(reader))?;
        let is_good = code == Some(0) && most <= MOST;
        row.count(is_good, code == Some(0));
        row.remark = format!(
            "{} MB of its own memory, {:.0} s",
            most >> 20,
            started.elapsed().as_secs_f64()
        );
        rows.push(row);
    }
    tools.clear(&store);
    Ok(rows)
}

/// Runs a command; its exit code, and the most memory that was its own: pages of mapped files are the system's.
fn watched(command: &mut Command) -> Result<(Option<i32>, u64), String> {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let own = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes =
            own.and_then(|own| own.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        if let Some(ended) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((ended.code(), most));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
