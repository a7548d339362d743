//! A part of a trace: some of its events, some of its threads.

use std::ops::Range;
use std::str::FromStr;

use deadheat_trace::{EventIndex, Mode, Step, Steps, Tables, ThreadId};

/// Positions in a trace, as typed: `100..200`, `100..`, `..200`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions(pub Range<u64>);

impl FromStr for Positions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected A..B, A.. or ..B with the numbers of events";
        let (from, to) = text.split_once("..").ok_or(FORM)?;
        let number = |text: &str, default| match text {
            "" => Ok(default),
            _ => text.parse::<u64>().map_err(|_| FORM),
        };
        let (from, to) = (number(from, 0)?, number(to, u64::MAX)?);
        if from > to {
            return Err(format!("{from} is after {to}"));
        }
        Ok(Positions(from..to))
    }
}

/// A thread, as typed: `T2`, `2`, or the name it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread(String);

impl FromStr for Thread {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Thread(text.to_owned()))
    }
}

impl Thread {
    fn is(&self, id: ThreadId, tables: &Tables) -> bool {
        let number = self.0.strip_prefix('T').unwrap_or(&self.0);
        tables.thread_name(id) == self.0 || number.parse() == Ok(id.0)
    }
}

/// The steps of a trace at some positions and of some threads.
pub struct Part<S> {
    steps: S,
    positions: Range<u64>,
    threads: Vec<Thread>,
    next: u64,
}

impl<S: Steps> Part<S> {
    /// The part at these positions (all if none are given) of these threads (all if empty).
    pub fn new(steps: S, positions: Option<Positions>, threads: Vec<Thread>) -> Self {
        Part {
            steps,
            positions: positions.map_or(0..u64::MAX, |positions| positions.0),
            threads,
            next: 0,
        }
    }
}

impl<S: Steps> Steps for Part<S> {
    type Error = S::Error;

    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        while self.next < self.positions.end {
            let Some(step) = self.steps.next_step()? else {
                break;
            };
            self.next += 1;
            let tables = self.steps.tables();
            let wanted = |thread: &Thread| thread.is(step.event.thread(), tables);
            if self.next > self.positions.start
                && (self.threads.is_empty() || self.threads.iter().any(wanted))
            {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    fn last_index(&self) -> Option<EventIndex> {
        self.next.checked_sub(1).map(EventIndex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::text;

    const TRACE: &str = "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\nT0|join(T1)|4\n";

    fn places(positions: Option<&str>, threads: &[&str]) -> String {
        let trace = text::parse(TRACE).unwrap();
        let positions = positions.map(|text| text.parse().unwrap());
        let threads = threads.iter().map(|text| text.parse().unwrap()).collect();
        let mut part = Part::new(trace.stream(), positions, threads);
        let mut places = String::new();
        while let Some(step) = part.next_step().unwrap() {
            places += &part.tables().location(step.event.pc());
        }
        places
    }

    #[test]
    fn positions_and_threads_choose() {
        assert_eq!(places(None, &[]), "1234");
        assert_eq!(places(Some("1..3"), &[]), "23");
        assert_eq!(places(Some("2.."), &[]), "34");
        assert_eq!(places(Some("..1"), &[]), "1");
        assert_eq!(places(Some("7..9"), &[]), "");
        assert_eq!(places(None, &["T1"]), "3");
        assert_eq!(places(Some("1.."), &["0"]), "24");
        assert_eq!(places(None, &["T9"]), "");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "5", "a..b", "-1..2", "9..3", "1...2"] {
            assert!(text.parse::<Positions>().is_err(), "{text}");
        }
    }
}
