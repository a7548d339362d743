//! The first reading of a trace: all that those who read it again have to know before, from one pass over it.

use std::path::Path;

use deadheat_detect::{Channels, Deadlocks, HeldLocks, LockOrder, Suspects};
use deadheat_predict::{Constraining, Survey};
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Watched;
use deadheat_session::signals;
use deadheat_session::terminal::counted;
use deadheat_trace::verify::{self, Severity, Verifier, Violation};
use deadheat_trace::{EventIndex, Op, Step, Steps, Tables};

use crate::analysis::Run;
use crate::config::Config;
use crate::counts::Counting;
use crate::detecting::Detecting;
use crate::marks;
use crate::segments;
use crate::shown::Shown;
use crate::unseen::Unseen;
use crate::unseen_calls::UnseenCalls;

/// Of traces with no more events nothing is left out.
const SHORT: u64 = 100_000;
/// The part of the memory that each of those may take who know something of every word.
const PART: usize = 8;

/// What somebody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Which memory may be part of a race.
    pub suspects: bool,
    /// Which locks are channels.
    pub channels: bool,
    /// What constrains schedules.
    pub constraining: bool,
    /// How many bytes may be used.
    pub memory: usize,
}

/// What a trace is like.
pub struct FirstReading {
    /// How many events it has.
    pub events: u64,
    /// The memory on which there may be a race, if that was wanted.
    pub suspects: Option<Suspects>,
    /// The locks that are channels, if that was wanted.
    pub channels: Option<Channels>,
    /// What constrains schedules, if that was wanted and the trace is not short.
    pub constraining: Option<Constraining>,
    /// Whether it has events that are branches.
    pub has_branches: bool,
    /// Cycles of locks.
    pub cycles: Deadlocks,
    /// System calls that nobody understands.
    pub calls: Option<UnseenCalls>,
    /// What the detector has found that was shown all of it.
    pub run: Option<Run>,
}

impl FirstReading {
    /// Reads the trace at `path`, with a detector if there is one that need not know anything before.
    pub fn of(
        path: &Path,
        config: &Config,
        wanted: &Wanted,
        detecting: Option<Detecting>,
    ) -> Result<Self> {
        let input = input::open(path)?;
        let tables = input.tables();
        let part = wanted.memory / PART;
        let mut unseen = Unseen::of(tables);
        let mut calls = UnseenCalls::anywhere(tables);
        let has_code = !tables.modules.is_empty() && tables.left_out.is_none();
        let mut counting = (has_code && wanted.constraining).then(|| Counting::of(tables));
        let mut verified = input.line().is_some().then(|| Verified::of(input.mode()));
        let mut survey = wanted.constraining.then(|| Survey::within(part));
        let (mut events, mut has_branches) = (0, false);
        let mut suspects = wanted.suspects.then(|| Suspects::within(part));
        let mut channels = wanted.channels.then(Channels::new);
        let (mut locks, mut order) = (HeldLocks::default(), LockOrder::new());
        let mut detecting = detecting;
        let all = |index: EventIndex, step: &Step, tables: &Tables| {
            if let Some(channels) = &mut channels {
                locks.step(index, &step.event);
                channels.step(step, &locks, tables);
            }
            order.step(index, step, tables);
            if suspects.is_some() || detecting.is_some() {
                let is_unseen = unseen.is_unseen(&step.event, tables);
                if let Some(suspects) = suspects.as_mut().filter(|_| !is_unseen) {
                    suspects.step(step);
                }
                if let Some(detecting) = &mut detecting {
                    detecting.step(index, step, tables, is_unseen);
                }
            }
        };
        let recorded = |index: EventIndex, step: &Step, tables: &Tables| {
            events = index.0 + 1;
            has_branches |= step.event.op() == Op::Branch;
            if let Some(calls) = &mut calls {
                calls.step(index, step, tables);
            }
            if let Some(verified) = &mut verified {
                verified.step(index, step);
            }
        };
        let steps = Watched::new(input, "looking for shared memory").until_stopped();
        let steps = Shown::new(steps, Box::new(recorded));
        let steps = Shown::new(marks::apply(steps, config), Box::new(all));
        let broken = |error| input::broken(path, &error);
        let tables = match &mut survey {
            None => {
                let mut steps = steps;
                while steps.next_step().map_err(broken)?.is_some() {}
                steps.tables().clone()
            }
            Some(survey) => {
                let mut steps = verify::repair_within(steps, 4 * part);
                look_at(&mut steps, survey, &mut counting).map_err(broken)?;
                steps.tables().clone()
            }
        };
        if survey.as_ref().is_some_and(Survey::is_misled) {
            survey = Some(without_barriers(path, config, part)?);
        }
        if let Some(channels) = &mut channels {
            channels.settle();
        }
        if let Some(verified) = verified.filter(|_| !signals::is_stopped()) {
            verified.finish(path, &tables)?;
        }
        Ok(FirstReading {
            events,
            suspects,
            channels,
            constraining: survey.filter(|_| events > SHORT).map(Survey::finish),
            has_branches,
            cycles: order.deadlocks_until(&signals::STOP),
            calls,
            run: detecting.map(|detecting| detecting.finish(&tables)),
        })
    }
}

/// Shows all of a trace to a survey.
fn look_at<S: Steps>(
    steps: &mut S,
    survey: &mut Survey,
    counting: &mut Option<Counting>,
) -> Result<(), S::Error> {
    let mut position: u32 = 0;
    while let Some(step) = steps.next_step()? {
        let is_skippable = segments::is_skippable(counting, position, &step);
        survey.step(&step, is_skippable);
        if let Some(counting) = counting {
            counting.forget_before(position);
        }
        position = position.wrapping_add(1);
    }
    Ok(())
}

/// What constrains schedules if barriers order nothing, by one more reading.
fn without_barriers(path: &Path, config: &Config, part: usize) -> Result<Survey> {
    let input = input::open(path)?;
    let has_code = !input.tables().modules.is_empty() && input.tables().left_out.is_none();
    let mut counting = has_code.then(|| Counting::of(input.tables()));
    let steps = Watched::new(input, "looking for shared memory").until_stopped();
    let mut steps = verify::repair_within(marks::apply(steps, config), 4 * part);
    let mut survey = Survey::within(part).without_barriers();
    let looked = look_at(&mut steps, &mut survey, &mut counting);
    looked.map_err(|error| input::broken(path, &error))?;
    Ok(survey)
}

/// A text trace may be anybody's: what is no trace proves nothing. (Recordings are verified when they are made, and
/// what is missing from a damaged one is known.)
struct Verified {
    verifier: Verifier,
    /// The first violations, and the positions of their events.
    violations: Vec<(EventIndex, Violation)>,
}

/// So many violations are named.
const SHOWN: usize = 3;

impl Verified {
    fn of(mode: deadheat_trace::Mode) -> Self {
        Verified {
            verifier: Verifier::new(mode, verify::Options::default()),
            violations: Vec::new(),
        }
    }

    fn step(&mut self, index: EventIndex, step: &Step) {
        let found = self.verifier.step(index, step).violations;
        let errors = found
            .iter()
            .filter(|one| one.rule.severity() == Severity::Error);
        let left = SHOWN.saturating_sub(self.violations.len());
        self.violations
            .extend(errors.take(left).map(|one| (index, *one)));
    }

    fn finish(self, path: &Path, tables: &Tables) -> Result<()> {
        let all = self.verifier.finish(tables).errors;
        if all == 0 {
            return Ok(());
        }
        let lines = lines(path, self.violations.iter().map(|(at, _)| *at))?;
        let each = self.violations.iter().zip(lines);
        let each = each.map(|((_, violation), line)| {
            format!("\n  line {line}: {}", violation.describe(tables))
        });
        let more = match all.saturating_sub(self.violations.len() as u64) {
            0 => String::new(),
            more => format!("\n  and {more} more"),
        };
        Err(Error::usage(format!(
            "{} is no trace of a program: {}{}{more}",
            path.display(),
            counted(all, "violation"),
            each.collect::<String>()
        ))
        .help("`deadheat trace verify` lists all of them"))
    }
}

/// On which lines of a text trace these events stand, which are in order.
fn lines(path: &Path, events: impl Iterator<Item = EventIndex>) -> Result<Vec<u64>> {
    let mut steps = input::open(path)?;
    let (mut lines, mut index) = (Vec::new(), 0);
    for event in events {
        while index <= event.0
            && steps
                .next_step()
                .map_err(|error| input::broken(path, &error))?
                .is_some()
        {
            index += 1;
        }
        lines.push(steps.line().unwrap_or_default());
    }
    Ok(lines)
}
