//! A run that dies: a crash, an abort, a failed assertion, a panic that ends the program; or that
//! would never end.
//!
//! The run's own recording is the witness: it is enforced from beginning to end, and the program has
//! to end in the same way. Where a program says itself where it failed, as Rust's panics do, that is
//! the place; else it is where it ended itself, or the last thing that its own code did. Of a run
//! that would never end it is the last thing that each thread did.

use std::path::Path;

use deadheat_analysis::witness::{self, Witness};
use deadheat_explore::After;
use deadheat_report::{Access, Finding, Frame, Kind, Rung};
use deadheat_run::store::info::Ended;
use deadheat_session::error::Result;

use crate::confirm::fine::Output;
use crate::confirm::{self, Case};
use crate::explore::evidence::{Seen, explained};

/// The exit code of a Rust program that a panic has ended.
const PANICKED: i32 = 101;

/// What Deadheat calls the way in which a recorded run itself shows that it dies.
pub const METHOD: &str = "recorded";

/// A panic that a program has reported on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The name of the thread.
    pub thread: String,
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    message: String,
}

impl Panic {
    /// The panic that ended a program, by what it said: the last one, unless that only passes on
    /// another thread's.
    pub fn of(stderr: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stderr);
        let lines: Vec<&str> = text.lines().collect();
        let found = lines.iter().enumerate().filter_map(|(number, line)| {
            let message = lines.get(number + 1).copied().unwrap_or_default();
            Panic::parse(line, message)
        });
        let mut all: Vec<Panic> = found.collect();
        let last = all.pop()?;
        match all.pop() {
            Some(before) if last.passes_on() => Some(before),
            _ => Some(last),
        }
    }

    /// `thread 'main' (12) panicked at src/main.rs:7:9:`
    fn parse(line: &str, message: &str) -> Option<Self> {
        let (thread, place) = line.split_once(" panicked at ")?;
        let thread = thread.strip_prefix("thread '")?.rsplit_once('\'')?.0;
        let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some(Panic {
            thread: thread.to_owned(),
            file: parts.next()?.to_owned(),
            line,
            column,
            message: message.to_owned(),
        })
    }

    /// Whether it is about a thread that has panicked.
    fn passes_on(&self) -> bool {
        self.message.ends_with("Any { .. }") || self.message == "a scoped thread panicked"
    }

    /// `file:line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }

    /// The side of a finding that is this panic. What the thread held when it panicked is not known.
    fn access(&self, mut last: Access) -> Access {
        let place = Frame {
            function: None,
            file: Some(self.file.clone()),
            line: Some(self.line),
            column: Some(self.column),
            ..Frame::default()
        };
        if self.thread != "main" && last.thread.number == 0 {
            last.thread.name.clone_from(&self.thread);
        }
        Access {
            op: "panic".to_owned(),
            size: 0,
            address: 0,
            stack: vec![place.clone()],
            place,
            folded: false,
            locks: Vec::new(),
            ..last
        }
    }
}

/// Whether a recorded run that ended so may be a failure of the program. An exit code alone is the
/// program's own business; that of a panic has to come with one.
pub fn may_be(ended: Ended) -> bool {
    match ended {
        Ended::Exit(code) => code == PANICKED,
        // Who sends these is somebody outside.
        Ended::Signal(signal) => {
            ![libc::SIGINT, libc::SIGTERM, libc::SIGKILL, libc::SIGHUP].contains(&signal)
        }
    }
}

/// The failure that a recorded run has ended in, enforced. `None` if it is none after all.
pub fn of_run(trace: &Path, ended: Ended) -> Result<Option<Finding>> {
    let seen = Seen::read(trace)?;
    let Some(found) = dies(&seen, trace, Some(ended), METHOD)? else {
        return Ok(None);
    };
    let is_panic = found.accesses.iter().any(|access| access.op == "panic");
    Ok((is_panic || matches!(ended, Ended::Signal(_))).then_some(found))
}

/// The failure of a recorded run that was stopped because it would never end: enforced, if that is
/// wanted.
pub fn of_hang(trace: &Path, is_enforced: bool) -> Result<Option<Finding>> {
    let seen = Seen::read(trace)?;
    match is_enforced {
        true => dies(&seen, trace, None, METHOD),
        false => hangs(&seen, trace, METHOD),
    }
}

/// What each thread that has not ended did last, as a finding.
fn hangs(seen: &Seen, trace: &Path, method: &str) -> Result<Option<Finding>> {
    /// More threads are not told.
    const MOST: usize = 16;
    let mut accesses = Vec::new();
    for last in seen.last_of_each().into_iter().take(MOST) {
        let found = explained(trace, [last, last], |explain, [last, _]| {
            explain.failure(last, Rung::Observed, method)
        })?;
        accesses.extend(found.into_iter().flat_map(|finding| finding.accesses));
    }
    let is_any = !accesses.is_empty();
    Ok(is_any.then(|| Finding::new(Kind::Failure, Rung::Observed, method, accesses)))
}

/// The failure at the end of a recorded run that ends so, or (`None`) never does.
pub fn dies(
    seen: &Seen,
    trace: &Path,
    ended: Option<Ended>,
    method: &str,
) -> Result<Option<Finding>> {
    let found = match (ended, seen.place_of_death()) {
        (None, _) => hangs(seen, trace, method)?,
        (_, None) => None,
        (_, Some(last)) => explained(trace, [last, last], |explain, [last, _]| {
            explain.failure(last, Rung::Observed, method)
        })?,
    };
    let Some(mut finding) = found else {
        return Ok(None);
    };
    let ends = |finding: &Finding| {
        let mut witness = match ended {
            Some(_) => seen.witness_of_all(finding),
            None => seen.witness_of_beginning(finding),
        };
        witness.ends = ended;
        witness
    };
    if let Some(panic) = panic_of(ends(&finding)) {
        let last = finding.accesses.remove(0);
        let accesses = vec![panic.access(last)];
        finding = Finding::new(Kind::Failure, Rung::Observed, method, accesses);
    }
    let path = trace.with_file_name(witness::file_name(&finding.id));
    match Case::new(ends(&finding)) {
        Ok(case) => confirm::settle(&mut finding, case, &path)?,
        Err(error) => finding.not_enforced = Some(error.what().to_owned()),
    }
    Ok(Some(finding))
}

/// The panic that the run of a witness reports, if it can be run again.
fn panic_of(witness: Witness) -> Option<Panic> {
    witness.ends?;
    let run = Case::new(witness).and_then(|case| case.enforce(After::Go, 0, Output::Captured));
    Panic::of(&run.ok()?.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_known_by_what_it_says() {
        let said = b"\nthread 'main' (77) panicked at src/a b.rs:12:5:\nfirst bug\nnote: run\n";
        let panic = Panic::of(said).unwrap();
        assert_eq!(
            (panic.place().as_str(), panic.thread.as_str()),
            ("src/a b.rs:12:5", "main")
        );
        assert_eq!(
            Panic::of(b"thread 'w' panicked at x.rs:1:2:\n")
                .unwrap()
                .thread,
            "w"
        );
        assert_eq!(Panic::of(b"I panicked at noon\n"), None);
        assert_eq!(Panic::of(b""), None);
    }

    #[test]
    fn a_panic_that_passes_on_another_is_not_the_place() {
        let said = b"thread '<unnamed>' (3) panicked at x.rs:3:4:\nindex out of bounds\n\
            thread 'main' (2) panicked at x.rs:9:1:\n\
            called `Result::unwrap()` on an `Err` value: Any { .. }\n";
        assert_eq!(Panic::of(said).unwrap().place(), "x.rs:3:4");
    }

    #[test]
    fn who_sends_a_signal_from_outside_has_shown_no_failure() {
        assert!(may_be(Ended::Signal(libc::SIGSEGV)));
        assert!(!may_be(Ended::Signal(libc::SIGTERM)));
        assert!(!may_be(Ended::Exit(1)));
    }
}
