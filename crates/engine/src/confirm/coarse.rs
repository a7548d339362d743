//! Enforces schedules of synchronisation on the program while its threads otherwise run free and a happens-before detector
//! watches (Carril, Tichy, SEPS 2015): what is found then is real, however the schedule was come by.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::how::How;
use deadheat_explore::{CoarsePlanner, CoarseRequest, Plan, PlanError, Verdict};
use deadheat_predict::{Goal, Proven};
use deadheat_report::{Finding, Rung, Suppressions};
use deadheat_run::again::{self, Again};
use deadheat_run::input;
use deadheat_run::watch::{self, Detector, OnRace};
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Counted;
use deadheat_session::scratch;
use deadheat_trace::{EventIndex, Pc, Steps, Tables};
use deadheat_wire::plan::VERDICT;

use super::fine;
use super::shown::Keeper;
use super::why::why;

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
        /// Where it left the schedule, or could not follow it, in words.
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
            .prefix("enforce-")
            .tempdir_in(scratch::on_disk())
            .map_err(refused)?;
        let path = folder.path().join("plan");
        let verdict = folder.path().join(format!("plan{VERDICT}"));
        // One that cannot be read yet is asked for again.
        let verdict = || fine::read_verdict(&verdict);
        let is_given_up = || {
            let told = verdict().ok().flatten();
            told.is_some_and(|verdict| !verdict.is_reached())
        };
        let written = File::create(&path).and_then(|mut file| plan.write_to(&mut file));
        written.map_err(refused)?;
        let watched = watch::Plan {
            program: &self.again.program,
            command: &self.again.invocation.command,
            detector: Detector::Hb,
            on_race,
            memory: None,
            options: None,
            places: None,
            suppressions: &Suppressions::default(),
            show: None,
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
            other => Outcome::Infeasible {
                why: why(other.as_ref(), &plan, &tables, &watched.ended.told()),
                races,
            },
        })
    }

    /// The plan of a schedule, and its trace's tables. What readers add to the trace the runtime knows nothing of.
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
        let mut steps = input::open(path)?;
        let mut planner = CoarsePlanner::new(&request);
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            planner.step(&step, steps.is_made_up(), steps.tables());
        }
        let plan = planner.finish(self.again.is_steady());
        Ok((plan, steps.tables().clone()))
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
        Some(folder) => Some(Keeper::of(trace, folder, &candidates)?),
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
            Outcome::Infeasible { why, races } => (races, Some(why)),
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
