//! System calls that a program makes by itself, and that order threads or have them wait in a way that
//! is not understood. Races that they may have ordered are warnings.
//!
//! Calls by the C library's `syscall` are noticed one by one. liburing makes its own, in assembly: where it is
//! loaded, whatever is submitted may be done by the kernel at any time.

use std::path::Path;

use deadheat_report::{Finding, Kind, Rung};
use deadheat_trace::{Op, Steps, Tables};
use deadheat_wire::{MAKES_UNSEEN_CALL, UNSEEN_CALLS};

use crate::error::Result;
use crate::input;

/// What is said of a program that has liburing loaded.
const LIBURING: &str = "io_uring by liburing";

/// Whether a library is liburing.
fn is_liburing(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("liburing"))
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
            let channel = match step.event.op() {
                Op::Send | Op::Receive => steps.tables().syncs.get(step.event.sync().index()),
                _ => None,
            };
            if channel.is_some_and(|channel| channel.addr.0 == UNSEEN_CALLS as u64) {
                calls.at.push(index);
            }
            index += 1;
        }
        Ok(Some(calls))
    }

    /// The same, for findings of other runs: where they were made is not known.
    pub fn anywhere(tables: &Tables) -> Option<Self> {
        let name = |note: &String| {
            let rest = note.strip_prefix(MAKES_UNSEEN_CALL)?;
            rest.split(' ').next().map(str::to_owned)
        };
        let mut names: Vec<String> = tables.notes.iter().filter_map(name).collect();
        let has_liburing = tables
            .modules
            .iter()
            .any(|module| is_liburing(&module.path));
        names.extend(has_liburing.then(|| LIBURING.to_owned()));
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
        if self.names.iter().any(|name| name == LIBURING) {
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
    fn liburing_is_known_by_its_name() {
        assert!(is_liburing(Path::new("/usr/lib/liburing.so.2.3")));
        assert!(!is_liburing(Path::new("/usr/lib/libur.so")));
        let calls = UnseenCalls {
            names: vec![LIBURING.to_owned()],
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
