//! How a recording came about: written before the program starts, completed when it has ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

use crate::stdin;

/// What is known about a recording without opening its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// The version of Deadheat.
    pub deadheat: String,
    /// The program and its arguments as given.
    pub command: Vec<String>,
    /// The folder in which it ran.
    pub directory: String,
    /// The program's absolute path.
    pub program: String,
    /// The linker's build id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// When it was started, in UTC.
    pub started: String,
    /// The runtime's options.
    pub options: String,
    /// What its standard input was.
    #[serde(default)]
    pub stdin: stdin::Kind,
    /// How it ended; none if that was never known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What its trace holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Contents>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// What a trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Whether one thread ran at a time.
    pub serial: bool,
    /// The seed of its schedule.
    pub seed: u64,
    /// How many events.
    pub events: u64,
    /// How many accesses it lacks as threads do not share the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// How many threads.
    pub threads: u64,
    /// Its size on disk.
    pub bytes: u64,
    /// Whether it was closed in good order.
    pub complete: bool,
}

impl Contents {
    /// How many events the run had, recorded or not.
    pub fn executed(&self) -> u64 {
        self.events + self.left_out.unwrap_or(0)
    }

    /// How many events the run had for each that was recorded.
    pub fn weight(&self) -> u64 {
        self.executed().div_ceil(self.events.max(1))
    }
}

impl Ended {
    /// From what the system says.
    pub fn from_status(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        }
    }

    /// The code that a shell would show for it.
    pub fn shell_code(self) -> u8 {
        match self {
            Ended::Exit(code) => code as u8,
            Ended::Signal(signal) => 128 + signal as u8,
        }
    }

    /// `exited with 3`, `was killed by signal 9 (SIGKILL)`.
    pub fn told(self) -> String {
        match self {
            Ended::Exit(code) => format!("exited with {code}"),
            Ended::Signal(signal) => match signal_name(signal) {
                Some(name) => format!("was killed by signal {signal} ({name})"),
                None => format!("was killed by signal {signal}"),
            },
        }
    }

    /// `3`, `SIGKILL`.
    pub fn short(self) -> String {
        match self {
            Ended::Exit(code) => code.to_string(),
            Ended::Signal(signal) => match signal_name(signal) {
                Some(name) => name.into(),
                None => format!("signal {signal}"),
            },
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_told() {
        let ended = |raw| Ended::from_status(ExitStatus::from_raw(raw));
        assert_eq!(ended(3 << 8), Ended::Exit(3));
        assert_eq!(ended(9), Ended::Signal(9));
        assert_eq!(ended(9).told(), "was killed by signal 9 (SIGKILL)");
        assert_eq!(ended(3 << 8).told(), "exited with 3");
        assert_eq!(
            (ended(9).shell_code(), ended(3 << 8).shell_code()),
            (137, 3)
        );
        assert_eq!(ended(9).short(), "SIGKILL");
    }

    #[test]
    fn what_is_written_is_read() {
        let info = Info {
            deadheat: "0.1.0".into(),
            command: vec!["./prog".into(), "a b".into()],
            directory: "/src".into(),
            program: "/src/prog".into(),
            build_id: None,
            started: "2026-11-15T10:23:45Z".into(),
            options: "mode=serial".into(),
            stdin: stdin::Kind::Terminal,
            ended: Some(Ended::Signal(9)),
            seconds: Some(0.5),
            trace: None,
        };
        let text = serde_json::to_string(&info).unwrap();
        assert!(text.contains(r#""ended":{"signal":9}"#), "{text}");
        assert_eq!(serde_json::from_str::<Info>(&text).unwrap(), info);
        let before = text.replace(r#""stdin":"terminal","#, "");
        assert_ne!(before, text);
        let read = serde_json::from_str::<Info>(&before).unwrap();
        assert_eq!(read.stdin, stdin::Kind::Other);
    }
}
