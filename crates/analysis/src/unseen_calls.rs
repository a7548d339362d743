//! System calls that a program makes by itself, and that order threads or have them wait in a way that
//! is not understood. Races that they may have ordered are warnings.
//!
//! Calls by the C library's `syscall` are noticed one by one. Some libraries make their own, in assembly: where
//! liburing is loaded, whatever is submitted may be done by the kernel at any time, and the runtimes of OpenMP keep
//! threads apart by futexes and their own atomics.

use std::path::Path;

use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_trace::{EventIndex, Op, Step, Steps, Tables};
use deadheat_wire::{MAKES_UNSEEN_CALL, UNSEEN_CALLS};

/// Libraries that order threads unseen, by the beginnings of their names, and what is said of programs that have one.
const LIBRARIES: [(&str, &str); 4] = [
    ("liburing", "io_uring by liburing"),
    ("libgomp.", "OpenMP by libgomp"),
    ("libomp.", "OpenMP by libomp"),
    ("libiomp5.", "OpenMP by libiomp5"),
];

/// What is said of a program that has this library, if it orders threads unseen.
fn of_library(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let mut known = LIBRARIES.iter();
    known.find_map(|(beginning, told)| name.starts_with(beginning).then_some(*told))
}

/// The calls of a recorded run.
pub struct UnseenCalls {
    names: Vec<String>,
    /// Where they were made, by the index of the event.
    at: Vec<u64>,
}

impl UnseenCalls {
    /// Those of a recording; `None` if there are none.
    pub fn of(tables: &Tables, trace: &Path) -> Result<Option<Self>> {
        let Some(mut calls) = UnseenCalls::anywhere(tables) else {
            return Ok(None);
        };
        let mut steps = input::open(trace)?;
        let mut index = 0;
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(trace, &error))?
        {
            calls.step(EventIndex(index), &step, steps.tables());
            index += 1;
        }
        Ok(Some(calls))
    }

    /// The next step of the recording.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables) {
        let channel = match step.event.op() {
            Op::Send | Op::Receive => tables.syncs.get(step.event.sync().index()),
            _ => None,
        };
        if channel.is_some_and(|channel| channel.addr.0 == UNSEEN_CALLS as u64) {
            self.at.push(index.0);
        }
    }

    /// The same, for findings of other runs: where they were made is not known.
    pub fn anywhere(tables: &Tables) -> Option<Self> {
        let name = |note: &String| {
            let rest = note.strip_prefix(MAKES_UNSEEN_CALL)?;
            rest.split(' ').next().map(str::to_owned)
        };
        let mut names: Vec<String> = tables.notes.iter().filter_map(name).collect();
        let modules = tables.modules.iter();
        let of_libraries = modules.filter_map(|module| of_library(&module.path));
        names.extend(of_libraries.map(str::to_owned));
        (!names.is_empty()).then(|| UnseenCalls {
            names,
            at: Vec::new(),
        })
    }

    /// Takes back the races that they may have ordered: those between whose accesses there is such
    /// a call of any thread. What is submitted to an `io_uring` may be done at any later time. If
    /// the accesses are those of another run (`of_others`), it may be any race.
    pub fn take_back(&self, findings: &mut [Finding], of_others: bool) {
        for finding in findings {
            let is_race = finding.kind == Kind::Race && finding.rung > Rung::Warning;
            if is_race && (of_others || self.may_order(finding)) {
                finding.rung = Rung::Warning;
                let calls = self.names.join(", ");
                finding.reasons.push(format!(
                    "system calls that the program makes by itself ({calls}) may order the accesses unseen"
                ));
            }
        }
    }

    fn may_order(&self, finding: &Finding) -> bool {
        let accesses = finding.accesses.iter();
        let indexes: Option<Vec<u64>> = accesses.map(|access| access.index).collect();
        indexes.is_none_or(|indexes| self.come_between(&indexes))
    }

    fn come_between(&self, indexes: &[u64]) -> bool {
        let is_of_library = |name: &String| LIBRARIES.iter().any(|(_, told)| told == name);
        if self.names.iter().any(is_of_library) {
            return true;
        }
        let lasts = self.names.iter().any(|name| name.starts_with("io_uring"));
        let first = match lasts {
            true => 0,
            false => indexes.iter().min().copied().unwrap_or(0),
        };
        let last = indexes.iter().max().copied().unwrap_or(u64::MAX);
        self.at.iter().any(|at| (first..last).contains(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_between_the_accesses_may_order_them() {
        let calls = |name: &str| UnseenCalls {
            names: vec![name.to_owned()],
            at: vec![4, 5],
        };
        assert!(calls("flock").come_between(&[1, 9]));
        assert!(!calls("flock").come_between(&[6, 9]));
        assert!(!calls("flock").come_between(&[1, 3]));
    }

    #[test]
    fn libraries_are_known_by_their_names() {
        let of = |path: &str| of_library(Path::new(path));
        assert_eq!(of("/usr/lib/liburing.so.2.3"), Some(LIBRARIES[0].1));
        assert_eq!(of("/usr/lib/libgomp.so.1"), Some(LIBRARIES[1].1));
        assert_eq!(of("/usr/lib/libompi.so"), None);
        assert_eq!(of("/usr/lib/libur.so"), None);
        let calls = UnseenCalls {
            names: vec![LIBRARIES[0].1.to_owned()],
            at: Vec::new(),
        };
        assert!(calls.come_between(&[1, 3]));
    }

    #[test]
    fn what_is_submitted_may_be_done_later() {
        let calls = UnseenCalls {
            names: vec!["io_uring_enter".to_owned()],
            at: vec![4],
        };
        assert!(calls.come_between(&[9, 6]));
        assert!(!calls.come_between(&[1, 3]));
    }
}
