//! Runs Deadheat's commands with a limit, and reads what they say.

use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a command went.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// The command, as one would type it.
    pub command: String,
    /// Its exit code, if it had one.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Ran {
    /// Both outputs, for people.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command in a folder, with files there for its output, and ends it and all that it has started when
/// the time is up.
///
/// # Errors
///
/// If it cannot be started, or its output not be read.
///
/// # Example
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let mut command = std::process::Command::new("echo");
/// let ran = deadheat_fuzz::tool::run(command.arg("hello"), folder.path(),
/// std::time::Duration::from_secs(10))?;
/// assert_eq!(ran.stdout, "hello\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> io::Result<Ran> {
    let (out, err) = (folder.join("stdout.txt"), folder.join("stderr.txt"));
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0);
    let mut ran = Ran {
        command: describe(command),
        ..Ran::default()
    };
    let mut child = command.spawn()?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > limit {
            ran.timed_out = true;
            end_group(child.id());
            let _ = child.kill();
            break child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(
            if begin.elapsed().as_millis() < 200 {
                1
            } else {
                10
            },
        ));
    };
    ran.took = begin.elapsed();
    // What it left behind must not disturb the next one.
    end_group(child.id());
    ran.code = status.code();
    ran.signal = status.signal();
    ran.stdout = String::from_utf8_lossy(&fs::read(&out)?).into_owned();
    ran.stderr = String::from_utf8_lossy(&fs::read(&err)?).into_owned();
    Ok(ran)
}

fn describe(command: &Command) -> String {
    let mut text = String::from("deadheat");
    let name = Path::new(command.get_program())
        .file_name()
        .map(|n| n.to_string_lossy().into_owned());
    if let Some(name) = name {
        text = name;
    }
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// Ends every process of a group that was made by [`run`].
fn end_group(leader: u32) {
    let group = format!("-{leader}");
    let _ = Command::new("kill")
        .args(["-9", "--", &group])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was reported.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// A finding of a report.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// Its name.
    pub id: String,
    /// `race`, `deadlock`, `failure`.
    pub kind: String,
    /// `warning`, `observed`, `witness`, `confirmed`.
    pub rung: String,
    /// The stacks of its sides, from the inside out.
    pub sides: Vec<Vec<Place>>,
    /// What the program printed when it was run into it.
    pub endings: Vec<String>,
    /// Whether it can be replayed.
    pub replay: bool,
}

impl Finding {
    /// For each side the innermost line in this file; 0 where there is none.
    #[must_use]
    pub fn lines(&self, file: &str) -> Vec<u32> {
        let of = |stack: &Vec<Place>| {
            stack
                .iter()
                .find(|p| Path::new(&p.file).file_name().is_some_and(|n| n == file))
                .map_or(0, |p| p.line)
        };
        self.sides.iter().map(of).collect()
    }
}

/// A report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was found.
    pub findings: Vec<Finding>,
    /// Figures of the command.
    pub stats: Value,
}

fn place(value: &Value) -> Option<Place> {
    let line = u32::try_from(value.get("line")?.as_u64()?).ok()?;
    let file = value.get("file")?.as_str()?.to_owned();
    Some(Place { file, line })
}

fn finding(value: &Value) -> Finding {
    let text = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let list = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let side = |access: &Value| {
        let mut places: Vec<Place> = place(access).into_iter().collect();
        places.extend(list(access, "stack").iter().filter_map(place));
        places
    };
    let endings = value
        .get("consequence")
        .map(|c| list(c, "endings"))
        .unwrap_or_default();
    Finding {
        id: text("id"),
        kind: text("kind"),
        rung: text("rung"),
        sides: list(value, "accesses").iter().map(side).collect(),
        endings: endings
            .iter()
            .filter_map(|e| e.get("stdout")?.as_str().map(str::to_owned))
            .collect(),
        replay: value.get("replay").is_some(),
    }
}

impl Report {
    /// Reads a report in JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Report> {
        let value: Value = serde_json::from_str(text).ok()?;
        let findings = value
            .get("findings")?
            .as_array()?
            .iter()
            .map(finding)
            .collect();
        Some(Report {
            findings,
            stats: value.get("stats").cloned().unwrap_or_default(),
        })
    }
}

/// The command under test.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Where it is.
    pub deadheat: PathBuf,
    /// How long a command may take.
    pub limit: Duration,
}

impl Tool {
    /// The program that was named, or that `DEADHEAT` names, or that stands beside this one.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn find(named: Option<PathBuf>) -> Result<Tool, String> {
        let beside = || {
            std::env::current_exe()
                .ok()
                .and_then(|exe| Some(exe.parent()?.join("deadheat")))
        };
        let deadheat = named
            .or_else(|| std::env::var_os("DEADHEAT").map(PathBuf::from))
            .or_else(beside)
            .ok_or("no deadheat: give --deadheat PATH")?;
        let deadheat =
            fs::canonicalize(&deadheat).map_err(|e| format!("{}: {e}", deadheat.display()))?;
        Ok(Tool {
            deadheat,
            limit: Duration::from_secs(60),
        })
    }

    /// Runs a command of Deadheat that leaves a report in `name`.json of the folder.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn report(
        &self,
        folder: &Path,
        name: &str,
        arguments: &[&str],
        rest: &[&str],
    ) -> io::Result<(Ran, Option<Report>)> {
        let file = folder.join(format!("{name}.json"));
        let _ = fs::remove_file(&file);
        let mut command = Command::new(&self.deadheat);
        command
            .args(arguments)
            .args(["--format", "json", "-o"])
            .arg(format!("{name}.json"))
            .args(rest);
        let ran = run(&mut command, folder, self.limit)?;
        let report = fs::read_to_string(&file)
            .ok()
            .and_then(|text| Report::parse(&text));
        Ok((ran, report))
    }

    /// Runs any command of Deadheat.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn plain(&self, folder: &Path, arguments: &[&str]) -> io::Result<Ran> {
        run(
            Command::new(&self.deadheat).args(arguments),
            folder,
            self.limit,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; sleep 100"]);
        let ran = run(&mut command, folder.path(), Duration::from_millis(300)).expect("it starts");
        assert!(ran.timed_out);
        assert_eq!(ran.stdout, "begun\n");
    }

    #[test]
    fn sides_are_found_by_their_file() {
        let text = r#"{"findings": [{"id": "1", "kind": "race", "rung": "witness", "accesses": [
            {"file": "/usr/include/atomic", "line": 4, "stack": [{"file": "/usr/include/atomic", "line": 4}, {"file": "a.cpp", "line": 9}]},
            {"file": "a.cpp", "line": 3}, {}]}]}"#;
        let report = Report::parse(text).expect("a report");
        assert_eq!(report.findings[0].lines("a.cpp"), [9, 3, 0]);
        assert!(Report::parse("nothing").is_none());
    }
}
