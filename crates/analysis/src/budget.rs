//! How much `check` may do in all, beyond the recorded run itself; and `predict`.
//!
//! Work is counted, not timed, so the same trace and options give the same findings however busy the
//! machine is. A unit is what [`deadheat_predict::Effort`] counts; reading a trace and running the program
//! again are charged by the length of the trace, before they begin. A stage that cannot pay for its next
//! step leaves it out, and that is reported.

use std::cell::Cell;
use std::time::Duration;

use deadheat_predict::Effort;

/// What `check` may do if the user does not say: work of about so long.
const DEFAULT: Duration = Duration::from_secs(60);

/// Starting the program again, whatever it does then.
const START: u64 = 300_000;
/// Reading an event of a trace.
const READ: u64 = 2;
/// Running the program by one event.
const RUN: u64 = 4;
/// Copying a program that stands at its beginning, and ending the copy.
const COPY: u64 = 60_000;

/// A run that had to be ended by the clock.
const HUNG: u64 = 100_000_000;

/// Traces with more events are long: a run takes long enough that what was found is reported at once, and
/// only what confirms a finding is run before all findings had their turn.
pub const LONG: u64 = 1_000_000;

/// How much may be done in all: a time that stands for counted work, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total(Option<Duration>);

impl Default for Total {
    fn default() -> Self {
        Total(Some(DEFAULT))
    }
}

impl Total {
    /// For a command that does nothing but predict: work of about ten minutes.
    pub const PREDICTING: Total = Total(Some(Duration::from_secs(600)));
}

impl Total {
    /// `60s`, `10m`, `none`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Total(None)),
            _ => time(text)
                .map(|time| Total(Some(time)))
                .map_err(|_| "a time such as 500ms, 60s or 10m, or none".to_owned()),
        }
    }

    /// All of it, as counted work.
    pub fn effort(self) -> Effort {
        self.0.map_or(Effort::ALL, Effort::about)
    }

    /// What a stage may do: each has a part of its own, so that none leaves the others without anything.
    pub fn part(self, of: Part) -> Allowance {
        let work = self.effort().work;
        Allowance::of(match (of, work) {
            (_, u64::MAX) => u64::MAX,
            (Part::Predicting, work) => work / 8,
            (Part::Confirming, work) => work / 2,
            (Part::Orders, work) => work / 4,
        })
    }
}

/// `500ms`, `60s`, `5m`.
pub fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: Option<f64> = digits.parse().ok().filter(|number: &f64| *number > 0.0);
    let seconds = match (&text[digits.len()..], number) {
        ("ms", Some(number)) => number / 1000.0,
        ("s" | "", Some(number)) => number,
        ("m" | "min", Some(number)) => number * 60.0,
        _ => return Err("a time such as 500ms, 60s or 5m".to_owned()),
    };
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "a time that long cannot be measured".to_owned())
}

/// A stage with work of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of the trace is looked at in small windows, by each method.
    Predicting,
    /// The program is run into what was found.
    Confirming,
    /// The program is run in other orders.
    Orders,
}

/// What one stage may still do.
#[derive(Debug)]
pub struct Allowance {
    left: Cell<u64>,
    /// How many events the program does for each that the trace has.
    weight: Cell<u64>,
    refused: Cell<u64>,
}

impl Allowance {
    /// So much work.
    pub fn of(work: u64) -> Self {
        Allowance {
            left: Cell::new(work),
            weight: Cell::new(1),
            refused: Cell::new(0),
        }
    }

    /// As much as it takes.
    pub fn endless() -> Self {
        Allowance::of(u64::MAX)
    }

    /// Pays for something, if there is enough left for all of it; else it is not to be done.
    pub fn pays(&self, cost: u64) -> bool {
        let left = self.left.get();
        match left.checked_sub(cost) {
            _ if left == u64::MAX => true,
            Some(rest) => {
                self.left.set(rest);
                true
            }
            None => {
                self.refused.set(self.refused.get() + 1);
                false
            }
        }
    }

    /// From now on runs are those of a program that does so many events for each that its trace has.
    pub fn weigh(&self, weight: u64) {
        self.weight.set(weight.max(1));
    }

    /// What it costs to run the program by so many events of its trace, after planning it from so many.
    pub fn cost_of_run(&self, planned: u64, events: u64) -> u64 {
        run(planned, events.saturating_mul(self.weight.get()))
    }

    /// A run has gone nowhere until the clock ended it: that counts, however little it did.
    pub fn charge_for_hang(&self) {
        let left = self.left.get();
        if left != u64::MAX {
            self.left.set(left.saturating_sub(HUNG));
        }
    }

    /// What is left, for those who count by themselves.
    pub fn effort(&self) -> Effort {
        Effort {
            work: self.left.get(),
            time: None,
        }
    }

    /// How many times so much could be paid.
    pub fn times(&self, cost: u64) -> u64 {
        self.left.get() / cost.max(1)
    }

    /// Whether something could not be paid for.
    pub fn is_over(&self) -> bool {
        self.refused.get() > 0
    }
}

/// What it costs to read so many events of a trace once.
pub const fn reading(events: u64) -> u64 {
    events.saturating_mul(READ)
}

/// What it costs to run the program by so many events, after planning it from so many.
pub fn run(planned: u64, events: u64) -> u64 {
    let events = events.saturating_mul(RUN);
    START.saturating_add(reading(planned).saturating_add(events))
}

/// What it costs to run a copy of the program by so many events.
pub fn copy(events: u64) -> u64 {
    COPY.saturating_add(events.saturating_mul(RUN))
}

/// How long a run of so many events may take that nobody watches. It is there for programs that hang; one
/// that goes on is far below it on a busy machine, too.
pub fn patience(events: u64) -> Duration {
    const LEAST: Duration = Duration::from_secs(20);
    LEAST + Duration::from_micros(events.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_paid_is_left_out_and_costs_nothing() {
        let all = Allowance::of(100);
        assert!(all.pays(60) && !all.pays(41) && all.is_over());
        assert!(all.pays(40) && !all.pays(1));
    }

    #[test]
    fn no_limit_stays_none() {
        let all = Total::parse("none").unwrap().part(Part::Orders);
        assert!(all.pays(u64::MAX) && all.pays(1) && !all.is_over());
    }

    #[test]
    fn times_are_work() {
        let part = |text| Total::parse(text).unwrap().part(Part::Confirming);
        assert_eq!(part("2s").left, part("2000ms").left);
        assert!(part("10m").left > part("60s").left);
        assert_eq!(Total::parse("60s").unwrap(), Total::default());
        assert!(Total::parse("soon").is_err());
    }

    #[test]
    fn a_default_budget_runs_a_million_events_often_and_a_hundred_million_once() {
        let part = Total::default().part(Part::Confirming);
        assert!(part.times(run(1_000_000, 1_000_000)) > 50);
        assert!(part.times(run(90_000_000, 90_000_000)) >= 1);
    }
}
