//! One program through all stages: as it is, recorded, watched, checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::build::Built;
use super::cost::Cost;
use super::programs::{Job, Load};
use super::work::{PATIENCE, Worked, work};

/// The rungs of findings, as reports name them.
const RUNGS: [&str; 3] = ["confirmed", "witness", "observed"];

/// What is known of a program.
pub struct Row {
    /// Whether it does under Deadheat what it does without: same exit code, same result.
    pub same: bool,
    /// Events of the trace that was looked at.
    pub events: u64,
    /// What `watch` ended with.
    pub watched: String,
    /// What `check`, or `record` and `predict`, ended with.
    pub checked: String,
    /// Findings by rung.
    pub rungs: String,
    /// Seconds of the check.
    pub seconds: f64,
    /// Findings: rung and signature.
    pub findings: Vec<String>,
    /// Of Rust's tests: how many passed, of how many.
    pub tests: Option<(usize, usize)>,
    /// Events that the program executed in the run that was looked at.
    pub executed: u64,
    /// What the program costs by itself, and under `check` and `watch`.
    pub costs: [Cost; 3],
    /// What one run under ThreadSanitizer costs, and how many races it told.
    pub tsan: Option<(Cost, usize)>,
}

/// Runs it.
pub fn row(
    cache: &Path,
    deadheat: &str,
    name: &str,
    built: &Built,
    job: Job<'_>,
) -> Result<Row, String> {
    let folder = cache.join("runs").join(name);
    let _ = fs::remove_dir_all(&folder);
    let plain = work(&folder.join("plain"), &[], &built.plain, job)?;
    let record = [
        deadheat,
        "record",
        "--quiet",
        "--exit-code-from-program",
        "--",
    ];
    let recorded = work(&folder.join("record"), &record, &built.hooked, job)?;
    forget(&folder.join("record"));
    let watch = [deadheat, "watch", "--"];
    let watched = work(&folder.join("watch"), &watch, &built.hooked, job)?;
    let (checked, report) = match job.load {
        Load::Once(_) | Load::Tests(_) | Load::Fetches(_) => {
            let check = [
                deadheat,
                "check",
                "--runs",
                job.runs,
                "--format",
                "json",
                "-o",
                "report.json",
                "--",
            ];
            let folder = folder.join("check");
            (work(&folder, &check, &built.hooked, job)?, folder)
        }
        Load::Serves(..) => predicted(&folder.join("predict"), deadheat, built, job)?,
    };
    let executed = executed(&report);
    forget(&report);
    let tsan = built.tsan.as_ref();
    let tsan = tsan.map(|program| work(&folder.join("tsan"), &[], program, job));
    let tsan = tsan.transpose()?;
    let report = fs::read_to_string(report.join("report.json")).unwrap_or_default();
    let report: Value = serde_json::from_str(&report).unwrap_or_default();
    let built_below = format!("{}/", cache.join("built").display());
    let none = Vec::new();
    let findings = report["findings"].as_array().unwrap_or(&none);
    let text = |finding: &Value, field: &str| finding[field].as_str().unwrap_or("?").to_owned();
    let counts = RUNGS.iter().filter_map(|rung| {
        let count = findings.iter().filter(|one| one["rung"] == **rung).count();
        (count > 0).then(|| format!("{count} {rung}"))
    });
    let counts: Vec<String> = counts.collect();
    Ok(Row {
        same: plain.code.is_some()
            && plain.code == recorded.code
            && without_folder(&plain.result, cache, &built.plain)
                == without_folder(&recorded.result, cache, &built.hooked),
        events: report["stats"]["events"].as_u64().unwrap_or_default(),
        watched: ended(&watched),
        checked: ended(&checked),
        rungs: if counts.is_empty() {
            "none".to_owned()
        } else {
            counts.join(", ")
        },
        seconds: checked.took,
        executed,
        costs: [plain.cost, checked.cost, watched.cost],
        tsan: tsan.map(|run| (run.cost, told_by_tsan(&run.said))),
        tests: passed(&String::from_utf8_lossy(&plain.result)),
        findings: findings
            .iter()
            .map(|one| {
                format!(
                    "{} {}",
                    text(one, "rung"),
                    without_folders(&text(one, "signature"), &built_below)
                )
            })
            .collect(),
    })
}

/// How many events the first recording's program executed, as far as that is known.
fn executed(folder: &Path) -> u64 {
    let info = folder.join(".deadheat/recordings/000001/info.json");
    let info = fs::read_to_string(info).unwrap_or_default();
    let info: Value = serde_json::from_str(&info).unwrap_or_default();
    let number = |name: &str| info["trace"][name].as_u64().unwrap_or_default();
    number("events") + number("left_out")
}

/// How many different races ThreadSanitizer has told.
fn told_by_tsan(said: &str) -> usize {
    let races = said
        .lines()
        .filter(|line| line.starts_with("SUMMARY: ThreadSanitizer: data race"));
    races.collect::<BTreeSet<_>>().len()
}

/// How many of Rust's tests passed, of how many that there are, in what they print.
fn passed(printed: &str) -> Option<(usize, usize)> {
    let line = printed
        .lines()
        .find(|line| line.starts_with("test result:"))?;
    let counts = line.split(['.', ';']).map(str::trim);
    let mut counts = counts.filter_map(|count| count.split_once(' ')?.0.parse::<usize>().ok());
    let passed = counts.next()?;
    Some((passed, passed + counts.sum::<usize>()))
}

/// A signature without the folders in which this machine keeps programs, crates and the standard library.
fn without_folders(signature: &str, built_below: &str) -> String {
    let short = |word: &str| {
        let word = word.replace(built_below, "");
        for kept in ["/registry/src/", "/rustc/"] {
            let rest = word
                .split_once(kept)
                .and_then(|(_, rest)| rest.split_once('/'));
            if let Some((_, rest)) = rest {
                return rest.to_owned();
            }
        }
        word
    };
    let words: Vec<String> = signature.split(' ').map(short).collect();
    words.join(" ")
}

/// What a program printed, without the folder in which this one of its kind was built: tests name their files.
fn without_folder(printed: &[u8], cache: &Path, program: &Path) -> String {
    let printed = String::from_utf8_lossy(printed).into_owned();
    let below = cache.join("built");
    let Ok(within) = program.strip_prefix(&below) else {
        return printed;
    };
    let folder: std::path::PathBuf = within.components().take(2).collect();
    printed.replace(&*below.join(folder).to_string_lossy(), "")
}

/// Recordings are large, and not needed any more.
fn forget(folder: &Path) {
    let _ = fs::remove_dir_all(folder.join(".deadheat"));
}

/// Records a server and looks at the trace: `check` would run it again without clients.
fn predicted(
    folder: &Path,
    deadheat: &str,
    built: &Built,
    job: Job<'_>,
) -> Result<(Worked, std::path::PathBuf), String> {
    let record = [deadheat, "record", "--quiet", "--"];
    let mut worked = work(folder, &record, &built.hooked, job)?;
    let started = std::time::Instant::now();
    let status = Command::new("timeout")
        .current_dir(folder)
        .args([
            "-k",
            "5",
            PATIENCE,
            deadheat,
            "predict",
            "--format",
            "json",
            "-o",
            "report.json",
        ])
        .output()
        .map_err(|error| error.to_string())?;
    worked.code = status.status.code().filter(|code| *code != 124);
    worked.took += started.elapsed().as_secs_f64();
    Ok((worked, folder.to_owned()))
}

/// How a command of Deadheat's ended, in a cell.
fn ended(worked: &Worked) -> String {
    match worked.code {
        None => format!("stopped after {PATIENCE} s"),
        Some(code @ (0 | 5 | 66)) => code.to_string(),
        Some(code) => {
            eprintln!("bench: {}", worked.said);
            format!("**{code}**")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{passed, told_by_tsan, without_folder, without_folders};

    #[test]
    fn tests_are_counted() {
        let printed = "running 2 tests\ntest result: ok. 9 passed; 0 failed; 1 ignored; 0 measured; 19 filtered out";
        assert_eq!(passed(printed), Some((9, 29)));
        assert_eq!(passed("12\n"), None);
    }

    #[test]
    fn races_that_tsan_tells_twice_count_once() {
        let line = |line| format!("SUMMARY: ThreadSanitizer: data race a.c:{line} in f\n");
        let said = line(3) + "noise\n" + &line(4) + &line(3);
        assert_eq!(told_by_tsan(&said), 2);
        assert_eq!(told_by_tsan("SUMMARY: ThreadSanitizer: thread leak"), 0);
    }

    #[test]
    fn what_is_printed_is_compared_without_the_folders_of_builds() {
        let cache = Path::new("/c");
        let shown = |kind: &str, told: &str| {
            let program = format!("/c/built/zmq/{kind}/made/bin/t");
            let printed = format!("/c/built/zmq/{kind}/tests/t.cpp:7:{told}\n");
            without_folder(printed.as_bytes(), cache, Path::new(&program))
        };
        assert_eq!(shown("plain", "PASS"), "/tests/t.cpp:7:PASS\n");
        assert_eq!(shown("plain", "PASS"), shown("hooked", "PASS"));
        assert_ne!(shown("plain", "PASS"), shown("hooked", "FAIL"));
        let elsewhere = without_folder(b"/c/built/zmq/plain/t\n", cache, Path::new("/bin/t"));
        assert_eq!(elsewhere, "/c/built/zmq/plain/t\n");
    }

    #[test]
    fn signatures_name_no_folders_of_this_machine() {
        let signature = "f /cache/built/nginx/hooked/a.c:1 in g /home/me/.cargo/registry/src/index-1/crate-1.0.0/src/lib.rs:2 | h /rustc/1f/library/core/src/cell.rs:3";
        let short =
            "f nginx/hooked/a.c:1 in g crate-1.0.0/src/lib.rs:2 | h library/core/src/cell.rs:3";
        assert_eq!(without_folders(signature, "/cache/built/"), short);
    }
}
