//! Enforces schedules of synchronisation on the program while its threads otherwise run free and a happens-before detector
//! watches (Carril, Tichy, SEPS 2015): what is found then is real, however the schedule was come by.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_explore::{CoarsePlanner, CoarseRequest, Plan, PlanError, Verdict};
use deadheat_predict::{Goal, Proven};
use deadheat_report::{Finding, Names, Rung, Suppressions, own_place};
use deadheat_trace::file::TraceFile;
use deadheat_trace::{EventIndex, Pc, Steps, Tables, ThreadId};
use deadheat_wire::plan::VERDICT;

use super::fine;
use super::shown::Keeper;
use crate::again::{self, Again};
use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::how::How;
use crate::input;
use crate::progress::Counted;
use crate::watch::{self, Detector, OnRace};

/// How long a run may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of a schedule.
#[derive(Debug)]
pub enum Outcome {
    /// It was followed, and these races were seen.
    Confirmed {
        /// With names.
        races: Vec<Finding>,
    },
    /// The deadlock that it leads to stood.
    Deadlocked,
    /// It was followed, and nothing was seen.
    NothingSeen,
    /// It cannot be enforced.
    Unenforceable {
        /// In words.
        why: String,
    },
    /// The program does not do this.
    Infeasible {
        /// The thread that left the schedule, or could not follow it.
        thread: ThreadId,
        /// After how many of its planned events.
        step: u64,
        /// In words.
        why: String,
        /// Races that were seen nevertheless.
        races: Vec<Finding>,
    },
}

/// A recorded program whose schedules can be enforced.
pub struct Coarse {
    trace: PathBuf,
    again: Again,
}

impl Coarse {
    /// The program of this trace.
    pub fn of(trace: &Path) -> Result<Self> {
        Ok(Coarse {
            trace: trace.to_owned(),
            again: again::of(trace)?,
        })
    }

    /// Runs the program by a schedule of synchronisation.
    pub fn enforce(&self, proven: &Proven, on_race: OnRace) -> Result<Outcome> {
        let (plan, tables) = match self.plan(proven)? {
            (Ok(plan), tables) => (plan, tables),
            (Err(error), _) => {
                let why = error.to_string();
                return Ok(Outcome::Unenforceable { why });
            }
        };
        let refused = |error: std::io::Error| {
            Error::not_started(format!("cannot keep a schedule to enforce: {error}"))
        };
        let folder = tempfile::Builder::new()
            .prefix("deadheat-enforce-")
            .tempdir()
            .map_err(refused)?;
        let path = folder.path().join("plan");
        let verdict = folder.path().join(format!("plan{VERDICT}"));
        // One that cannot be read yet is asked for again.
        let verdict = || fine::read_verdict(&verdict);
        let is_given_up = || {
            let told = verdict().ok().flatten();
            told.is_some_and(|verdict| !verdict.is_reached())
        };
        std::fs::write(&path, plan.to_bytes()).map_err(refused)?;
        let watched = watch::Plan {
            program: &self.again.program,
            command: &self.again.invocation.command,
            detector: Detector::Hb,
            on_race,
            memory: None,
            options: None,
            places: None,
            suppressions: &Suppressions::default(),
            show: false,
            enforced: Some(watch::Enforced {
                again: &self.again,
                plan: &path,
                is_given_up: &is_given_up,
                limit: match on_race {
                    OnRace::Continue => PATIENCE,
                    // Somebody looks at it.
                    OnRace::Stop | OnRace::Gdb => Duration::MAX,
                },
            }),
        }
        .run()?;
        let verdict = verdict()?;
        let mut races = watched.findings;
        for race in &mut races {
            race.rung = Rung::Confirmed;
        }
        let is_deadlock = proven.goal == Goal::Deadlock;
        Ok(match verdict {
            Some(Verdict::Reached(_)) if is_deadlock => Outcome::Deadlocked,
            Some(Verdict::Reached(_)) if races.is_empty() => Outcome::NothingSeen,
            Some(Verdict::Reached(_)) => Outcome::Confirmed { races },
            other => {
                let (thread, step) = where_it_ended(other.as_ref());
                Outcome::Infeasible {
                    thread,
                    step,
                    why: why(other.as_ref(), &plan, &tables, &watched.ended.told()),
                    races,
                }
            }
        })
    }

    /// The plan of a schedule, and its trace's tables. The trace is read as the analysis saw it, and beside that as it was
    /// recorded: what readers add to it the runtime knows nothing of.
    fn plan(&self, proven: &Proven) -> Result<(Result<Plan, PlanError>, Tables)> {
        let request = CoarseRequest {
            start: proven.start,
            schedule: proven.schedule.clone(),
            deadlock: match proven.goal {
                Goal::Race => Vec::new(),
                Goal::Deadlock => proven.next.clone(),
            },
        };
        let path = &self.trace;
        let raw = TraceFile::open(path).map_err(|error| input::broken(path, &error.into()))?;
        let mut raw = raw.read();
        let mut next_recorded = || {
            let Ok(step) = raw.next_step();
            step
        };
        let mut recorded = next_recorded();
        let mut steps = input::open(path)?;
        let mut planner = CoarsePlanner::new(&request);
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let event = &step.event;
            let is_recorded = recorded.is_some_and(|raw| {
                raw.event.op() == event.op()
                    && raw.event.thread() == event.thread()
                    && raw.event.pc() == event.pc()
            });
            planner.step(&step, !is_recorded, steps.tables());
            if is_recorded {
                recorded = next_recorded();
            }
        }
        let plan = planner.finish(self.again.is_steady());
        Ok((plan, steps.tables().clone()))
    }
}

fn where_it_ended(verdict: Option<&Verdict>) -> (ThreadId, u64) {
    match verdict {
        None | Some(Verdict::Reached(_)) => (ThreadId(0), 0),
        Some(
            Verdict::Diverged { thread, done, .. }
            | Verdict::Blocked { thread, done, .. }
            | Verdict::Ended { thread, done }
            | Verdict::Passed { thread, done },
        ) => (*thread, *done),
        Some(Verdict::Got { thread, .. }) => (*thread, 0),
    }
}

/// Why a schedule could not be followed.
fn why(verdict: Option<&Verdict>, plan: &Plan, tables: &Tables, ended: &str) -> String {
    let names = Names::of(tables);
    let at = |place: u64| own_place(&names.frames_at(place)).told();
    let expected = |thread: ThreadId, done: u64| match plan.expected(thread, done) {
        Some((op, 0)) => fine::told(op).to_owned(),
        Some((op, place)) => format!("{} at {}", fine::told(op), at(place)),
        None => "nothing more".to_owned(),
    };
    match verdict {
        None => format!("the program {ended} before the schedule was through"),
        Some(Verdict::Reached(_)) => "the schedule was followed to its end".to_owned(),
        Some(Verdict::Diverged { thread, done, came }) => format!(
            "{thread} came to {} where the schedule has {}",
            fine::told(came.op),
            expected(*thread, *done),
        ),
        Some(Verdict::Blocked { thread, done, .. }) => {
            format!("{thread} has to wait at {}", expected(*thread, *done))
        }
        Some(Verdict::Ended { thread, done }) => format!(
            "the program ended where the schedule has {thread} go on with {}",
            expected(*thread, *done)
        ),
        Some(Verdict::Got { thread, .. }) => {
            format!("{thread} could have had the lock that it should have waited for")
        }
        Some(Verdict::Passed { thread, done }) => format!(
            "{thread} did not come to {} for a long time",
            expected(*thread, *done)
        ),
    }
}

/// Enforces all schedules of synchronisation that an analysis has found. Findings that they lead to are confirmed, others
/// that they show are added; of the rest it is said why not. Witnesses are written to the folder, if there is one.
pub fn all(trace: &Path, analysis: &mut Analysis, witnesses: Option<&Path>) -> Result<()> {
    let candidates: Vec<Proven> = analysis
        .runs
        .iter()
        .filter(|run| run.how == How::Interleave)
        .filter_map(|run| run.prediction.as_ref())
        .flat_map(|prediction| prediction.races.iter().chain(&prediction.deadlocks))
        .cloned()
        .collect();
    if candidates.is_empty() {
        return Ok(());
    }
    let coarse = Coarse::of(trace)?;
    let keeper = match witnesses {
        Some(folder) => Some(Keeper::of(trace, folder)?),
        None => None,
    };
    let places = places(
        trace,
        candidates.iter().flat_map(|candidate| &candidate.next),
    )?;
    let mut progress = Counted::new("enforcing schedules", candidates.len() as u64);
    for candidate in &candidates {
        progress.advance();
        let mut key: Vec<Pc> = candidate.next.iter().map(|index| places[index]).collect();
        key.sort_unstable();
        let id = analysis.names.get(&key);
        let mut findings = analysis.findings.iter();
        let number = findings.position(|finding| Some(&finding.id) == id);
        if number.is_some_and(|number| is_confirmed(analysis, number)) {
            continue;
        }
        let (races, why) = match coarse.enforce(candidate, OnRace::Continue)? {
            Outcome::Deadlocked => {
                if let Some(number) = number {
                    let finding = &mut analysis.findings[number];
                    finding.rung = Rung::Confirmed;
                    finding.not_enforced = None;
                    if let Some(keeper) = &keeper {
                        keeper.keep(finding, candidate, &mut analysis.remarks);
                    }
                }
                continue;
            }
            Outcome::Confirmed { races } => (races, None),
            Outcome::NothingSeen => {
                let why = "the schedule was followed, and nothing was seen".to_owned();
                (Vec::new(), Some(why))
            }
            Outcome::Unenforceable { why } => (Vec::new(), Some(why)),
            Outcome::Infeasible {
                thread,
                step,
                why,
                races,
            } => {
                let why = format!("{why} (step {step} of {thread})");
                (races, Some(why))
            }
        };
        let shown: Vec<String> = races.iter().map(|race| race.id.clone()).collect();
        take_in(&mut analysis.findings, races);
        if let (Some(keeper), None) = (&keeper, &why) {
            let findings = analysis.findings.iter_mut();
            for finding in findings.filter(|finding| shown.contains(&finding.id)) {
                keeper.keep(finding, candidate, &mut analysis.remarks);
            }
        }
        if let Some(number) = number.filter(|number| !is_confirmed(analysis, *number)) {
            let why = why.unwrap_or_else(|| "the schedule led to other races".to_owned());
            analysis.findings[number].not_enforced.get_or_insert(why);
        }
    }
    Ok(())
}

fn is_confirmed(analysis: &Analysis, number: usize) -> bool {
    analysis.findings[number].rung == Rung::Confirmed
}

/// Races that were seen: those that are known are confirmed, others are new.
fn take_in(findings: &mut Vec<Finding>, races: Vec<Finding>) {
    for race in races {
        match findings.iter_mut().find(|known| known.id == race.id) {
            Some(known) => {
                known.rung = Rung::Confirmed;
                known.not_enforced = None;
            }
            None => findings.push(race),
        }
    }
}

/// Where in the program these events are.
fn places<'a>(
    trace: &Path,
    wanted: impl Iterator<Item = &'a EventIndex>,
) -> Result<HashMap<EventIndex, Pc>> {
    let mut places: HashMap<EventIndex, Pc> = wanted.map(|index| (*index, Pc::UNKNOWN)).collect();
    let mut steps = input::open(trace)?;
    let mut index = EventIndex(0);
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(trace, &error))?
    {
        if let Some(place) = places.get_mut(&index) {
            *place = step.event.pc();
        }
        index.0 += 1;
    }
    Ok(places)
}
