//! The same algorithms under `deadheat explore` and under loom and shuttle, which are built from `bench/peers`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::run::run;
use crate::kernel::Place;

const ALGORITHMS: [(&str, &str); 2] = [
    (
        "queue",
        "lock-free queue: 2 producers with 2 values each, a consumer",
    ),
    (
        "buffer",
        "bounded buffer, mutex and two conditions: 3 values, 2 consumers",
    ),
];
const PEERS: [&str; 4] = ["loom", "shuttle-dfs", "shuttle-random", "shuttle-pct"];
/// How long each searches the right algorithm.
const SECONDS: &str = "5";
const PATIENCE: Duration = Duration::from_secs(60);
/// More executions than this are not tried for a bug.
const MOST: u64 = 1 << 14;

/// A search of the right algorithm, and one of the broken one.
struct Row {
    algorithm: &'static str,
    tool: String,
    executions: u64,
    seconds: f64,
    /// CPU seconds of the whole command.
    cpu: f64,
    ended: String,
    /// Executions and seconds until the bug was found.
    bug: Option<(u64, f64)>,
}

/// Measures all.
pub fn measure(place: &Place) -> Result<String, String> {
    eprintln!("bench: building loom and shuttle");
    let peers = build_peers(place)?;
    let mut rows = Vec::new();
    for (algorithm, _) in ALGORITHMS {
        for (language, extension) in [("C++", "cpp"), ("Rust", "rs")] {
            let program = build_ours(place, algorithm, extension)?;
            for manner in [None, Some("--no-snapshots")] {
                eprintln!("bench: {algorithm} in {language} {}", manner.unwrap_or(""));
                rows.push(ours(place, algorithm, language, &program, manner)?);
            }
        }
        for tool in PEERS {
            eprintln!("bench: {algorithm} under {tool}");
            rows.push(theirs(place, algorithm, &peers, tool)?);
        }
    }
    Ok(render(&rows))
}

fn sources(place: &Place) -> PathBuf {
    place.kernels.join("../peers")
}

fn succeed(mut command: Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn build_peers(place: &Place) -> Result<PathBuf, String> {
    let built = place.work.join("peers");
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--release",
            "--quiet",
            "--locked",
            "--manifest-path",
        ])
        .arg(sources(place).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&built);
    succeed(cargo)?;
    Ok(built.join("release/deadheat-peers"))
}

fn build_ours(place: &Place, algorithm: &str, extension: &str) -> Result<PathBuf, String> {
    let source = sources(place)
        .join("ours")
        .join(algorithm)
        .with_extension(extension);
    let program = place.work.join(format!("{algorithm}-{extension}"));
    let mut command = Command::new(&place.deadheat);
    match extension {
        "cpp" => command.args(["c++", "-O1", "-g", "-pthread"]),
        _ => command.args(["rustc", "-O", "-g", "-Cpanic=abort", "--edition=2024"]),
    };
    command.arg(source).arg("-o").arg(&program);
    succeed(command)?;
    Ok(program)
}

fn ours(
    place: &Place,
    algorithm: &'static str,
    language: &str,
    program: &Path,
    manner: Option<&str>,
) -> Result<Row, String> {
    let explore = |variant: &str, limits: [&str; 2]| {
        let mut command = Command::new(&place.deadheat);
        command
            .args(["explore", "--format", "json"])
            .args(limits)
            .args(manner)
            .arg("--")
            .arg(program)
            .arg(variant);
        let run = run(command, &place.work, PATIENCE)?;
        let report = match run.is_cut {
            true => serde_json::Value::Null,
            false => run.report()?,
        };
        Ok::<_, String>((report, run.cpu))
    };
    let (report, cpu) = explore("right", ["--search-time", &format!("{SECONDS}s")])?;
    let figures = &report["stats"];
    let exhausted = figures["exhausted"] == true;
    let (mut executions, mut bug) = (1, None);
    while executions <= MOST && bug.is_none() {
        let (report, _) = explore("broken", ["--executions", &executions.to_string()])?;
        let is_bug = |kind: &serde_json::Value| kind != "race" && !kind.is_null();
        let findings = report["findings"].as_array();
        let is_found = findings.is_some_and(|all| all.iter().any(|one| is_bug(&one["kind"])));
        if is_found {
            let seconds = report["stats"]["seconds"].as_f64().unwrap_or(0.0);
            bug = Some((executions, seconds));
        }
        if report.is_null() {
            break;
        }
        executions *= 2;
    }
    Ok(Row {
        algorithm,
        tool: match manner {
            None => format!("Deadheat, {language}"),
            Some(_) => format!("Deadheat, {language}, without snapshots"),
        },
        executions: figures["executions"].as_u64().unwrap_or(0),
        seconds: figures["seconds"].as_f64().unwrap_or(0.0),
        cpu,
        ended: if exhausted { "exhausted" } else { "cut" }.to_owned(),
        bug,
    })
}

fn theirs(place: &Place, algorithm: &'static str, peers: &Path, tool: &str) -> Result<Row, String> {
    let search = |variant: &str| {
        let mut command = Command::new(peers);
        command.args([tool, algorithm, variant, SECONDS]);
        let run = run(command, &place.work, PATIENCE)?;
        let printed = run.printed;
        let words: Vec<&str> = printed.split_whitespace().collect();
        match words[..] {
            [executions, seconds, outcome] => {
                let wrong = || format!("{tool} printed {printed:?}");
                let executions: u64 = executions.parse().map_err(|_| wrong())?;
                let seconds: f64 = seconds.parse().map_err(|_| wrong())?;
                Ok((executions, seconds, outcome.to_owned(), run.cpu))
            }
            _ => Err(format!("{tool} printed {printed:?}")),
        }
    };
    let (executions, seconds, ended, cpu) = search("right")?;
    let (until, took, outcome, _) = search("broken")?;
    Ok(Row {
        algorithm,
        tool: tool.to_owned(),
        executions,
        seconds,
        cpu,
        ended,
        bug: (outcome == "found").then_some((until, took)),
    })
}

fn render(rows: &[Row]) -> String {
    let mut text = format!(
        "### Systematic testing beside loom and shuttle\n\nThe algorithms of `bench/peers`: each right, searched for {SECONDS} s at most, and with a bug that \
         an interleaving shows (two producers claim one place; a wake-up that is lost), searched until it is found. Loom 0.7 and shuttle 0.8 run a closure of Rust with their own types again and again in one process; \
         Deadheat runs the program itself with the types of the standard library, a copy of the process for each execution. Loom also explores weak memory; Deadheat and shuttle explore interleavings only. Loom and Deadheat leave out orders that cannot be \
         told apart, shuttle's depth-first search does not, and its random and PCT (depth 3) schedulers never exhaust anything. Deadheat also looks for data races, at every access; it goes on after the first error, so that \
         executions until the bug are an upper bound, a power of two, and the time is that of a search with this many. Executions differ in what they are: rates compare engines, \
         executions until the end compare reductions. CPU seconds are those of the whole command with all \
         copies: the machine had other work, too.\n\n\
         | algorithm | tool | executions | per second | per CPU second | search | executions to the bug | time to the bug |\n|---|---|---|---|---|---|---|---|\n"
    );
    for row in rows {
        let (until, took) = match row.bug {
            Some((executions, seconds)) => (executions.to_string(), format!("{seconds:.3} s")),
            None => ("not found".to_owned(), "-".to_owned()),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} | **{:.0}** | {} | {until} | {took} |",
            row.algorithm,
            row.tool,
            row.executions,
            row.executions as f64 / row.seconds.max(1e-6),
            row.executions as f64 / row.cpu.max(1e-6),
            row.ended,
        );
    }
    for (name, what) in ALGORITHMS {
        let _ = write!(text, "\n{name}: {what}.");
    }
    text.push('\n');
    text
}
