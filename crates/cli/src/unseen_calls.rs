//! System calls that a program makes by itself, and that order threads or have them wait in a way that
//! is not understood. Races that they may have ordered are warnings.

use std::path::Path;

use deadheat_report::{Finding, Kind, Rung};
use deadheat_trace::{Op, Steps, Tables};
use deadheat_wire::{MAKES_UNSEEN_CALL, UNSEEN_CALLS};

use crate::error::Result;
use crate::input;

/// The calls of a recorded run.
pub struct UnseenCalls {
    names: Vec<String>,
    /// Where they were made, by the index of the event.
    at: Vec<u64>,
}

impl UnseenCalls {
    /// Those of a recording; `None` if there are none.
    pub fn of(tables: &Tables, trace: &Path) -> Result<Option<Self>> {
        let name = |note: &String| {
            let rest = note.strip_prefix(MAKES_UNSEEN_CALL)?;
            rest.split(' ').next().map(str::to_owned)
        };
        let names: Vec<String> = tables.notes.iter().filter_map(name).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let mut steps = input::open(trace)?;
        let mut at = Vec::new();
        let mut index = 0;
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(trace, &error))?
        {
            let is_call = matches!(step.event.op(), Op::Send | Op::Receive);
            if is_call && step.event.addr().0 == UNSEEN_CALLS as u64 {
                at.push(index);
            }
            index += 1;
        }
        Ok(Some(UnseenCalls { names, at }))
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
    fn what_is_submitted_may_be_done_later() {
        let calls = UnseenCalls {
            names: vec!["io_uring_enter".to_owned()],
            at: vec![4],
        };
        assert!(calls.come_between(&[9, 6]));
        assert!(!calls.come_between(&[1, 3]));
    }
}
