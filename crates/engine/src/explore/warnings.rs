//! Settles what is only suspicious: from the state just before the first access of a possible race, the program itself is
//! searched for an execution in which the second follows.
//!
//! Follows *prefix* (Shacham, Sagiv, Schuster 2007): the state is reached by enforcing the recorded run up to there
//! ([`deadheat_explore::prefix`]); the first access's thread is left out at first, which makes the search small, and takes
//! part if that finds nothing; the second's is pushed. Where the paper has a model checker and a model, there is the program.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::witness;
use deadheat_explore::prefix::{extend, partners};
use deadheat_explore::search::{Goal, Manner, Outcome};
use deadheat_explore::{After, Plan};
use deadheat_report::{Finding, Kind, Memory, Rung};
use deadheat_run::again::Again;
use deadheat_session::error::Result;
use deadheat_session::signals;

use super::assumptions;
use super::copies::Copies;
use super::evidence::{self, Archive, Seen};
use super::limits::Limits;
use super::shown::Shown;
use crate::confirm::{self, Case, plan};

/// What became of a warning.
pub enum Verdict {
    /// It is a race.
    Confirmed,
    /// There is none from where the search began, within the bounds.
    Refuted,
    /// No schedule of the program has one.
    Impossible,
    /// It is not known; why.
    Inconclusive(String),
}

/// A warning that was looked into.
pub struct Settled {
    /// The warning, or the finding that it has become.
    pub finding: Finding,
    /// What became of it.
    pub verdict: Verdict,
    /// How many executions it took.
    pub executions: u64,
    /// How long.
    pub took: Duration,
    /// Whether executions were copies.
    pub is_copied: bool,
    /// What the program wants from the world outside.
    pub effects: u32,
    /// The extension of the recorded run led to the race, and no search was needed.
    pub by_extension: bool,
    /// From how many recorded runs it was looked for.
    pub prefixes: u64,
}

impl Settled {
    /// Whether other recorded runs need not be asked.
    pub fn is_settled(&self) -> bool {
        matches!(self.verdict, Verdict::Confirmed | Verdict::Impossible)
    }
}

/// A recorded run, and all that it takes to search from its middle.
pub struct Recording<'a> {
    /// Its trace.
    pub path: &'a Path,
    /// The program.
    pub again: &'a Again,
    /// Its events.
    seen: Seen,
}

impl<'a> Recording<'a> {
    /// Reads it.
    pub fn of(path: &'a Path, again: &'a Again) -> Result<Self> {
        Ok(Recording {
            path,
            again,
            seen: Seen::read(path)?,
        })
    }

    /// Pairs of accesses that a warning may be about, the most promising first.
    fn pairs(&self, finding: &Finding) -> Vec<(usize, usize)> {
        let accesses = finding.accesses.iter();
        let mut own: Vec<usize> = accesses
            .filter_map(|access| Some(access.index? as usize))
            .collect();
        own.sort_unstable();
        let events = &self.seen.events;
        let mut pairs = Vec::new();
        for index in own.iter().rev() {
            pairs.extend(partners(events, *index));
        }
        if let [first, second] = own[..]
            && events[first].conflicts_with(&events[second])
        {
            pairs.push((first, second));
        }
        let mut once = Vec::new();
        for pair in pairs {
            if !once.contains(&pair) {
                once.push(pair);
            }
        }
        once
    }

    /// A warning that was not looked into yet.
    pub fn nothing(&self, warning: &Finding) -> Settled {
        Settled {
            finding: warning.clone(),
            verdict: Verdict::Inconclusive(
                "this run has no pair of accesses to begin with".to_owned(),
            ),
            executions: 0,
            took: Duration::ZERO,
            is_copied: false,
            effects: 0,
            by_extension: false,
            prefixes: 1,
        }
    }

    /// Looks into a warning.
    pub fn settle(&self, warning: &Finding, archive: &Archive, limits: &Limits) -> Result<Settled> {
        let started = Instant::now();
        let mut settled = self.nothing(warning);
        let mut refuted = 0;
        let mut open = None;
        let pairs = self.pairs(warning);
        for pair in &pairs {
            let left = limits.time().saturating_sub(started.elapsed());
            if left.is_zero() {
                open = Some("the time is up".to_owned());
                break;
            }
            match self.search_from(*pair, &mut settled, archive, limits, left)? {
                Verdict::Confirmed => {
                    settled.verdict = Verdict::Confirmed;
                    settled.took = started.elapsed();
                    return Ok(settled);
                }
                Verdict::Refuted | Verdict::Impossible => refuted += 1,
                Verdict::Inconclusive(why) => open = Some(why),
            }
        }
        if let Some(why) = open {
            settled.verdict = Verdict::Inconclusive(why);
        } else if refuted > 0 {
            settled.verdict = Verdict::Refuted;
        }
        if let Some(finding) = warning.accesses.first()
            && limits.parks_first()
        {
            let left = limits.time().saturating_sub(started.elapsed());
            let size = finding.size.clamp(1, 16) as u32;
            self.search_from_beginning(
                (finding.address, size),
                &mut settled,
                archive,
                limits,
                left,
            )?;
        }
        settled.took = started.elapsed();
        Ok(settled)
    }

    /// Nothing was found from where the recorded run was: the search begins where the program has two threads. What it does not find there, if it
    /// sees everything, does not exist; if it does not, what was known before stands.
    fn search_from_beginning(
        &self,
        (object, size): (u64, u32),
        settled: &mut Settled,
        archive: &Archive,
        limits: &Limits,
        time: Duration,
    ) -> Result<()> {
        // A block of the heap may lie elsewhere in another schedule.
        let of_warning = settled.finding.object.as_ref();
        let is_fixed =
            of_warning.is_some_and(|object| matches!(object.memory, Memory::Global { .. }));
        let mut copies = Copies::new(self.again, &self.seen.tables, None, limits.snapshots())?;
        let goal = Goal::Race { object, size };
        let mut outcome = search(&mut copies, limits, goal, Manner::default(), time, settled)?;
        outcome.cuts.extend(assumptions::not_met(&self.seen.tables));
        if let Some(reached) = &outcome.reached
            && let Some(other) = reached.other
        {
            let sides = [other, (reached.thread, reached.deed)];
            let manner = limits.search(goal, Manner::default(), time).manner;
            let found = evidence::race(&mut copies, archive, &reached.turns, sides, &manner)?;
            if let Some(finding) = found.confirmed() {
                settled.finding = finding;
                settled.verdict = Verdict::Confirmed;
            }
        } else if outcome.exhausted() && is_fixed {
            settled.verdict = Verdict::Impossible;
        }
        Ok(())
    }

    /// Searches from just before the first of two accesses.
    fn search_from(
        &self,
        (first, second): (usize, usize),
        settled: &mut Settled,
        archive: &Archive,
        limits: &Limits,
        time: Duration,
    ) -> Result<Verdict> {
        let events = &self.seen.events;
        let extension = extend(events, first, second);
        let schedule: Vec<(u32, u64)> = extension
            .schedule
            .iter()
            .map(|(thread, count)| (thread.0, *count))
            .collect();
        if let Some(race) = extension.race
            && let Some(finding) = self.witnessed([first, race], schedule.clone())?
        {
            settled.finding = finding;
            settled.by_extension = true;
            return Ok(Verdict::Confirmed);
        }
        let parked = events[first].thread().0;
        let hint = events[second].thread().0;
        // What was added may turn out to depend on what is left out after all.
        let mut begin = None;
        for schedule in [schedule, Vec::new()] {
            let plan = self.plan(first, schedule)?;
            let mut copies = Copies::new(
                self.again,
                &self.seen.tables,
                Some(plan),
                limits.snapshots(),
            )?;
            if let Some(deed) = copies.next_of(parked)? {
                begin = Some((copies, deed));
                break;
            }
        }
        let Some((mut copies, deed)) = begin else {
            return Ok(Verdict::Inconclusive(
                "the recorded run could not be repeated up to the first access".to_owned(),
            ));
        };
        settled.is_copied = copies.is_copied;
        let started = Instant::now();
        if limits.parks_first() {
            let manner = Manner {
                first: limits.hint(hint),
                parked: Some(parked),
                ..Manner::default()
            };
            let goal = Goal::Access {
                thread: parked,
                deed,
            };
            let outcome = search(&mut copies, limits, goal, manner, time / 2, settled)?;
            if let Some(reached) = &outcome.reached {
                let sides = [(reached.thread, reached.deed), (parked, deed)];
                let manner = limits.search(goal, manner, time).manner;
                let found = evidence::race(&mut copies, archive, &reached.turns, sides, &manner)?;
                if let Some(finding) = found.confirmed() {
                    settled.finding = finding;
                    return Ok(Verdict::Confirmed);
                }
                return Ok(Verdict::Inconclusive(
                    "an execution with both accesses was found, and did not show again".to_owned(),
                ));
            }
        }
        let goal = Goal::Race {
            object: deed.object,
            size: deed.size.max(1),
        };
        let manner = Manner {
            first: limits.hint(hint),
            ..Manner::default()
        };
        let left = time.saturating_sub(started.elapsed());
        let outcome = search(&mut copies, limits, goal, manner, left, settled)?;
        if let Some(reached) = &outcome.reached
            && let Some(other) = reached.other
        {
            let sides = [other, (reached.thread, reached.deed)];
            let manner = limits.search(goal, manner, time).manner;
            let found = evidence::race(&mut copies, archive, &reached.turns, sides, &manner)?;
            if let Some(finding) = found.confirmed() {
                settled.finding = finding;
                return Ok(Verdict::Confirmed);
            }
        }
        // With the first thread taking part the search covers what it covered without.
        Ok(match outcome.cuts.first() {
            None => Verdict::Refuted,
            Some(cut) => Verdict::Inconclusive(cut.to_string()),
        })
    }

    /// What leads to the state just before the access at `first`, with more events behind it.
    fn plan(&self, first: usize, schedule: Vec<(u32, u64)>) -> Result<Plan> {
        let mut witness = self.seen.open_witness(first, schedule);
        witness.next = self.seen.next_of(&[first]);
        let (collected, _) = plan::of(&witness)?;
        let steady = self.again.is_steady();
        let plan = collected.plan(&collected.schedule, steady);
        let plan =
            plan.map_err(|error| deadheat_session::error::Error::usage(error.to_string()))?;
        Ok(plan.then(After::Go, 0))
    }

    /// A race that the extension of the recorded run has led to, enforced; `None` if it does not stand.
    fn witnessed(&self, pair: [usize; 2], schedule: Vec<(u32, u64)>) -> Result<Option<Finding>> {
        let Some(mut finding) = evidence::race_of(self.path, pair)? else {
            return Ok(None);
        };
        let mut witness = self.seen.open_witness(pair[0], schedule);
        witness.finding.clone_from(&finding.id);
        witness.signature.clone_from(&finding.signature);
        witness.next = self.seen.next_of(&pair);
        let path = self.path.with_file_name(witness::file_name(&finding.id));
        confirm::settle(&mut finding, Case::new(witness)?, &path)?;
        Ok((finding.rung == Rung::Confirmed).then_some(finding))
    }
}

/// One search, counted.
fn search(
    copies: &mut Copies,
    limits: &Limits,
    goal: Goal,
    manner: Manner,
    time: Duration,
    settled: &mut Settled,
) -> Result<Outcome> {
    let search = limits.search(goal, manner, time);
    let mut shown = Shown::new();
    let started = Instant::now();
    let mut outcome = search.run(
        copies,
        || started.elapsed(),
        |progress| {
            shown.update(progress);
            !signals::is_stopped()
        },
    )?;
    outcome.cuts.extend(copies.left_out());
    settled.executions += outcome.progress.executions;
    settled.effects |= copies.effects;
    Ok(outcome)
}

/// Whether a finding is one that a search may settle.
pub fn is_open(finding: &Finding) -> bool {
    finding.kind == Kind::Race && finding.rung == Rung::Warning
}

/// Looks into every warning of a recording that nobody has proven.
pub fn settle(
    analysis: &Analysis,
    trace: &Path,
    again: &Again,
    archive: &Archive,
    limits: &Limits,
) -> Result<Vec<Settled>> {
    let open = || analysis.findings.iter().filter(|finding| is_open(finding));
    if open().next().is_none() {
        return Ok(Vec::new());
    }
    let recording = Recording::of(trace, again)?;
    let mut all: Vec<Settled> = Vec::new();
    for warning in open() {
        // What another warning has led to need not be looked for again.
        let is_same = |one: &Settled| {
            matches!(one.verdict, Verdict::Confirmed) && one.finding.id == warning.id
        };
        if !all.iter().any(is_same) {
            all.push(recording.settle(warning, archive, limits)?);
        }
    }
    Ok(all)
}

/// Puts what was settled in the place of the warnings; how many findings there are that are more than suspicious.
pub fn report(analysis: &mut Analysis, settled: &[Settled]) -> usize {
    for one in settled {
        if matches!(one.verdict, Verdict::Confirmed) {
            let known = |finding: &&mut Finding| finding.id == one.finding.id;
            match analysis.findings.iter_mut().find(known) {
                Some(warning) => *warning = one.finding.clone(),
                None => analysis.findings.push(one.finding.clone()),
            }
        }
    }
    let sure = analysis.findings.iter();
    sure.filter(|finding| finding.rung != Rung::Warning).count()
}
