//! What a run costs: processor time, and the memory of the tool and of the program.
//!
//! Memory is looked at while it runs: the kernel keeps each process's peak until that ends. A process that
//! lives for less than a look may not be seen.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::measure::children;

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds of all processes.
    pub cpu: f64,
    /// The most memory of a process of Deadheat's, in MB.
    pub tool: f64,
    /// The most of another one.
    pub program: f64,
}

/// Looks at everything below this process until it is told to end.
pub struct Look {
    before: f64,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<(u64, u64)>,
}

impl Look {
    /// Begins.
    pub fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = is_over.clone();
        let thread = std::thread::spawn(move || {
            let mut peaks = (0, 0);
            while !told.load(Ordering::Relaxed) {
                look(&mut peaks);
                std::thread::sleep(Duration::from_millis(25));
            }
            peaks
        });
        Look {
            before: children(),
            is_over,
            thread,
        }
    }

    /// Ends, when everything was waited for.
    pub fn end(self) -> Cost {
        self.is_over.store(true, Ordering::Relaxed);
        let (tool, program) = self.thread.join().unwrap_or_default();
        Cost {
            cpu: children() - self.before,
            tool: tool as f64 * 1024.0 / 1e6,
            program: program as f64 * 1024.0 / 1e6,
        }
    }
}

/// What only starts others.
const STARTERS: [&str; 5] = ["timeout", "env", "prlimit", "bash", "sh"];

/// Adds the peaks of all processes below this one, in KiB.
fn look((tool, program): &mut (u64, u64)) {
    let mut parents = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in entries {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|it| it.parse::<u32>().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((number, parent)) = number.zip(parent(&stat)) {
            parents.insert(number, parent);
        }
    }
    let own = std::process::id();
    let is_below = |process: &u32| {
        let mut at = *process;
        while let Some(parent) = parents.get(&at) {
            if *parent == own {
                return true;
            }
            at = *parent;
        }
        false
    };
    for process in parents.keys().filter(|process| is_below(process)) {
        let exe = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let name = exe.file_name().unwrap_or_default().to_string_lossy();
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = peak(&status).unwrap_or_default();
        match &*name {
            "deadheat" => *tool = peak.max(*tool),
            starter if STARTERS.contains(&starter) => {}
            _ => *program = peak.max(*program),
        }
    }
}

/// The parent in `/proc/PID/stat`: the second word behind the name, which may be anything.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// The peak in `/proc/PID/status`.
fn peak(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{look, parent, peak};

    #[test]
    fn processes_are_read() {
        assert_eq!(parent("7 (a) b) S 41 7 7 0"), Some(41));
        assert_eq!(peak("Name:\tx\nVmHWM:\t  1234 kB\n"), Some(1234));
        assert_eq!(peak("Name:\tx\n"), None);
    }

    #[test]
    fn what_runs_below_is_seen() {
        // It keeps 30 MB until its input ends.
        let mut child = Command::new("perl")
            .args(["-e", "$x = 'a' x 30000000; <STDIN>; print length $x"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let status = format!("/proc/{}/status", child.id());
        while peak(&std::fs::read_to_string(&status).unwrap()).unwrap_or(0) < 30_000 {
            std::thread::yield_now();
        }
        let mut peaks = (0, 0);
        look(&mut peaks);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(peaks.1 > 30_000, "{peaks:?}");
    }
}
